// SPDX-License-Identifier: MIT
// Hashes (SHA-256, as text) that tell whether two processes have the same program, C library and
// scenario.
#pragma once

#define FINGERPRINT 65 // bytes of a SHA-256 as text

// Of the executable file; "" if the system does not show it.
void fingerprint_program(char text[FINGERPRINT]);

// Of what the C library's functions of real numbers return. They may differ in the last bit between
// versions of the library, and between processors with and without fused multiply-add.
void fingerprint_arithmetic(char text[FINGERPRINT]);

// Of a text.
void fingerprint_text(const char *given, char text[FINGERPRINT]);

// SPDX-License-Identifier: MIT
// A name that tells nothing of the one it stands for.
#pragma once

#include <stdint.h>

#define HIDDEN_NAME 16

// Write "n" and 12 hexadecimal digits of SHA-256 of the seed and the name. Who knows the seed can
// test a guess of the name.
void hidden_name(uint64_t seed, const char *name, char hidden[HIDDEN_NAME]);

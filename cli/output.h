// SPDX-License-Identifier: MIT
// Writes a text to a file that the user has named, or to stdout.
#pragma once

// Write a text and a line feed to `file`, NULL = stdout. An existing regular file is replaced
// atomically. Returns the exit code.
int text_write(const char *file, const char *text);

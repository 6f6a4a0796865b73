// SPDX-License-Identifier: MIT
// Strings of any length, formatted into memory that cannot be NULL (engine/memory.h).
#pragma once

#include <stddef.h>
#include <stdio.h>

struct text {
    char *bytes;
    size_t n, cap;
};

// Returns a stream that appends to `t`, which is reset first. Never NULL.
FILE *text_open(struct text *t);

// Closes the stream and returns the zero-terminated text, which the caller frees.
char *text_close(FILE *stream, struct text *t);

// Returns a formatted string, which the caller frees.
__attribute__((format(printf, 1, 2))) char *text_format(const char *format, ...);

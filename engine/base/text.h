// SPDX-License-Identifier: MIT
// Strings of any length, formatted into memory that cannot be NULL (engine/base/memory.h).
#pragma once

#include <stddef.h>
#include <stdint.h>
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

// Divide a text at `separator` outside of brackets and quotes. Returns the number of parts, at
// least 1; *parts is to be freed with texts_free().
size_t text_split(const char *text, char separator, char ***parts);
void texts_free(char **parts, size_t n);

// Write `n` bytes as 2 * n hexadecimal digits and a zero byte.
void text_hex(const uint8_t *bytes, size_t n, char *hex);

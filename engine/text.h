// SPDX-License-Identifier: MIT
// Texts that grow: formatted into memory that cannot be NULL (engine/memory.h).
#pragma once

#include <stddef.h>
#include <stdio.h>

struct text {
    char *bytes;
    size_t n, cap;
};

// A stream that appends to `t`, which is emptied first. Never NULL.
FILE *text_open(struct text *t);

// Close the stream; the text, ended by a zero byte, is the caller's to free.
char *text_close(FILE *stream, struct text *t);

// A formatted string, to be freed.
__attribute__((format(printf, 1, 2))) char *text_format(const char *format, ...);

// SPDX-License-Identifier: MIT
// Writes a file that the user has named, or to stdout.
#pragma once

#include <jansson.h>
#include <stdio.h>

// Writes the content to a stream.
typedef void output_put(FILE *out, const void *ctx);

// Write `file`, NULL = stdout. An existing regular file is replaced atomically. Returns the exit
// code, after a message if it is not 0.
int output_write(const char *file, output_put *put, const void *ctx);

// The same for JSON, indented, and a line feed.
int json_write(const char *file, const json_t *json);

// The same for a text and a line feed.
int text_write(const char *file, const char *text);

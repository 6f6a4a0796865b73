// SPDX-License-Identifier: MIT
// The bytes of a capture: a file or stdin, compressed by gzip or not, from its beginning to its
// end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/base/err.h"

struct input;

// Open a file, or stdin for "-"; compression is detected from its content. Returns NULL with an
// error that names the file.
struct input *input_open(const char *path, struct err *err);
void input_close(struct input *in);

// Copy the first `n` (at most INPUT_PEEK) bytes that have not been read yet, without reading them.
// Returns how many there are.
#define INPUT_PEEK 8
size_t input_peek(struct input *in, void *out, size_t n);

// Read or skip `n` bytes. Returns how many there were; fewer at the end and after a failure.
size_t input_read(struct input *in, void *out, size_t n);
uint64_t input_skip(struct input *in, uint64_t n);

// Why reading has failed, such as a cut or damaged gzip file; NULL = it has not.
const char *input_failure(const struct input *in);

// A stream that reads the input, for libraries; closing it does not close the input. Returns NULL
// with errno.
FILE *input_stream(struct input *in);

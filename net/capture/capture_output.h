// SPDX-License-Identifier: MIT
// A stream of bytes to a file or to stdout, optionally compressed with gzip. The first write error
// is kept, and later bytes are discarded.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

struct output;

// Create a file ("-" = stdout, possibly with a live reader). Returns NULL on failure, with one
// error that calls the file `name`.
struct output *output_open(const char *path, const char *name, bool gzip, struct err *err);

void output_put(struct output *o, const void *bytes, size_t n);
void output_zeros(struct output *o, size_t n);

// Hand all bytes to a live reader of stdout. Does nothing for a file.
void output_show(struct output *o);

// Returns errno of the first failed write, 0 = none.
int output_error(const struct output *o);
bool output_is_live(const struct output *o);

// Close and free. Returns 0, or -1 with an error that names the file if any byte could not be
// written. A live reader that has closed the stream is no error.
int output_close(struct output *o, struct err *err);

// SPDX-License-Identifier: MIT
// The output directory: made, tried, and filled with whole files only.
#pragma once

#include "engine/err.h"

// Make `dir` and its parents and see that files can be written there. 0, or -1 with one error.
int output_prepare(const char *dir, struct err *err);

// Replace DIR/NAME by `text` at once: temporary file, then rename. 0, or -1 with an error.
int output_write(const char *dir, const char *name, const char *text, struct err *err);

// The whole of DIR/NAME, or NULL. To be freed.
char *output_read(const char *dir, const char *name);

// A text and a line feed into `file`, NULL = stdout. Returns the exit code.
int text_write(const char *file, const char *text);

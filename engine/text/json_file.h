// SPDX-License-Identifier: MIT
// JSON from a file or from stdin, with errors that name the line.
#pragma once

#include <jansson.h>

#include "engine/base/err.h"

// `file` as seen from folder `dir`; free() it.
char *path_from(const char *dir, const char *file);

// All bytes of `path` ("-" = stdin), NUL-terminated; NULL with one error. free() it.
char *file_read(const char *path, size_t *length, struct err *err);

// The value in a text, which errors call `name`; NULL with one error. json_decref() it.
json_t *json_text_read(const char *text, const char *name, struct err *err);

// The value in `path`; NULL with one error. json_decref() it.
json_t *json_file_read(const char *path, struct err *err);

// SPDX-License-Identifier: MIT
// Keys that another tool's files may have and that have no effect here.
#pragma once

#include <jansson.h>

#include "engine/base/err.h"

// Add one warning at `path` that names those of the NULL-terminated list `keys` that the object
// has, and the file ("" = none); nothing if it has none of them.
void ignored_keys_warn(struct err *err, const char *path, const char *file, const json_t *object,
                       const char *const *keys);

// SPDX-License-Identifier: MIT
// Setting one value in a JSON tree by its path: "topology.dims[1].link.rate".
#pragma once

#include <jansson.h>

#include "engine/base/err.h"

// Set the value at `path` below the object `root`. `value` is JSON, or else taken as a string.
// Missing objects on the path are made; null removes the key or the item of a list, and the index
// after the last item adds one. Returns 0, or -1 with an error naming the path.
int json_path_set(json_t *root, const char *path, const char *value, struct err *err);

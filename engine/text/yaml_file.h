// SPDX-License-Identifier: MIT
// YAML files as JSON: mappings, lists, texts and numbers, without anchors and tags.
#pragma once

#include <jansson.h>

#include "engine/base/err.h"

// The first document of `path`; NULL with one error at `place` that names the file and the line.
// json_decref() it.
json_t *yaml_file_read(const char *path, const char *place, struct err *err);

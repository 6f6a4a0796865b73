// SPDX-License-Identifier: MIT
// Layers of a convolutional network from a CSV file.
#pragma once

#include "engine/base/err.h"
#include "workload/cnn/cnn_shape.h"

// Read lines "name,kind,channels,filters,width,height,depth,kernel,stride" of `file` (relative to
// folder `dir`), kind conv, pool or fc; a heading is allowed. Domains shrink by the stride, rounded
// up; parameters have one bias a filter. Returns 0, or -1 with errors at `path` that name the line.
// cnn_model_free() the model.
int cnn_file_read(const char *dir, const char *file, const char *path, struct cnn_model *m,
                  struct err *err);

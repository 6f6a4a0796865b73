// SPDX-License-Identifier: MIT
// Text workloads of ASTRA-sim 1.0: a keyword with its arguments, a number of layers, a line a layer.
#pragma once

#include "config/text_file.h"
#include "workload/training_spec.h"

// Read `file`, relative to folder `dir`, into *spec. 0, or -1 with errors at `path` that name file
// and line; *spec is empty then. training_free() it.
int astra_workload_read(const char *dir, const char *file, const char *path,
                        struct training_spec *spec, struct err *err);

// A training job as such a text, without its last line feed; free() it.
char *astra_workload_text(const struct training_spec *spec);

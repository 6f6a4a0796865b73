// SPDX-License-Identifier: MIT
// Text workloads of ASTRA-sim 1.0: a line with a keyword and its arguments, a line with the number
// of layers, then a line per layer.
#pragma once

#include "engine/text/text_file.h"
#include "workload/training/training_spec.h"

// What is left out of a job of several stages, of which the file has one.
#define TRAINING_ONE_STAGE                                                                         \
    "the job is one stage of the pipeline; messages between stages, and the time in which it "     \
    "fills and drains, are left out"

// Read `file`, relative to folder `dir`, into *spec; training_free() it. Returns 0, or -1 with
// errors at `path` that name file and line; *spec is then empty.
int astra_workload_read(const char *dir, const char *file, const char *path,
                        struct training_spec *spec, struct err *err);

// Write a training job as such a text, without the last line feed; free() it.
char *astra_workload_text(const struct training_spec *spec);

// SPDX-License-Identifier: MIT
// Matrix products of a network's layers from a CSV file.
#pragma once

#include "engine/base/err.h"
#include "workload/training/gemm.h"

// Read lines "layer,M,N,K" of `file` (relative to the working directory); a heading and trailing
// commas are allowed, as SCALE-Sim writes them. gemms_free() the list. Returns NULL and *n = 0 with
// errors.
struct gemm *gemm_file_read(const char *file, size_t *n, struct err *err);
void gemms_free(struct gemm *layers, size_t n);

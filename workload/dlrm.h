// SPDX-License-Identifier: MIT
// A recommendation model (DLRM) as a training loop: embedding tables sharded over the ranks, dense
// layers replicated on them.
#pragma once

#include "workload/gemm.h"

enum dlrm_sharding { DLRM_TABLE, DLRM_ROW, DLRM_COLUMN, DLRM_DATA };

struct dlrm_table {
    uint64_t rows, dim, pooling; // pooling: rows that a sample looks up, summed
};

struct dlrm_params {
    uint64_t batch;                        // samples of a rank
    int sharding;                          // enum dlrm_sharding
    uint64_t column_shards;                // column: pieces of a table
    uint64_t dense_features;               // input of the bottom layers
    uint64_t n_tables, rows, dim, pooling; // of tables that are alike
    struct gemm_params machine;
};

struct dlrm_spec {
    struct dlrm_params params;
    struct dlrm_table *tables;
    size_t n_tables;
    uint64_t *bottom, *top; // widths of the dense layers; the last bottom one is the tables' dim
    size_t n_bottom, n_top;
};

extern const struct param dlrm_params[];
extern const size_t n_dlrm_params;

void dlrm_free(struct dlrm_spec *d);

// Bytes of pooled vectors that each rank's tables make in a pass: [ranks], of table or column sharding.
// To be freed.
uint64_t *dlrm_rank_bytes(const struct dlrm_spec *d, uint32_t ranks);

// The loop over `ranks`; training_free() it.
struct training_spec dlrm_training(const struct dlrm_spec *d, uint32_t ranks);

// SPDX-License-Identifier: MIT
// A recommendation model (DLRM) as a training loop: embedding tables sharded over the ranks, dense
// layers replicated on them.
#pragma once

#include "workload/training/embedding_tiers.h"
#include "workload/training/gemm.h"

enum dlrm_sharding { DLRM_TABLE, DLRM_ROW, DLRM_COLUMN, DLRM_DATA };

struct dlrm_table {
    uint64_t rows, dim, pooling; // pooling: rows looked up per sample, in total
};

struct dlrm_params {
    uint64_t batch;                        // samples per rank
    int sharding;                          // enum dlrm_sharding
    uint64_t column_shards;                // for column sharding: pieces of a table
    uint64_t dense_features;               // inputs of the bottom layers
    uint64_t n_tables, rows, dim, pooling; // for tables of equal size
    struct embedding_tiers tiers;
    struct gemm_params machine;
};

struct dlrm_spec {
    struct dlrm_params params;
    struct dlrm_table *tables;
    size_t n_tables;
    uint32_t *placement;    // [n_tables] rank of each, table sharding; NULL = by lookups
    uint64_t *bottom, *top; // widths of the dense layers; the last bottom width is the tables' dim
    size_t n_bottom, n_top;
};

extern const struct param dlrm_params[];
extern const size_t n_dlrm_params;

void dlrm_free(struct dlrm_spec *d);

// Bytes of pooled vectors that each rank's tables produce in a pass: [ranks], for table or column
// sharding. To be freed.
uint64_t *dlrm_rank_bytes(const struct dlrm_spec *d, uint32_t ranks);

// Make the training loop for `ranks` ranks; training_free() it.
struct training_spec dlrm_training(const struct dlrm_spec *d, uint32_t ranks);

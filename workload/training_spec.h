// SPDX-License-Identifier: MIT
// A training job as its layers: what every layer computes and what it exchanges in the three parts of
// a pass, and by which kind of parallelism. Plain data; where it comes from is config's.
// Source: the text workloads of ASTRA-sim 1.0 (Rashidi et al., ISPASS 2020).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum training_keyword {
    TRAINING_DATA,
    TRAINING_MODEL,
    TRAINING_HYBRID_DATA_MODEL,
    TRAINING_HYBRID_MODEL_DATA,
    TRAINING_HYBRID_TRANSFORMER,
    TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD,
    TRAINING_HYBRID_DLRM,
    TRAINING_HYBRID_DLRM_ENHANCED,
    TRAINING_HYBRID_CUSTOMIZED, // each layer has a keyword of its own
    TRAINING_MICRO,
    TRAINING_DISTRIBUTED_INFERENCE,
    TRAINING_KEYWORDS
};
extern const char *const training_keywords[]; // by enum training_keyword, NULL-terminated

// Forward, input gradient, weight gradient.
enum training_part { TRAINING_FWD, TRAINING_IG, TRAINING_WG, TRAINING_PARTS };
extern const char *const training_parts[]; // "fwd", "ig", "wg", NULL

static inline bool training_is_dlrm(int keyword)
{
    return keyword == TRAINING_HYBRID_DLRM || keyword == TRAINING_HYBRID_DLRM_ENHANCED;
}

static inline bool training_is_transformer(int keyword)
{
    return keyword == TRAINING_HYBRID_TRANSFORMER ||
           keyword == TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD;
}

#define TRAINING_NO_OP (-1)

struct training_step {
    uint64_t compute_ns;
    int op;         // enum coll_op, or TRAINING_NO_OP
    uint64_t bytes; // of an all-gather: the rank's own part
    // all_to_all of ranks that are not alike: [n_rank_bytes], owned; NULL = `bytes` each.
    uint64_t *rank_bytes;
    size_t n_rank_bytes;
    bool of_receiver; // what all send to a rank, not what it sends to all
};

struct training_layer {
    char *name;
    struct training_step parts[TRAINING_PARTS];
    uint64_t update_delay_ns; // after each of its collectives
    int keyword;              // enum training_keyword; that of the job but for HYBRID_CUSTOMIZED
};

// Layers of a checkpointed pass: of the backward pass at an initiating layer, back to the nearest
// checkpoint at or below it.
struct training_marks {
    uint32_t *layers;
    size_t n;
};

struct training_spec {
    int keyword;                // enum training_keyword
    uint32_t last_bottom_layer; // HYBRID_DLRM*
    uint64_t model_parallel;    // HYBRID_TRANSFORMER*: ranks of a group
    struct training_marks checkpoints, initiates;
    struct training_layer *layers;
    size_t n_layers;
};

void training_free(struct training_spec *spec);

// SPDX-License-Identifier: MIT
// A training job described by its layers: what every layer computes and exchanges in the three
// parts of a pass, and the kind of parallelism. Plain data; config/ reads it.
// Source: the text workloads of ASTRA-sim 1.0 (Rashidi et al., ISPASS 2020).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/algorithm/collective.h"

enum training_keyword {
    TRAINING_DATA,
    TRAINING_MODEL,
    TRAINING_HYBRID_DATA_MODEL,
    TRAINING_HYBRID_MODEL_DATA,
    TRAINING_HYBRID_TRANSFORMER,
    TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD,
    TRAINING_HYBRID_DLRM,
    TRAINING_HYBRID_DLRM_ENHANCED,
    TRAINING_HYBRID_CUSTOMIZED, // every layer has its own keyword
    TRAINING_MICRO,
    TRAINING_DISTRIBUTED_INFERENCE,
    TRAINING_KEYWORDS
};
extern const char *const training_keywords[]; // names by enum training_keyword, NULL-terminated

// Parts of a pass: forward, input gradient, weight gradient.
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

// Which ranks exchange. SimAI's files name the groups of experts: the ranks behind those of a
// model-parallel group are the data-parallel ones, and `expert_parallel` of them share the experts.
enum training_group {
    TRAINING_GROUP_OF_PART, // what the keyword says of the part
    TRAINING_GROUP_EP,      // the ranks that share the experts
    TRAINING_GROUP_DP_EP    // those that have the same experts
};

struct training_step {
    uint64_t compute_ns;
    int op; // enum coll_op, or TRAINING_NO_OP
    enum training_group group;
    uint64_t bytes; // of an all-gather: the rank's own part, or the whole with `whole_gathers`
    // all_to_all whose ranks differ in size: [n_rank_bytes], owned; NULL = `bytes` each.
    uint64_t *rank_bytes;
    size_t n_rank_bytes;
    bool of_receiver; // sizes are what each rank receives in total, not what it sends
};

// What a rank keeps of a layer in memory; what is not known is derived (training_memory.h).
struct training_held {
    bool weights_known, activations_known;
    uint64_t weight_bytes, activation_bytes;
    bool table; // an embedding: gradients only of the rows that are looked up, and its own states
    uint64_t gradient_bytes, state_bytes; // of a table
};

struct training_layer {
    char *name;
    struct training_step parts[TRAINING_PARTS];
    uint64_t update_delay_ns; // after each of the layer's collectives
    int keyword; // enum training_keyword; the job's keyword unless that is HYBRID_CUSTOMIZED
    struct training_held held;
};

// Marks of layers for recomputation: when the backward pass reaches an initiating layer, it
// recomputes the forward pass from the nearest checkpoint at or below it.
struct training_marks {
    uint32_t *layers;
    size_t n;
};

struct training_spec {
    int keyword;                // enum training_keyword
    uint32_t last_bottom_layer; // for HYBRID_DLRM*
    uint64_t all_ranks;         // that a file of SimAI names; 0 = none
    uint64_t stages;            // of a pipeline, of which the job is one; 0 = there is none
    bool whole_gathers;         // sizes of all-gathers are those of the result, as in SimAI's files
    uint64_t model_parallel;    // for HYBRID_TRANSFORMER*: ranks of a group
    uint64_t expert_parallel;   // that a file of SimAI names: ranks that share experts; 0 = none
    struct training_marks checkpoints, initiates;
    struct training_layer *layers;
    size_t n_layers;
    uint64_t element_bytes; // of a weight; 0 = the job's `parameter_bytes`
};

// How many times the bytes of a step its exchange among `span` ranks has: an all-gather whose size
// is that of a rank's own part ends with the parts of all.
static inline uint64_t training_copies(const struct training_spec *spec,
                                       const struct training_step *step, uint32_t span)
{
    return step->op == COLL_ALL_GATHER && !spec->whole_gathers ? span : 1;
}

bool training_is_marked(const struct training_marks *marks, uint32_t layer);

void training_free(struct training_spec *spec);

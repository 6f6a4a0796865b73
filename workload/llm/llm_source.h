// SPDX-License-Identifier: MIT
// Generates the nodes of a transformer's training, pass by pass, for every rank.
//
// A rank's passes run one after the other on its compute stream; tensor, context and expert
// collectives stand between computations, each kind on a stream of its own; gradients and
// parameters use the data stream, beside the computation where `overlap` is set. Activations and
// gradients are sent to other stages as messages without a stream.
#pragma once

#include "workload/llm/llm_gpus.h"
#include "workload/llm/llm_layout.h"
#include "workload/llm/llm_moe.h"

struct llm_program {
    struct llm_spec spec;
    struct llm_layout layout;
    struct llm_gpus gpus;      // of some ranks; the twins borrow the list
    struct llm_load *loads;    // [layer]; NULL = the model has no experts
    uint16_t use[LLM_DEGREES]; // index into node_program.uses
    struct llm_program *twins; // [2] shorter ones, see node_program.twins
};

extern const struct node_source_ops llm_source;

// Fill `nodes` with the program of resolved parameters; `seed` draws the popularity of experts.
void llm_program_init(struct llm_program *program, struct node_program *nodes,
                      const struct llm_params *params, const enum llm_degree order[LLM_DEGREES],
                      const struct group_choice *choice, uint64_t seed);

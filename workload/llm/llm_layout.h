// SPDX-License-Identifier: MIT
// Placement of the ranks of a parallel training: each has a coordinate for every degree, and ranks
// that differ in one degree only form its groups.
//
// The order of degrees, innermost first, places groups on the network: neighbouring ranks share a
// server. Parameters outside of experts are replicated over data, expert and context degrees; those
// of experts over data and context.
#pragma once

#include "workload/group_choice.h"
#include "workload/llm/llm_spec.h"
#include "workload/nodes/node.h"

enum llm_group { // groups that run collectives
    LLM_GROUP_TENSOR,
    LLM_GROUP_CONTEXT,
    LLM_GROUP_EXPERT,
    LLM_GROUP_DATA,        // replicas of dense parameters
    LLM_GROUP_EXPERT_DATA, // replicas of expert parameters
    LLM_GROUPS
};

struct llm_layout {
    uint32_t size[LLM_DEGREES], stride[LLM_DEGREES]; // by enum llm_degree
    uint32_t n_ranks;
    uint32_t *group[LLM_GROUPS]; // [rank] index into node_program.groups; NULL = groups of one
};

// `order`: the degrees, innermost first.
void llm_layout_init(struct llm_layout *l, const struct llm_params *p,
                     const enum llm_degree order[LLM_DEGREES]);
void llm_layout_free(struct llm_layout *l);

uint32_t llm_coordinate(const struct llm_layout *l, uint32_t rank, enum llm_degree degree);
// The rank that differs in one coordinate.
uint32_t llm_neighbour(const struct llm_layout *l, uint32_t rank, enum llm_degree degree,
                       uint32_t coordinate);
uint32_t llm_group_size(const struct llm_layout *l, enum llm_group kind);

// Add all groups with more than one member to the program.
void llm_groups_add(struct llm_layout *l, const struct group_choice *choice,
                    struct node_program *program);

// SPDX-License-Identifier: MIT
// A group is named by its kind and the smallest of its ranks.
#include "workload/llm/llm_layout.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

static const char *const names[] = {"tensor", "context", "expert", "data", "expert_data"};

static const bool spans[LLM_GROUPS][LLM_DEGREES] = {
    [LLM_GROUP_TENSOR] = {[LLM_TENSOR] = true},
    [LLM_GROUP_CONTEXT] = {[LLM_CONTEXT] = true},
    [LLM_GROUP_EXPERT] = {[LLM_EXPERT] = true},
    [LLM_GROUP_DATA] = {[LLM_CONTEXT] = true, [LLM_EXPERT] = true, [LLM_DATA] = true},
    [LLM_GROUP_EXPERT_DATA] = {[LLM_CONTEXT] = true, [LLM_DATA] = true},
};

void llm_layout_init(struct llm_layout *l, const struct llm_params *p,
                     const enum llm_degree order[LLM_DEGREES])
{
    *l = (struct llm_layout){.n_ranks = 1};
    for (unsigned i = 0; i < LLM_DEGREES; i++) {
        l->size[order[i]] = (uint32_t)p->degrees[order[i]];
        l->stride[order[i]] = l->n_ranks;
        l->n_ranks *= l->size[order[i]];
    }
}

void llm_layout_free(struct llm_layout *l)
{
    for (unsigned g = 0; g < LLM_GROUPS; g++)
        free(l->group[g]);
}

uint32_t llm_coordinate(const struct llm_layout *l, uint32_t rank, enum llm_degree degree)
{
    return rank / l->stride[degree] % l->size[degree];
}

uint32_t llm_neighbour(const struct llm_layout *l, uint32_t rank, enum llm_degree degree,
                       uint32_t coordinate)
{
    return rank + (coordinate - llm_coordinate(l, rank, degree)) * l->stride[degree];
}

uint32_t llm_group_size(const struct llm_layout *l, enum llm_group kind)
{
    uint32_t size = 1;
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        size *= spans[kind][d] ? l->size[d] : 1;
    return size;
}

// The smallest rank of the group that a rank is in.
static uint32_t first_of(const struct llm_layout *l, enum llm_group kind, uint32_t rank)
{
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        if (spans[kind][d])
            rank = llm_neighbour(l, rank, (enum llm_degree)d, 0);
    return rank;
}

void llm_groups_add(struct llm_layout *l, const struct group_choice *choice,
                    struct node_program *program)
{
    for (unsigned kind = 0; kind < LLM_GROUPS; kind++) {
        uint32_t size = llm_group_size(l, (enum llm_group)kind);
        if (size < 2)
            continue;
        l->group[kind] = memory_zeroed(l->n_ranks, sizeof *l->group[kind]);
        uint32_t *filled = memory_zeroed(l->n_ranks, sizeof *filled); // [first rank] members so far
        for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
            uint32_t first = first_of(l, (enum llm_group)kind, rank);
            if (first == rank) {
                program->groups =
                    memory_resize(program->groups, program->n_groups + 1, sizeof *program->groups);
                program->groups[program->n_groups] =
                    (struct node_group){.name = text_format("%s%u", names[kind], rank),
                                        .ranks = memory_zeroed(size, sizeof(uint32_t)),
                                        .schedule = group_schedule(choice, size),
                                        .inner = 1};
                l->group[kind][rank] = program->n_groups++;
            }
            l->group[kind][rank] = l->group[kind][first];
            program->groups[l->group[kind][first]].ranks[filled[first]++] = rank;
        }
        free(filled);
    }
}

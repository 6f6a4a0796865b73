// SPDX-License-Identifier: MIT
// What a set of programs has: its groups by use, and its node numbers.
#pragma once

#include "workload/nodes/node.h"

struct synth_survey {
    uint64_t largest_id;
    uint32_t *group_use; // [group] the use of its collectives; n_uses = it has none
};

// Read all nodes once. Returns 0, or -1 with an error; to be freed in both cases.
int synth_survey_read(struct synth_survey *s, const struct node_program *p, struct err *err);
void synth_survey_free(struct synth_survey *s);

// Calls `visit` for every node of every rank, rank by rank. Returns 0, or -1 with an error of the
// program's source.
typedef void synth_visit(void *ctx, uint32_t rank, const struct node *node);
int synth_nodes(const struct node_program *p, synth_visit *visit, void *ctx, struct err *err);

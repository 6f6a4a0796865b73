// SPDX-License-Identifier: MIT
// The ranks and groups of a set of another size: more or fewer replicas of what the set has.
//
// Some groups grow with the number of replicas (those over which data parallelism sums gradients);
// the others, and the messages between ranks, exist once in each replica. This is how data
// parallelism scales out; other degrees keep their size.
#pragma once

#include "cli/synth/survey.h"

struct synth_growth {
    uint32_t n_ranks;
    uint32_t of_source; // ranks of the source
    uint32_t *source;   // [rank] the rank of the source that it is like
    uint32_t *place;    // [rank of the source] its number within a replica; UINT32_MAX = left out
    uint32_t n_replicas, per_replica;
    bool *used, *grows; // [group of the source] a group without a collective is left out
    uint32_t *number;   // [replica * groups of the source + group] UINT32_MAX = left out
    uint32_t n_source_groups;
};

// Which groups grow where `uses` (names of uses, separated by commas) is NULL: those whose use is
// that of data parallelism by its usual names, else those of all ranks, else those with the largest
// distance between their first members. `n_ranks` is a multiple of the source's ranks, or divides
// them. Groups of the new set are written to `made`. Returns 0, or -1 with errors; free both.
int synth_grow(struct synth_growth *g, struct node_program *made, const struct node_program *from,
               const struct synth_survey *survey, uint32_t n_ranks, const char *uses,
               struct err *err);
// The place of a member in the new group: the members before it that are kept (of the first replica
// where the group grows). UINT32_MAX = it is left out.
uint32_t synth_growth_root(const struct synth_growth *g, const struct node_group *from,
                           uint32_t root);
void synth_growth_free(struct synth_growth *g);

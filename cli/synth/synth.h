// SPDX-License-Identifier: MIT
// New sets of programs from the statistics of a set.
//
// Of the set are kept: the order of operations and their dependencies, sizes of messages, groups,
// and the distributions of times (cli/synth/times.h). Names of operations, layers and groups are
// replaced by hashes of the name and the seed. The aim is that of Mystique (Liang et al., ISCA
// 2023) and of Chakra (Sridharan et al., 2023): traces that can be given to others.
#pragma once

#include "cli/synth/growth.h"
#include "cli/synth/scale.h"
#include "cli/synth/times.h"

struct synth_wish {
    uint64_t seed;
    uint32_t n_ranks; // a multiple of the set's ranks, or a divisor
    uint32_t repeat;  // how often each rank runs its program, one after the other; at least 1
    const char *grow; // uses of the groups that grow, separated by commas; NULL = synth_grow()
    struct synth_scale scale;
};

// Fill *made, whose nodes are drawn while they are read; `from` must outlive it. Returns 0, or -1
// with errors; node_program_free() in both cases. Reading the nodes can fail, too: at a message
// with a rank that is left out, and at a size out of range.
int synth_make(struct node_program *made, const struct node_program *from,
               const struct synth_wish *wish, struct err *err);

// Classes of ranks that the model of a made program has.
uint32_t synth_classes(const struct node_program *made);

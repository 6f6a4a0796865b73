// SPDX-License-Identifier: MIT
// Batches of training data for a program: every rank reads its samples of each iteration from a
// tier of memory, ahead of the computations.
//
// The nodes come from a source that wraps the program's own. Before an iteration a rank reads its
// samples of the batch (a copy from the tier to hbm). Where the tier is local and `shuffle` is
// global, every rank's memory has an equal part of the samples, so of a batch drawn from all of
// them only 1/p are its own: what it has read is exchanged in an all-to-all of the ranks that
// load. The iteration's first computation, and sends before it, wait for the batch. A rank reads
// one batch at a time; with `prefetch` n it begins to read a batch when the iteration n earlier
// begins, which is when the one before has computed and the batch is there, or at once for the
// first n; with 0 it begins when the iteration before has computed.
// Sources: prefetch as in tf.data (Murray et al., VLDB 2021); global shuffle by an exchange of
// samples that nodes hold: the data store of LBANN (Jacobs et al., 2019), FanStore (Zhang et al.,
// 2018).
// Not modelled: decoding and augmentation on CPUs, and caches of file systems.
#pragma once

#include "workload/group_choice.h"
#include "workload/nodes/node.h"
#include "workload/tiers/input_spec.h"

struct node_input {
    struct input_spec spec;
    uint64_t *bytes; // [rank] of a batch; 0 = the rank reads none
    uint32_t n_ranks, group;
    bool exchanges;
    uint16_t use;
    const struct node_source_ops *source; // of the program itself
    struct input_view {                   // what the source's functions take
        const struct node_input *input;
        const void *self;
        uint64_t iterations;
    } views[3]; // of the program, and of its twins, which have one iteration
};

// Add the batches to a program of `iterations`, which keeps `in` until it is freed: in->bytes and
// in->spec are set.
void node_input_add(struct node_input *in, struct node_program *program, uint64_t iterations,
                    const struct group_choice *choice);

// Free the tiers and the list of bytes; after node_program_free().
void node_input_free(struct node_input *in);

// SPDX-License-Identifier: MIT
// A statistical model of the times of computations in a set of programs.
//
// Ranks whose programs have the same operations in the same order are a class. The time of a
// rank's computation is
//
//     time = base of the computation in the class * speed of the rank * rest
//
// where the base is the median over the ranks of the class, the speed is the rank's time for all
// its computations over the sum of their bases (above 1 for a straggler), and the rest is the
// remaining factor. New times are drawn from these three: the base, moved by at most SYNTH_BLUR; a
// speed of the class, each as often as any other; and a rest. Ranks of a class of four or more deal
// the rests of each computation among each other; in smaller classes the rest is one of all
// computations of the same operation. All times of a rank are then scaled so that their sum is its
// speed times the sum of the bases. So the whole times of ranks are those of the set, and ranks of
// a class that wait for each other have times that belong together, which is what the exposed share
// of communication depends on.
#pragma once

#include "engine/base/rng.h"
#include "workload/nodes/node.h"

// A base is moved by at most this share, evenly: the stated error of the time of a computation.
// (With the last scale; it is small where a rank has many computations.)
#define SYNTH_BLUR 0.02

struct synth_times;

// Fit the model to all ranks of a program. NULL with an error of its source.
struct synth_times *synth_times_fit(const struct node_program *p, struct err *err);
void synth_times_free(struct synth_times *t);

uint32_t synth_times_classes(const struct synth_times *t);

// A new rank in its class.
struct synth_seat {
    uint32_t place; // in a random order of the class's new ranks
    double speed;
};

// Of ranks that are like the ranks source[n]: [n], to be freed.
struct synth_seat *synth_seats(const struct synth_times *t, const uint32_t *source, uint32_t n,
                               uint64_t seed);

// The times of a rank's computations, drawn in the order of its nodes.
struct synth_draw {
    const struct synth_times *times;
    uint32_t cls, place, next;
    double scale;
    struct rng bases, rests;
};

// For new rank `rank`, which is like rank `source` of the set, in repetition `copy` of its program.
struct synth_draw synth_draw_of(const struct synth_times *t, uint64_t seed, uint32_t source,
                                uint32_t rank, uint32_t copy, struct synth_seat seat);

// The time, ps, of the next node that has one (synth_timed()).
double synth_draw_next(struct synth_draw *d);

static inline bool synth_timed(const struct node *node)
{
    return (node->kind == NODE_COMPUTE || node->kind == NODE_WAIT) && node->takes_ps > 0;
}

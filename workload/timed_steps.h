// SPDX-License-Identifier: MIT
// Steps of a rank that take a given time: computations and fixed delays, any number at once.
//
// While the rank takes part in a collective that runs on its GPU, computations may slow down:
// collectives take a share of memory bandwidth and of compute units. The speed is then 1 - share of
// the full speed, with the share of the computation, or of collectives that switches reduce if that
// is larger; delays are not affected.
// Source: kernel interference of computation and communication, Rashidi et al., ISCA 2021 (ACE).
#pragma once

#include <stdbool.h>

#include "engine/tally.h"
#include "engine/timer.h"

struct path_book;
struct timed_step;

enum timed_kind { TIMED_COMPUTE, TIMED_FIXED };

struct timed_steps {
    /* config */
    struct engine *engine;
    struct path_book *path_book;
    uint32_t node;         // rank of the network
    struct tally *pending; // armed timers
    ps_t *busy_until_ps;   // a running step does not end before this time; 0 = not known
    void (*ended)(void *ctx, uint32_t step, ps_t now);
    // A computation begins or ends; may call timed_steps_cores(). NULL = nobody needs to know.
    void (*computing)(void *ctx, bool begins, ps_t now);
    void *ctx;
    /* state */
    struct timed_step *steps; // running and free ones
    struct timed_step *free_steps;
    bool beside;       // collectives that the GPU runs
    double in_network; // share that computations lose to collectives of switches
    double lost;       // share that they lose since threads use the cores of the host
};

// Begin a step that takes `takes_ps` >= 0 at full speed, and loses `share` of it beside collectives
// that the GPU runs, 0 <= share < 1; `label` as in struct step.
void timed_step_start(struct timed_steps *t, enum timed_kind kind, uint32_t step, uint32_t label,
                      ps_t takes_ps, double share, ps_t now);

// Returns a time before which no running step with this id ends; 0 = there is none.
ps_t timed_step_end_ps(const struct timed_steps *t, uint32_t step);

// Collectives that the GPU runs are under way or not, and those of switches take so large a share.
void timed_steps_beside(struct timed_steps *t, bool beside, double in_network, ps_t now);

// Computations run at `speed` of the speed that they have otherwise, 0 <= speed <= 1: what threads
// of the host leave of its cores.
void timed_steps_cores(struct timed_steps *t, double speed, ps_t now);

void timed_steps_free(struct timed_steps *t);

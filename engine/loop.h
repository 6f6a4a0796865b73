// SPDX-License-Identifier: MIT
// The process's main loop: libev runs it, the simulation is drained in batches from ev_idle.
#pragma once

#include "engine/engine.h"

enum loop_end {
    LOOP_DONE,        // no event left, the horizon reached, or the engine stopped
    LOOP_INTERRUPTED, // SIGINT or SIGTERM
    LOOP_WALL_LIMIT,
    LOOP_EVENT_LIMIT,
    LOOP_MEMORY_LIMIT,
};

struct loop_hooks {
    void *ctx;
    void (*progress)(void *ctx);   // every progress_s of wall time, and at SIGUSR1; may be NULL
    void (*batch)(void *ctx);      // after every batch of events: flush captures; may be NULL
    bool (*memory_low)(void *ctx); // after every batch: end the run; may be NULL
};

struct loop_limits {
    double progress_s; // 0 = no progress calls
    double wall_s;     // 0 = none
    uint64_t events;   // of the model (engine_model_events); 0 = none
};

// Run until an end. Blocks; one loop at a time per process, since it takes the signals SIGINT, SIGTERM
// and SIGHUP (unless they are ignored) and SIGUSR1. Their handlers are as before when it returns.
enum loop_end loop_run(struct engine *e, const struct loop_limits *limits,
                       const struct loop_hooks *hooks);

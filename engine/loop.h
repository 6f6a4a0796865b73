// SPDX-License-Identifier: MIT
// The main loop of the process: libev calls ev_idle, which processes the simulation in batches.
#pragma once

#include "engine/engine.h"

// Seconds of wall time since some fixed moment, by a clock that is never set back.
double monotonic_s(void);

enum loop_end {
    LOOP_DONE,        // no event left, the horizon reached, or the engine stopped
    LOOP_INTERRUPTED, // SIGINT, SIGTERM or SIGHUP
    LOOP_WALL_LIMIT,
    LOOP_EVENT_LIMIT,
    LOOP_MEMORY_LIMIT,
};

struct loop_hooks {
    void *ctx;
    void (*progress)(void *ctx);   // called every progress_s of wall time and on SIGUSR1; may be
                                   // NULL
    void (*batch)(void *ctx);      // called after every batch, to flush captures; may be NULL
    bool (*memory_low)(void *ctx); // called after every batch; true ends the run; may be NULL
};

struct loop_limits {
    double progress_s; // 0 = no progress calls
    double wall_s;     // 0 = no limit
    uint64_t events;   // limit on model events (engine_model_events); 0 = no limit
    double pace_ps;    // simulated time allowed per second of wall time; 0 = as fast as possible
};

// Run until one of the ends above and return it. Blocks. Only one loop may run per process, because
// it installs handlers for SIGINT, SIGTERM and SIGHUP (unless they are ignored) and SIGUSR1. The
// previous handlers are restored on return.
enum loop_end loop_run(struct engine *e, const struct loop_limits *limits,
                       const struct loop_hooks *hooks);

// SPDX-License-Identifier: MIT
// The main loop of a simulation: libev calls ev_idle, which processes the simulation in batches.
// Every run has a loop of its own, and several may run in different threads.
#pragma once

#include <stdatomic.h>

#include "engine/engine.h"

enum loop_end {
    LOOP_DONE,        // no event left, the horizon reached, or the engine stopped
    LOOP_INTERRUPTED, // struct loop_requests
    LOOP_WALL_LIMIT,
    LOOP_EVENT_LIMIT,
    LOOP_MEMORY_LIMIT,
    LOOP_STUCK, // left within an event, by a watchdog of the program
    LOOP_LOST,  // another process of the simulation does not answer
    LOOP_APART, // several processes take longer than one: the run is to begin again in one
};

// Requests to a running loop. May be set at any time, by another thread or by a signal handler;
// they are obeyed after the current batch.
struct loop_requests {
    atomic_bool end;      // stop and return LOOP_INTERRUPTED
    atomic_bool progress; // call the hook `progress` once
};

struct loop_hooks {
    void *ctx;
    void (*progress)(void *ctx); // called every progress_s of wall time and on request; may be NULL
    void (*batch)(void *ctx);    // called after every batch, to flush captures; may be NULL
    bool (*memory_low)(void *ctx);  // called after every batch; true ends the run; may be NULL
    struct loop_requests *requests; // may be NULL
};

struct loop_limits {
    double progress_s; // 0 = no progress calls
    double wall_s;     // 0 = no limit
    uint64_t events;   // limit on model events (engine_model_events); 0 = no limit
    double pace_ps;    // simulated time allowed per second of wall time; 0 = as fast as possible
};

// Run until one of the ends above and return it. Blocks. No signal handler is installed.
enum loop_end loop_run(struct engine *e, const struct loop_limits *limits,
                       const struct loop_hooks *hooks);

// Let libev allocate by engine/base/memory.h, whose functions do not fail. It holds for the whole
// process, so it is for programs, not for libraries.
void loop_use_memory(void);

// Set the function that libev calls when a system call fails that it cannot do without, for example
// when no file descriptor is left. Without it libev aborts the program. `failed` must not return;
// `what` is libev's text, and errno is set. It holds for the whole process.
void loop_on_failure(void (*failed)(const char *what));

// SPDX-License-Identifier: MIT
// The cores of hosts, and the threads that run on them: what the processors of hosts do for
// messages (kernel, proxies of a library, MPI processes).
//
// A host has `ranks_per_host` ranks (numbers k * ranks_per_host onwards) and `cores` cores. A
// thread has tasks, which it handles one after the other, in the order in which they came; it is
// never interrupted in a task. Threads with tasks get free cores first come, first served. A thread
// releases its core after each task if other threads wait, or keeps it until it has no task left
// (`keeps`). If computations of ranks are configured to use cores, they get the cores that threads
// leave free: the m computations of a host run at min(1, (cores - busy threads) / m) of their
// speed.
//
// Unlike a kernel, the model has no time slices, no cost of context switches and no migration.
#pragma once

#include "engine/timer.h"

struct cores;
struct core_host;

struct core_task {
    ps_t takes_ps;
    // Called when the task gets a core: returns the time that it takes. NULL = `takes_ps`.
    ps_t (*begin)(struct core_task *task, ps_t now);
    void (*done)(struct core_task *task, ps_t now); // may start tasks, also this one
    struct core_task *next;
};

struct core_thread {
    struct core_host *host;
    struct core_task *first, *last; // the first task is running, or waits for a core
    struct core_thread *next;       // next in the list of threads that wait for a core
    struct sim_timer timer;
    bool running, waiting, ending;
    bool keeps; // its core while it has tasks, those of task.done() included (SCHED_FIFO); else the
                // threads of a host take turns
};

// Create the cores of the hosts of `n_ranks` ranks; `cores` 0 = one for each thread. `engine` must
// outlive it.
struct cores *cores_new(struct engine *engine, uint32_t n_ranks, uint32_t ranks_per_host,
                        uint32_t cores);
void cores_free(struct cores *c);

// A thread of a rank; its tasks end in events of the rank.
void core_thread_init(struct core_thread *t, struct cores *c, uint32_t rank);
void core_thread_end(struct core_thread *t); // it runs nothing any more

// Append a task to the thread's queue; it then occupies the thread for `takes_ps` >= 0. The same
// struct must not be appended again before its done() has been called.
void core_run(struct core_thread *t, struct core_task *task, ps_t takes_ps, ps_t now);

// Let computations of ranks use the cores: `speed` is called whenever the speed of a host's
// computations changes, with a rank of the host, once for each of its ranks; it may not start
// tasks.
typedef void core_speed(void *ctx, uint32_t rank, double speed, ps_t now);
void cores_watch(struct cores *c, core_speed *speed, void *ctx);
// A computation of a rank begins or ends.
void cores_compute(struct cores *c, uint32_t rank, bool begins, ps_t now);
double cores_speed(const struct cores *c, uint32_t rank);

// Returns the time for which threads of a host have run, up to the end of their last completed
// tasks.
ps_t cores_busy_ps(const struct cores *c, uint32_t host);
uint32_t cores_hosts(const struct cores *c);

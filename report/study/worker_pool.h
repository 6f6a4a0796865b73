// SPDX-License-Identifier: MIT
// A pool of worker processes: tasks are run in parallel, each in a process of its own, so that a
// worker that crashes or is killed costs one task. libev watches the workers.
//
// A worker inherits neither the pool's handlers nor the pipes of other workers. It ends if its
// parent dies. Its function must close everything else that it must not inherit, such as locks.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The end of a task.
struct pool_end {
    size_t task;
    bool started;      // false: there was no process for it
    int code;          // exit code; -1 = it has none
    int signal;        // that killed the worker; 0 = none
    int reason;        // errno if the worker could not be started
    const char *bytes; // data that the worker wrote to its pipe, and a zero byte; not NULL
    size_t n_bytes;
    double wall_s;
};

struct pool_progress {
    size_t done, total, running;
    double elapsed_s, left_s; // left_s: estimate; negative = unknown
};

struct pool_ops {
    void *ctx;
    // Runs in the worker and must end the process; `to_parent` is the pipe.
    void (*work)(void *ctx, size_t task, int to_parent);
    void (*ended)(void *ctx, const struct pool_end *end); // in the parent, in the order of ends
    void (*progress)(void *ctx, const struct pool_progress *p); // NULL = none
    double progress_s;                                          // 0 = only on SIGUSR1
    const double *expected_s; // [n] estimated time of each task, for `left_s`; NULL = equal
    const bool *stop; // if it becomes true in `ended`, the rest is interrupted; NULL = never
    int death_signal; // sent to workers if the parent dies
};

// Run `n` tasks with up to `jobs` workers at a time, in order. Blocks. SIGINT, SIGTERM and SIGHUP
// end it: no other task is started, workers get SIGTERM (SIGKILL after a second signal), and it
// returns when they have ended. Signals that are ignored remain so. Returns the number of the
// signal, or 0. Uses libev's default loop. Tasks that were never started have no `ended`.
int pool_run(const struct pool_ops *ops, size_t n, size_t jobs);

// "killed by signal 9 (Killed)", or NULL if the worker ended by itself; to be freed.
char *pool_failure(const struct pool_end *end);

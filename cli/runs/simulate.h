// SPDX-License-Identifier: MIT
// One run, from a loaded scenario to its set of result files.
#pragma once

#include <stdbool.h>

#include "library/handles.h"

struct simulated {
    int code;      // exit code
    char *metrics; // text of metrics.json, even if it could not be written; of a run with files
                   // as in report/metrics_brief.h; NULL = nothing ran
    bool written;  // all files are installed
    char id[33];   // id of the set of files
    double packet_hops;
    /* of simulate_in_memory() */
    double wall_s;
    bool by_machine; // a limit of memory or wall time has ended the run
    bool limited;    // one of these or of events or simulated time has
};

struct simulation_options {
    bool plain;         // with the reference engine
    bool show_progress; // on stderr
    unsigned threads;   // 0 = 1
    unsigned tiles;     // of each thread; 0 = by the size of the network
    bool together;      // even where fewer threads or processes would be faster
    bool note_threads;  // warn if fewer threads run, or if they cost time
    // One of many runs that share stderr: warnings of the build are dropped, since the results
    // explain them.
    bool one_of_many;
    bool note_replaced; // print which results were replaced, if of another scenario
    const struct against_file
        *against;   // stands beside the collectives of the first job; NULL = none
    double pace_ps; // simulated time per second of wall time; 0 = as fast as possible
};

// Simulate into `dir`. Prints errors.
struct simulated simulate(const struct collwire_scenario *scenario, const char *dir,
                          const struct simulation_options *options);
// Simulate without files: only the metrics are made. Prints errors.
struct simulated simulate_in_memory(const struct collwire_scenario *scenario, bool plain,
                                    unsigned threads);
// The same as `how` says.
struct simulated simulate_as(const struct collwire_scenario *scenario, struct collwire_run how);
void simulated_free(struct simulated *made);
// The last simulation is kept until the next one, since a program that ends need not free it. Call
// this before its scenario is freed.
void simulate_forget(void);

// Build a simulation and estimate its cost; the processes of a pool share the memory. NULL with
// errors.
struct collwire_sim *simulation_build(const struct collwire_scenario *scenario,
                                      struct collwire_cost *cost, struct err *err);

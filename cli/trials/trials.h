// SPDX-License-Identifier: MIT
// Trials: a run's scenario again with some settings changed, several at a time, each in a worker.
//
// A trial has the seed and the noise of the run, and no captures. It is cut off where it needs
// about twice the events of the run: a count, and no time, so that it ends alike on every machine.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/options/options.h"

enum trial_end {
    TRIAL_NOT_RUN, // interrupted before it began, or ended by a signal
    TRIAL_DONE,
    TRIAL_CUT,     // it took too long
    TRIAL_REFUSED, // the scenario is not valid with these settings
    TRIAL_FAILED   // it did not complete
};

struct trial {
    const json_t *set; // list of PATH=VALUE; borrowed
    int end;           // enum trial_end
    // [job of the run] its time; -1 = it has none here. The job that the settings remove has -1.
    json_int_t *times_ns;
};

struct trials {
    const struct options *options;
    const json_t *metrics; // of the run; borrowed
    const char *folder;    // of the files that its scenario names
    struct trial *list;
    size_t n;
    // On the hybrid network, where a run by packets would take too long: the times of its jobs
    // there, without a change. NULL = on the network of the run.
    json_int_t *before_ns;
};

// The number of jobs of a run, and the times of its jobs; -1 = a job has not ended.
size_t trial_jobs(const json_t *metrics);
json_int_t trial_before_ns(const json_t *metrics, size_t job);

// Add the settings of a run that only measures times: it writes no captures and no lists of flows
// or collectives, tries no causes, has the usual limit of its wall time, and a job that does not
// fit into the memory of its GPUs runs too.
void trial_settings(struct options *sets);

// The time of a job before any change, on the network of the trials.
json_int_t trials_before_ns(const struct trials *t, size_t job);

// Let the trials be on the hybrid network, where this makes a run without a change. Returns how it
// ended (enum trial_end): TRIAL_CUT if it needs more than half of the packets' work.
int trials_on_hybrid(struct trials *t);
// Run all trials; with a line of progress on stderr where the options want it. Returns the number
// of the signal that has ended them, or 0.
int trials_run(struct trials *t);
void trials_free(struct trials *t);

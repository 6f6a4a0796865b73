// SPDX-License-Identifier: MIT
// Runs a simulation under a watchdog: an event that does not return must not make the program hang.
//
// Requests to end and limits are obeyed between events. Once a second a signal handler looks whether the
// simulation is still in the event of a second before. If that has taken RUN_STUCK_S of CPU time, or if a
// request to end or the wall limit has not been obeyed for RUN_OBEYS_S, the handler leaves the event by a
// jump, and the run ends with the results of that moment, which say so. With several threads, or where those
// results cannot be collected, the program ends with a message, and nothing is written.
#pragma once

#include "library/handles.h"

#define RUN_STUCK_S 30
#define RUN_OBEYS_S 3

// Like collwire_sim_run().
enum collwire_status run_watch(struct collwire_sim *sim, const struct collwire_run *how,
                               struct collwire_messages *m);

// The run has been asked to end. Safe in a signal handler.
void run_watch_interrupted(void);

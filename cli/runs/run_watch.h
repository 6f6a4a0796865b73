// SPDX-License-Identifier: MIT
// Runs a simulation under a watchdog: an event that does not return must not make the program hang.
//
// The simulation checks for interrupts and limits only between events. Therefore a signal handler
// checks once a second whether the simulation is still handling the same event. If that event has
// taken RUN_STUCK_S of CPU time, or if an interrupt or the wall limit has been pending for
// RUN_OBEYS_S, the handler leaves the event with siglongjmp(). The run then ends with the results
// up to that moment, and its status says so. With several threads, or if these results cannot be
// collected, the program ends with a message and writes nothing.
#pragma once

#include "library/handles.h"

#define RUN_STUCK_S 30
#define RUN_OBEYS_S 3

// Like collwire_sim_run().
enum collwire_status run_watch(struct collwire_sim *sim, const struct collwire_run *how,
                               struct collwire_messages *m);

// Tell the watchdog that the user has interrupted the run. Safe in a signal handler.
void run_watch_interrupted(void);

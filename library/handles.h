// SPDX-License-Identifier: MIT
// The structs behind the public handles, for this program's own folders. A handle and its struct
// have the same address.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cc/plugin/policies.h"
#include "collwire/collwire.h"
#include "config/scenario.h"
#include "engine/base/err.h"

// For a watchdog of the program; the first three may be called in a signal handler of the thread
// that is in collwire_sim_run().
uint64_t simulation_pulse(const struct collwire_sim *sim);  // another value for another event
bool simulation_overdue(const struct collwire_sim *sim);    // the wall limit has passed
bool simulation_divided(const struct collwire_sim *sim);    // several threads process it
bool simulation_collecting(const struct collwire_sim *sim); // it has ended: no event is pending
// After a jump out of collwire_sim_run(): end the run within the event that was left.
enum collwire_status simulation_leave(struct collwire_sim *sim, bool interrupted,
                                      struct collwire_messages *m);

// Write a file of the results of a run, piece by piece; false = the run does not have it, and
// nothing was written. `brief`: metrics.json without most of its long lists
// (report/metrics_brief.h).
bool simulation_write(const struct collwire_sim *sim, const char *file, bool brief, FILE *out);

// Put measured times of a file beside the collectives of a job of a run that has ended.
struct against_file; // sim/collect/against.h
void simulation_against(struct collwire_sim *sim, uint32_t job, const struct against_file *file);

// True if a limit of the scenario has ended the run: of events, time or memory.
bool simulation_limited(const struct collwire_sim *sim);

static inline struct err *err_of(struct collwire_messages *m) { return (struct err *)m; }
static inline struct collwire_messages *messages_of(struct err *err)
{
    return (struct collwire_messages *)err;
}
static inline struct policies *policies_of(const struct collwire_policies *p)
{
    return (struct policies *)(uintptr_t)p;
}
static inline struct scenario *scenario_of(const struct collwire_scenario *s)
{
    return (struct scenario *)(uintptr_t)s;
}

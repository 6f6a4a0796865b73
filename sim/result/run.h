// SPDX-License-Identifier: MIT
// Results of a run itself: its captures, plugins and threads, and what was skipped. Times are in
// ps; -1 = null.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/units.h"

struct capture_result {
    const char *file;
    uint64_t packets;
    ps_t trigger_ps; // -1 = there is no trigger, or its event did not happen
};

// A plugin whose policies the run could use; the texts are borrowed.
struct plugin_result {
    const char *file, *sha256;
};

// How a run was shared out among threads (engine/partition.h).
struct threads_result {
    uint32_t used; // 1 = the simulation had one part
    const char
        *note; // why there were fewer than wanted, or what the parts cost; NULL = nothing to say
    /* of several threads */
    uint64_t windows;
    ps_t lookahead_ps;
    double events_per_window, parallel; // parallel: share of the windows that all threads processed
    double waiting;                     // share of their time in which threads waited for others
    double imbalance;   // events of the busiest part by those of the mean part, in them
    uint64_t crossings; // packets that went from one part to another
};

// What was skipped because it repeats.
struct skip_result {
    bool tried;         // the scenario asks for it
    uint64_t stretches; // times that a period was found
    uint64_t periods;   // repetitions that were skipped, of all of them
    ps_t skipped_ps;    // simulated time of these
    uint64_t hops;      // of packets in these
    uint64_t candidates, snapshots;
    const char *note; // why not more; NULL = nothing to say
};

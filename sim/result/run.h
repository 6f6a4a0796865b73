// SPDX-License-Identifier: MIT
// Results of a run itself: its captures, plugins and threads. Times are in ps; -1 = null.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/units.h"

struct capture_result {
    const char *file;
    uint64_t packets;
    ps_t trigger_ps; // -1 = there is no trigger, or its event did not happen
};

// A plugin whose policies the run could use; the texts are borrowed.
struct plugin_result {
    const char *file, *sha256;
};

// Division of a run among threads (engine/shards.h).
struct threads_result {
    uint32_t processes; // that shared the simulation
    uint32_t used;      // 1 = the part of this process was not divided
    const char
        *note; // why there were fewer than requested, or the shards' cost; NULL = nothing to report
    /* where the network was divided into parts */
    uint32_t tiles; // parts that were processed one after the other, of all threads
    uint64_t windows;
    ps_t lookahead_ps;
    double events_per_window, parallel; // parallel: share of the windows that all threads processed
    double waiting;                     // share of their time in which threads waited for others
    double imbalance;   // events of the busiest shard, divided by the mean, in those windows
    uint64_t crossings; // packets and credit by letter from one part to another
};

// SPDX-License-Identifier: MIT
// The PFC watchdog of a class at a switch port. When the class has been paused for too long without
// a break, its queued packets are dropped, and pauses are ignored for a while. This breaks
// deadlocks and pause storms at the price of loss.
#pragma once

#include "engine/timer.h"

struct switches;

struct watchdog {
    struct sim_timer timer;
    struct switches *sw;
    uint32_t port;
    unsigned cls;
    bool restoring;
    uint64_t fired;
};

// Start watching the ports of every switch that has a detection time.
void watchdogs_init(struct switches *sw);

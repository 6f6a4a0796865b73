// SPDX-License-Identifier: MIT
// The PFC watchdog of a class at a port of a switch, or of a rank's router. When the class has been
// paused for too long without a break, its queued packets are dropped, and pauses are ignored for a
// while. This breaks deadlocks and pause storms at the price of loss.
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

// Start watching the ports of every switch and router that has a detection time.
void watchdogs_init(struct switches *sw);

// Called when a pause of a class begins or ends at a port; routers share the ports of their ranks.
void watchdog_pause_changed(struct switches *sw, uint32_t port, unsigned cls, bool paused,
                            ps_t now);

// SPDX-License-Identifier: MIT
// The PFC watchdog of a class at a switch port: when it has been paused for too long without a
// break, what waits is dropped, and pauses are not obeyed for a while. It breaks deadlocks and storms at
// the price of loss.
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

// Watch the ports of every switch with a detection time.
void watchdogs_init(struct switches *sw);
void watchdog_pause_changed(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now);

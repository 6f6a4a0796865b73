// SPDX-License-Identifier: MIT
// Looks for a repetition where one rank's messages are delivered: sizes, senders, ages, and the
// picoseconds between two deliveries. It costs a few instructions for each message.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/units.h"

#define WATCH_SIGNS 4096   // the longest period, in deliveries at the rank, is half of it
#define WATCH_CANDIDATES 4 // periods that are followed at one time
#define WATCH_CONVINCED 64 // repeated deliveries after which a longer period is believed

struct skip_watch {
    uint32_t rank;
    uint64_t n; // deliveries here
    ps_t last_ps;
    uint64_t bytes;              // bytes of the last delivery
    uint64_t signs[WATCH_SIGNS]; // [n modulo WATCH_SIGNS] gap, age, sender and size, hashed
    uint64_t seen[WATCH_SIGNS];  // [hash] n of the last delivery with this sign
    struct skip_candidate {
        uint32_t period;   // in deliveries; 0 = none
        uint64_t repeated; // deliveries with the sign of the delivery one period before
    } candidates[WATCH_CANDIDATES];
};

// Begin to watch a rank.
void skip_watch_begin(struct skip_watch *w, uint32_t rank);

// Note a delivery at the watched rank, `age_ps` after the message's post.
void skip_watch_note(struct skip_watch *w, uint32_t src, uint64_t bytes, ps_t age_ps, ps_t now);

// The shortest period that is believed, in deliveries at the watched rank; 0 = none.
uint32_t skip_watch_period(const struct skip_watch *w);

// Returns true if the last delivery has the sign of the delivery one period before.
bool skip_watch_repeats(const struct skip_watch *w, uint32_t period);

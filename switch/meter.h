// SPDX-License-Identifier: MIT
// Meters: token buckets that packets pass on their way through a switch, without a queue. A packet
// that the bucket has no tokens for is dropped (a policer), or marked (CE) and sent on.
//
// One rate and two colours: RFC 2697 without an excess burst, colour-blind. Tokens are counted in
// bytes of frames, as switches do: without preamble and gap. A packet beyond the rate takes no
// tokens. The time of a frame at the rate is rounded to picoseconds, below two parts in a million.
#pragma once

#include "net/network.h"

struct switches;
struct switch_node;

enum meter_excess { METER_DROPS, METER_MARKS };

struct meter {
    uint64_t rate_bps;
    ps_t burst_ps;   // the time in which an empty bucket fills
    ps_t full_ps;    // the time at which the bucket is full again, if no packet takes tokens
    uint32_t next;   // the next meter of the port, as in meter_at; 0 = none
    uint8_t classes; // bit set of data classes
    uint8_t excess;  // enum meter_excess
};

// Which meters the packets that enter or leave by a port of a switch pass: 1 + index into
// switches.meters, 0 = none.
struct meter_at {
    uint32_t in, out;
};

// A packet that arrived by `in` is about to leave by `out` (global ports of the switch). Returns
// false if a meter has dropped it.
bool switch_meter(struct switches *sw, const struct switch_node *s, uint32_t in, uint32_t out,
                  struct packet *p, ps_t now);

// SPDX-License-Identifier: MIT
// One hop of in-band network telemetry (INT), as a switch stamps it when a transmission starts.
#pragma once

#include "engine/units.h"

struct int_hop {
    ps_t t_ps;            // transmission start at the egress port
    uint64_t tx_bytes;    // bytes the port had sent before this packet
    uint64_t queue_bytes; // egress queue at that instant, this packet included
    uint64_t rate_bps;    // of the link
};

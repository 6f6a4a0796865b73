// SPDX-License-Identifier: MIT
// Messages over links that serve one message after the other: what ASTRA-sim calls congestion
// aware.
//
// A message crosses the dimensions in which its ranks differ one after the other, the innermost
// first, link by link: in a ring the shorter way (towards higher
// coordinates where both are equal), with a switch up and down,
// fully connected directly. A link serves messages in the order in which they arrive; it is busy
// for trunc(bytes / bandwidth) ns, and the message has arrived behind it after trunc(latency +
// bytes / bandwidth) ns, as a whole.
// Source: the congestion-aware analytical network of ASTRA-sim 2 (Won et al., ISPASS 2023).
#pragma once

#include "sim/analytical/analytical.h"

// Send a message over the next link on its way, from `now` on. Returns its arrival behind the link.
ps_t analytical_hop(struct analytical *a, struct analytical_message *m, ps_t now);

// Time of a message that meets no other.
ps_t analytical_alone_ps(const struct analytical *a, uint32_t src, uint32_t dst, uint64_t bytes);

// SPDX-License-Identifier: MIT
// Flows under the TIMELY family on one path: a base RTT of 8 us, and packets of 1000 B that take
// 1250 B on the link, 100 ns at 100G.
#pragma once

#include "tests/support/cc_lab.h"

#define G UINT64_C(1000000000)
#define M UINT64_C(1000000)
#define NS PS_PER_NS
#define US PS_PER_US

// An update on every ACK and round numbers, to isolate the control law: thresholds 40 and 400 us, g
// in units of 25 us with alpha 1/2, delta 200 Mb/s.
#define TIMELY_PLAIN                                                                               \
    {"thresholds", "absolute"}, {"t_low", "40us"}, {"t_high", "400us"}, {"min_rtt", "25us"},       \
        {"alpha", "0.5"}, {"delta", "200Mbps"}, {"min_cut", "0"}, {"segment", "1B"},               \
    {                                                                                              \
        "step", "full"                                                                             \
    }

struct cc_flow *timely_flow(const char *policy, const char *preset, uint64_t line_bps,
                            const struct cc_preset_value *changes);

void timely_ack(struct cc_flow *f, ps_t at, ps_t rtt_ps, uint32_t bytes);

// An ACK of 1000 B at time 0, whose RTT is `net_ps` plus the packet's serialization at 100G.
void timely_net(struct cc_flow *f, ps_t net_ps);

// `n` ACKs of 16 KB, 20 us apart.
void timely_segments(struct cc_flow *f, int n, ps_t *at, ps_t rtt_ps);

// A message starts after an idle time.
void timely_post(struct cc_flow *f, ps_t idle_ps);

// Fail unless equal to 1e-9.
void timely_near(double got, double want);

// SPDX-License-Identifier: MIT
// Flows under the TIMELY family of policies.
#include "tests/support/timely_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct cc_flow *timely_flow(const char *policy, const char *preset, uint64_t line_bps,
                            const struct cc_preset_value *changes)
{
    struct cc_env env = {.line_bps = line_bps,
                         .base_rtt_ps = 8 * US,
                         .mtu_bytes = 1000,
                         .full_wire_bytes = 1250,
                         .hops = 2};
    return cc_flow_new(policy, preset, &env, changes);
}

void timely_ack(struct cc_flow *f, ps_t at, ps_t rtt_ps, uint32_t bytes)
{
    struct cc_ack ack = {.now_ps = at, .rtt_ps = rtt_ps, .acked_bytes = bytes};
    cc_flow_ack(f, &ack);
}

void timely_net(struct cc_flow *f, ps_t net_ps) { timely_ack(f, 0, net_ps + 100 * NS, 1000); }

void timely_segments(struct cc_flow *f, int n, ps_t *at, ps_t rtt_ps)
{
    for (int i = 0; i < n; i++)
        timely_ack(f, *at += 20 * US, rtt_ps, 16000);
}

void timely_post(struct cc_flow *f, ps_t idle_ps)
{
    struct cc_post post = {.idle_ps = idle_ps};
    f->cc->ops->on_post(f->cc, &post);
}

void timely_near(double got, double want)
{
    double off = got > want ? got - want : want - got;
    if (off > 1e-9)
        fail_msg("%.12g is not %.12g", got, want);
}

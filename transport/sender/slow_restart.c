// SPDX-License-Identifier: MIT
// Slow restart of a NIC: a limit on the pace after a loss, beside the policy's rate.
#include "transport/host.h"

#define STEPS 32 // from nothing to the rate of the port

static void on_step(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct sender *s = timer->data;
    uint64_t line_bps = sender_env(s)->line_bps, cap_bps = s->cold.pace_cap_bps + line_bps / STEPS;
    sender_catch_up(s, e->now_ps);
    sender_begin(s);
    if (cap_bps < line_bps)
        sim_timer_start(e, timer, e->now_ps + s->cold.rare->restart_step_ps);
    sender_cap_pace(s, cap_bps < line_bps ? cap_bps : UINT64_MAX);
    sender_end(s, e->now_ps);
}

void sender_slow_restart(struct sender *s, double share, ps_t climb_ps, ps_t now)
{
    struct engine *e = sender_hosts(s)->net->engine;
    struct sender_rare *rare = sender_rare_make(s);
    uint64_t line_bps = sender_env(s)->line_bps, rate_bps = line_bps;
    if (s->cc->rate_bps < rate_bps)
        rate_bps = s->cc->rate_bps;
    if (s->cold.pace_cap_bps < rate_bps)
        rate_bps = s->cold.pace_cap_bps;
    uint64_t cap_bps = (uint64_t)((double)rate_bps * share);
    if (rare->restart_step_ps == 0)
        sim_timer_init(e, &rare->restart, sender_id(s)->src, on_step, s);
    rare->restart_step_ps = climb_ps / STEPS > 0 ? climb_ps / STEPS : 1;
    sim_timer_start(e, &rare->restart, now + rare->restart_step_ps);
    sender_cap_pace(s, cap_bps > line_bps / 1000 ? cap_bps : line_bps / 1000);
}

// SPDX-License-Identifier: MIT
// theta-PowerTCP: PowerTCP's window law (cc/powertcp_common.h) with power estimated from round-trip
// times, so that no switch support is needed.
//
// If the path has one queue, with a busy link and RTT theta = tau + q/B, the voltage over B*tau is
// theta/tau and the current over B is 1 + dtheta/dt: G = (1 + dtheta/dt) theta/tau at each ACK.
// Unused capacity of a link that is not busy cannot be measured (G = 1): W grows by gamma beta per
// round trip.
//
// Differs: the smoothed current is at least 1/2. After a deep cut nothing is sent until the queue
// has drained, so the next ACK reports zero current and W would jump to its maximum; with eight
// flows this oscillates without end. The authors limit it too: each sample to 1/2 (ns-3) or 1
// (Linux). But if data on the reverse path makes the RTT jitter, the rises and falls of single
// samples have no meaning; limiting the falls only costs a ring all-reduce 16 % (1/2) or 33 % (1).
// In the smoothed sum rises and falls cancel.
// Left out: reaction to loss, as in cc/powertcp.c.
// Idle restart: see cc/powertcp_common.h; an RTT older than a base RTT of idle time is dropped.
//
// Sources: Addanki, Michel, Schmid, NSDI 2022, algorithm 2; the authors' sources, see
// cc/powertcp_common.c.
#include "cc/powertcp_common.h"

struct delay_params {
    struct power_params law; // first member, as cc/powertcp_common.c requires
    double min_current;
};

struct powertcp_delay {
    struct power power;
    ps_t rtt_ps, at_ps; // of the previous ACK, rtt_ps 0 = none
};

static const struct param delay_param_table[] = {
    {.include = power_law_params, .offset = offsetof(struct delay_params, law)},
    PARAM_ROW("min_current", RATIO, offsetof(struct delay_params, min_current), .def = "0.5",
              .min = "0", .max = "1",
              .help = "least smoothed current over B that is believed; 0 = the paper, which "
                      "swings",
              .evidence = EVIDENCE_ESTIMATED,
              .source = "the authors' ns-3 sources, per sample there"),
};

static const struct cc_preset delay_presets[] = {
    {.name = "nsdi22",
     .doc = "the paper's; switches do not mark",
     .holds_bps = CC_GBPS(800),
     .profile = {.ecn = false}},
};

static struct powertcp_delay *delay_of(struct cc *cc)
{
    return (struct powertcp_delay *)(void *)cc->priv;
}

// Algorithm 2, NORMPOWER: (dtheta/dt + 1) theta/tau.
static double delay_power(ps_t rtt_ps, ps_t rtt_before_ps, ps_t dt, ps_t tau)
{
    double gradient = (double)(rtt_ps - rtt_before_ps) / (double)dt;
    return (gradient + 1) * (double)rtt_ps / (double)tau;
}

// Gs, but at least the value that corresponds to the minimum current at an RTT of `rtt_ps`.
static double plausible_power(struct cc *cc, ps_t rtt_ps)
{
    const struct delay_params *p = cc->params;
    double least = p->min_current * (double)rtt_ps / (double)cc->env->base_rtt_ps;
    double smoothed = delay_of(cc)->power.smoothed;
    return smoothed > least ? smoothed : least;
}

// ---- hooks ----

static void delay_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct powertcp_delay *s = delay_of(cc);
    ps_t dt = ack->now_ps - s->at_ps;
    if (s->rtt_ps == 0) {
        power_round_first(&s->power, ack);
    } else if (dt > 0) {
        double power = delay_power(ack->rtt_ps, s->rtt_ps, dt, cc->env->base_rtt_ps);
        power_sample(cc, &s->power, power, dt);
        if (power_round_over(&s->power, ack)) {
            power_window_update(cc, &s->power, plausible_power(cc, ack->rtt_ps),
                                s->power.window_bytes);
            power_round_turn(&s->power, ack);
        }
    } else {
        return; // same time as the previous ACK: the next sample spans both
    }
    s->rtt_ps = ack->rtt_ps;
    s->at_ps = ack->now_ps;
}

static void delay_init(struct cc *cc, ps_t now)
{
    (void)now;
    struct powertcp_delay *s = delay_of(cc);
    *s = (struct powertcp_delay){0};
    power_begin(cc, &s->power);
}

static void delay_on_post(struct cc *cc, const struct cc_post *post)
{
    switch (power_idle(cc, post)) {
    case CC_IDLE_RESTART:
        delay_init(cc, post->now_ps);
        break;
    case CC_IDLE_DROP_SAMPLES:
        delay_of(cc)->rtt_ps = 0;
        break;
    case CC_IDLE_KEEP:
        break;
    }
}

static size_t delay_observe(const struct cc *cc, double *out, size_t cap)
{
    return power_observe(&((const struct powertcp_delay *)(const void *)cc->priv)->power, out, cap);
}

extern const struct cc_ops cc_powertcp_delay;
const struct cc_ops cc_powertcp_delay = {
    .contract = CC_CONTRACT,
    .name = "powertcp_delay",
    .doc = "PowerTCP with power estimated from round-trip times, without telemetry",
    .paper = "Addanki et al., NSDI 2022 (theta-PowerTCP)",
    .needs = CC_NEEDS_PACING,
    .params = delay_param_table,
    .n_params = sizeof delay_param_table / sizeof delay_param_table[0],
    .params_bytes = sizeof(struct delay_params),
    .priv_bytes = sizeof(struct powertcp_delay),
    .presets = delay_presets,
    .n_presets = sizeof delay_presets / sizeof delay_presets[0],
    .init = delay_init,
    .on_post = delay_on_post,
    .on_ack = delay_on_ack,
    .observe = delay_observe,
    .observed = power_observed,
};

// SPDX-License-Identifier: MIT
// theta-PowerTCP: PowerTCP's window law (cc/powertcp_common.h) with power estimated from round-trip times, so
// that switches need not speak.
//
// Where one queue is on the path, its link is busy and RTT theta = tau + q/B, the voltage over
// B*tau is theta/tau and the current over B is 1 + dtheta/dt: G = (1 + dtheta/dt) theta/tau at each
// ACK. On a link that is not busy it cannot see the room (G = 1): W grows by gamma beta per round
// trip.
//
// Differs: the smoothed current is taken as 1/2 at least. After a deep cut nothing is sent until
// the queue has drained, so the next ACK tells of no current, and W would jump to its bound; eight
// flows then swing for ever. The authors bound it too: each sample at 1/2 (ns-3) or 1 (Linux). But
// each sample of an RTT that data on the way back makes jitter has a rise or a fall of no meaning;
// without the falls a ring all-reduce loses 16 % (1/2) or 33 % (1). In the smoothed sum they
// cancel.
// Left out: reaction to loss, as in cc/powertcp.c.
// Idle restart: cc/powertcp_common.h; an RTT older than a base RTT of pause is dropped.
//
// Sources: Addanki, Michel, Schmid, NSDI 2022, algorithm 2; the authors' sources, see cc/powertcp_common.c.
#include "cc/powertcp_common.h"

struct delay_params {
    struct power_params law; // first: what cc/powertcp_common.c reads
    double min_current;
};

struct powertcp_delay {
    struct power power;
    ps_t rtt_ps, at_ps; // of the ACK before, rtt_ps 0 = none
};

static const struct param delay_param_table[] = {
    {.include = power_law_params, .offset = offsetof(struct delay_params, law)},
    {.name = "min_current",
     .type = PARAM_RATIO,
     .offset = offsetof(struct delay_params, min_current),
     .def = "0.5",
     .min = "0",
     .max = "1",
     .help = "least smoothed current over B that is believed; 0 = the paper, which swings",
     .source = "the authors' ns-3 sources, per sample there"},
};

static const struct cc_preset delay_presets[] = {
    {.name = "nsdi22", .doc = "the paper's; switches do not mark", .profile = {.ecn = false}},
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

// Gs, where the current in it is plausible at an RTT of `rtt_ps`.
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
        return; // at the same instant: the next one spans both
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

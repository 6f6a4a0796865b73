// SPDX-License-Identifier: MIT
// Patched TIMELY: the decrease depends on the RTT itself, weighted smoothly by the gradient.
//
// Below t_low and above t_high as in TIMELY. Between the thresholds both changes act at once: the
// increase delta with weight 1 - w, the decrease beta (RTT - ref) / ref with weight w(g), where ref
// = t_low. So N flows have one fixed point, which is fair: g = 0, w = 1/2, R = C / N, and
//   RTT* = t_low (1 + N delta / (beta C)), as long as that is below t_high.
//
// An elapsed step scales both terms, so it does not change the fixed point. But if segments are
// shorter than min_rtt (fewer than about eight flows at 100G) the gradient has little effect, and
// the queue oscillates widely about that point; a `segment` of min_rtt at C / N reduces this.
//
// beta is a hundredth of TIMELY's, also above t_high: rates decrease by a factor e in min_rtt /
// beta at best (2.5 ms at 20 us). Many flows that start at line rate fill a buffer in that time, or
// are paused; a window cap limits this.
// Left out: hyperactive increase (algorithm 2 has none); NACKs and timeouts have no effect.
// Differs: a flow starts at line rate, not at the share C / (N + 1) of N flows of a sender.
//
// Source: Zhu et al., CoNEXT 2016, section 4.3 and algorithm 2.
#include "cc/timely_common.h"

struct timely_patched {
    struct timely_state common;
    double weight; // w(g) of the last sample between the thresholds
};

static const struct param patched_param_table[] = {
    {.include = timely_gain_params},
    PARAM_ROW("beta", RATIO, TIMELY_FIELD(beta), .def = "0.008", .min = "0", .max = "1",
              .help = "strength of multiplicative decrease", .evidence = EVIDENCE_DOCUMENTED,
              .source = TIMELY_CONEXT ", section 4.3"),
    {.include = timely_law_params},
};

static const struct cc_preset_value paper_values[] = {
    {"delta", "10Mbps"}, {"thresholds", "absolute"}, {"min_rtt", "20us"}, {"min_cut", "0"}};

static const struct cc_basis paper_bases[] = {
    {"delta thresholds", EVIDENCE_DOCUMENTED, TIMELY_PAPER ", section 6"},
    {"min_rtt", EVIDENCE_DOCUMENTED, TIMELY_CONEXT ", section 4.1"},
    {"min_cut", EVIDENCE_DOCUMENTED, TIMELY_CONEXT ", section 4.3: no limit"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset patched_presets[] = {
    {.name = "scaled", .doc = "steps scaled to the line, thresholds above the pair's base RTT"},
    {.name = "paper",
     .doc = "CoNEXT 2016 to the letter, for 10G",
     BASES(paper_bases),
     .values = paper_values,
     .n_values = sizeof paper_values / sizeof paper_values[0]},
};

static struct timely_patched *patched_of(struct cc *cc)
{
    return (struct timely_patched *)(void *)cc->priv;
}

// w(g): the weight of the decrease.
static double weight_of(double gradient)
{
    if (gradient <= -0.25)
        return 0;
    return gradient >= 0.25 ? 1 : 2 * gradient + 0.5;
}

// Algorithm 2, lines 10 to 12: R = delta (1 - w) + R (1 - beta w (RTT - ref) / ref).
static void weighted_update(struct cc *cc)
{
    const struct timely_params *p = cc->params;
    struct timely_patched *s = patched_of(cc);
    s->weight = weight_of(s->common.gradient);
    double ref_ps = (double)s->common.t_low_ps;
    double error = ((double)s->common.rtt_ps - ref_ps) / ref_ps;
    double up_bps = (double)s->common.delta_bps * (1 - s->weight);
    double down_bps = (double)cc->rate_bps * (p->beta * s->weight * error);
    double least_bps = (double)cc->rate_bps * p->min_cut;
    double rate_bps = (double)cc->rate_bps + s->common.step * (up_bps - down_bps);
    timely_rate_set(cc, &s->common, rate_bps > least_bps ? rate_bps : least_bps);
}

static void patched_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct timely_state *s = &patched_of(cc)->common;
    if (!timely_sample(cc, s, ack))
        return;
    if (s->rtt_ps < s->t_low_ps)
        timely_increase(cc, s, 1);
    else if (s->rtt_ps > s->t_high_ps)
        timely_retreat(cc, s);
    else
        weighted_update(cc);
}

static void patched_init(struct cc *cc, ps_t now)
{
    (void)now;
    timely_begin(cc, &patched_of(cc)->common);
    patched_of(cc)->weight = 0;
}

static void patched_on_post(struct cc *cc, const struct cc_post *post)
{
    const struct timely_params *p = cc->params;
    enum cc_idle idle = cc_idle_after(cc, post->idle_ps, p->idle_restart_ps);
    if (idle == CC_IDLE_RESTART)
        patched_init(cc, post->now_ps);
    else if (idle == CC_IDLE_DROP_SAMPLES)
        timely_drop_samples(&patched_of(cc)->common);
}

static const char *const patched_observed[] = {"rtt_us", "gradient", "weight", NULL};

static size_t patched_observe(const struct cc *cc, double *out, size_t cap)
{
    const struct timely_patched *s = (const struct timely_patched *)(const void *)cc->priv;
    const double values[] = {timely_rtt_us(&s->common), s->common.gradient, s->weight};
    return cc_observe_values(values, sizeof values / sizeof values[0], out, cap);
}

extern const struct cc_ops cc_timely_patched;
const struct cc_ops cc_timely_patched = {
    .contract = CC_CONTRACT,
    .name = "timely_patched",
    .doc = "TIMELY with one fair fixed point",
    .paper = TIMELY_CONEXT,
    .needs = CC_NEEDS_PACING,
    .params = patched_param_table,
    .n_params = sizeof patched_param_table / sizeof patched_param_table[0],
    .params_bytes = sizeof(struct timely_params),
    .priv_bytes = sizeof(struct timely_patched),
    .presets = patched_presets,
    .n_presets = sizeof patched_presets / sizeof patched_presets[0],
    .init = patched_init,
    .on_post = patched_on_post,
    .on_ack = patched_on_ack,
    .observe = patched_observe,
    .observed = patched_observed,
    .check = timely_check,
};

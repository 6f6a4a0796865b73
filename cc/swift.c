// SPDX-License-Identifier: MIT
// Swift: a window that holds the RTT at a target delay.
//
// Each ACK compares its RTT with the target. Below the target the window grows by ai packets per
// RTT; above it the window decreases in proportion to the excess, at most once per RTT and at most
// by max_mdf. The target is
//   base_target + links of the path * hop_scale + flow scaling, which is larger for small windows,
// since the queue of many flows grows with the square root of their number.
// With at least one packet the window is sent as it opens, at line rate; below one packet, packets
// are paced at RTT / cwnd. A window of 2.5 packets lets three be in flight, like every window of
// this simulator.
//
// Below one packet the paper adds ai, a complete packet, for each acknowledged packet. All n flows
// of a queue do so within one packet spacing, RTT / cwnd, since they see the same delay: this adds
// n packets in flight to windows of less than one packet, while a decrease takes at most beta of
// the excess per RTT. The queue then oscillates by n packets, with a mean up to n/2 above the
// target (64 flows of 4096 B at 100G and 4.7 us: 214 KB, from 0 to 370, with a target of 142). With
// a step of ai_below packets the mean is n ai_below / 2 above the target: with the default 0.1 it
// is 147 KB. tests/theory/test_swift.c has the fixed points.
//
// Targets of the preset `scaled`: the base RTT of the pair includes propagation and serialization
// on every hop, so base_target only adds the queue that keeps the line busy while windows
// oscillate. Windows oscillate by packets (ai per flow and RTT, bursts of a window), not by shares
// of the BDP: the default is 8 packets at line rate, 33 KB at any rate. hop_scale is one packet per
// link, since an ACK may wait behind one data packet on each link of its path. fs_range is five
// base RTTs, which keeps the permitted queue near the N packets that N flows add in one RTT: with a
// BDP of 100 packets, 25 packets for 8 flows, and 1.5 BDP if windows are one packet. max_cwnd is
// the window that fills the line at the target delay: a flow that queues only in its own NIC sees
// no delay and would otherwise grow without limit.
//
// Left out: the second window, for delay in the receiving host (hosts have no delay here), the
// average over RTT samples, and the limit of growth if the application has nothing to send.
// Differs: a decrease that was not made does not delay the next one (in the listing, cwnd <=
// previous cwnd delays it at every ACK); a flow starts with one BDP, like every RoCE policy with a
// window here, also where the transport has an initial window (TCP); the window does not grow while
// TCP repairs a loss.
//
// Sources: Kumar et al., SIGCOMM 2020, algorithm 1 and sections 3.1 to 3.5; constants that the
// paper does not give are those of csg-htsim, sim/swift.cpp.
#include <math.h>

#include "collwire/cc_extras.h"

struct swift_params {
    double ai, ai_below, beta, max_mdf;
    double min_cwnd, max_cwnd, fs_min_cwnd, fs_max_cwnd; // packets
    ps_t base_target_ps, hop_scale_ps, fs_range_ps;      // PARAM_AUTO_TIME: see the table
    ps_t idle_restart_ps;
    uint64_t rto_reset;
};

struct swift {
    /* config, resolved for this pair */
    ps_t fixed_target_ps;               // base_target plus hop scaling
    double fs_range, fs_alpha, fs_beta; // in base RTTs
    double min_cwnd, max_cwnd;
    /* state */
    double cwnd;       // packets
    ps_t rtt_ps;       // last sample; the base RTT before the first
    ps_t decreased_ps; // time of the last decrease, PS_NEVER = none yet
    uint64_t timeouts; // consecutive
};

// ---- parameters ----

#define FIELD(name) offsetof(struct swift_params, name)
#define SIGCOMM "Kumar et al., SIGCOMM 2020"
#define HTSIM "csg-htsim, sim/swift.cpp"

static const struct param swift_param_table[] = {
    PARAM_ROW("ai", RATIO, FIELD(ai), .def = "1", .min = "0.0001", .max = "1000",
              .help = "additive increase, packets per RTT", .evidence = EVIDENCE_DOCUMENTED,
              .source = HTSIM),
    PARAM_ROW(
        "ai_below", RATIO, FIELD(ai_below), .def = "0.1", .min = "0.0001", .max = "1000",
        .help = "additive increase below one packet, packets per packet acknowledged",
        .evidence = EVIDENCE_ESTIMATED,
        .source =
            "ours; algorithm 1 and csg-htsim have ai, which takes 64 flows far above the target"),
    PARAM_ROW("beta", RATIO, FIELD(beta), .def = "0.8", .min = "0", .max = "1",
              .help = "strength of multiplicative decrease", .evidence = EVIDENCE_DOCUMENTED,
              .source = HTSIM),
    PARAM_ROW("max_mdf", RATIO, FIELD(max_mdf), .def = "0.5", .min = "0", .max = "0.99",
              .help = "largest share of the window that a decrease takes; what a loss takes",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW(
        "base_target", TIME, FIELD(base_target_ps), .def = "auto", .min = "1ns", .max = "1s",
        .can_auto = true,
        .help = "target delay apart from hops and flow scaling, above the base RTT of every pair; "
                "auto = base RTT of the pair + 8 packets at line rate",
        .evidence = EVIDENCE_ESTIMATED,
        .source = SIGCOMM ", section 3.5: what one hop and few flows need"),
    PARAM_ROW("hop_scale", TIME, FIELD(hop_scale_ps), .def = "auto", .min = "0us", .max = "1s",
              .can_auto = true,
              .help = "target delay per link of the path; auto = one packet at line rate",
              .evidence = EVIDENCE_ESTIMATED,
              .source = SIGCOMM ", section 3.5; an ACK may wait behind a data packet"),
    PARAM_ROW("fs_range", TIME, FIELD(fs_range_ps), .def = "auto", .min = "0us", .max = "1s",
              .can_auto = true,
              .help = "most that flow scaling adds to the target; auto = 5 base RTTs of the pair",
              .evidence = EVIDENCE_ESTIMATED, .source = HTSIM " has 5 base targets"),
    PARAM_ROW("fs_min_cwnd", RATIO, FIELD(fs_min_cwnd), .def = "0.1", .min = "0.0001",
              .max = "1000000",
              .help = "window in packets up to which flow scaling adds all of fs_range",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("fs_max_cwnd", RATIO, FIELD(fs_max_cwnd), .def = "100", .min = "0.0001",
              .max = "1000000", .help = "window in packets from which flow scaling adds nothing",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("min_cwnd", RATIO, FIELD(min_cwnd), .def = "0.001", .min = "0.0001", .max = "1000000",
              .help = "least window in packets", .evidence = EVIDENCE_DOCUMENTED,
              .source = SIGCOMM ", section 3.4"),
    PARAM_ROW("max_cwnd", RATIO, FIELD(max_cwnd), .def = "auto", .min = "0.0001",
              .max = "1000000000", .can_auto = true,
              .help = "largest window in packets; auto = what fills the line at the target of a "
                      "one-BDP window",
              .evidence = EVIDENCE_ESTIMATED, .source = "the paper has one, without a value"),
    PARAM_ROW("rto_reset", COUNT, FIELD(rto_reset), .def = "5", .min = "1", .max = "1000",
              .help = "timeouts in a row that take the window to the least",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    {.include = cc_idle_restart_params, .offset = FIELD(idle_restart_ps)},
};

static const struct cc_preset_value htsim_values[] = {{"base_target", "20us"},
                                                      {"hop_scale", "3053435ps"}, // 20 us / 6.55
                                                      {"ai_below", "1"},
                                                      {"fs_range", "100us"},
                                                      {"max_cwnd", "1000"}};

static const struct cc_basis htsim_bases[] = {
    {"base_target hop_scale ai_below fs_range max_cwnd", EVIDENCE_DOCUMENTED, HTSIM},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset swift_presets[] = {
    {.name = "scaled",
     .doc = "targets derived from the pair's base RTT and line rate",
     .holds_bps = CC_GBPS(800)},
    {.name = "htsim",
     .doc = "the fixed targets of csg-htsim, for base RTTs below 20 us",
     .holds_bps = CC_GBPS(100),
     BASES(htsim_bases),
     .values = htsim_values,
     .n_values = sizeof htsim_values / sizeof htsim_values[0]},
};

static ps_t time_or(ps_t value_ps, ps_t auto_ps)
{
    return value_ps != PARAM_AUTO_TIME ? value_ps : auto_ps;
}

static double clip(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

static struct swift *swift_of(struct cc *cc) { return (struct swift *)(void *)cc->priv; }

static const char *swift_check(const void *params)
{
    const struct swift_params *p = params;
    if (p->fs_min_cwnd >= p->fs_max_cwnd)
        return "fs_min_cwnd must be below fs_max_cwnd";
    if (p->max_cwnd != PARAM_AUTO_RATIO && p->min_cwnd > p->max_cwnd)
        return "min_cwnd must not be above max_cwnd";
    return NULL;
}

// ---- target ----

// Section 3.5: alpha = fs_range / (1/sqrt(fs_min_cwnd) - 1/sqrt(fs_max_cwnd)),
// beta = -alpha / sqrt(fs_max_cwnd).
static void flow_scaling_init(struct swift *s, const struct swift_params *p,
                              const struct cc_env *env)
{
    double base_rtt_ps = (double)env->base_rtt_ps;
    s->fs_range = p->fs_range_ps != PARAM_AUTO_TIME ? (double)p->fs_range_ps / base_rtt_ps : 5;
    s->fs_alpha = s->fs_range / (1 / sqrt(p->fs_min_cwnd) - 1 / sqrt(p->fs_max_cwnd));
    s->fs_beta = -s->fs_alpha / sqrt(p->fs_max_cwnd);
}

// Section 3.5: t = base + hops h + max(0, min(alpha / sqrt(cwnd) + beta, fs_range)).
static ps_t target_ps(const struct cc *cc, const struct swift *s, double cwnd)
{
    double scaling = clip(s->fs_alpha / sqrt(cwnd) + s->fs_beta, 0, s->fs_range);
    return s->fixed_target_ps + (ps_t)(scaling * (double)cc->env->base_rtt_ps + 0.5);
}

// ---- window ----

// The least value that a rate parameter can have, and with which the pacer can compute.
#define RATE_LEAST_BPS 1000

// The end of algorithm 1: clamp the window, and set the pace for windows below one packet.
static void window_set(struct cc *cc, double cwnd)
{
    struct swift *s = swift_of(cc);
    const struct cc_env *env = cc->env;
    s->cwnd = clip(cwnd, s->min_cwnd, s->max_cwnd);
    if (s->cwnd >= 1) {
        cc->cwnd_bytes = (uint64_t)(s->cwnd * env->mtu_bytes + 0.5);
        cc->rate_bps = env->line_bps;
        return;
    }
    uint64_t rate_bps = cc_rate_of(env, s->cwnd * env->full_wire_bytes, s->rtt_ps);
    cc->cwnd_bytes = env->mtu_bytes;
    cc->rate_bps = rate_bps > RATE_LEAST_BPS ? rate_bps : RATE_LEAST_BPS;
}

// For each acknowledged packet: ai / cwnd; below one packet ai_below.
static void increase(struct cc *cc, uint32_t acked_bytes)
{
    struct swift *s = swift_of(cc);
    const struct swift_params *p = cc->params;
    double acked = (double)acked_bytes / cc->env->mtu_bytes;
    window_set(cc, s->cwnd + (s->cwnd >= 1 ? p->ai * acked / s->cwnd : p->ai_below * acked));
}

static bool may_decrease(const struct swift *s, ps_t now)
{
    return s->decreased_ps == PS_NEVER || now - s->decreased_ps >= s->rtt_ps;
}

static void decrease(struct cc *cc, double keep, ps_t now)
{
    struct swift *s = swift_of(cc);
    double before = s->cwnd;
    window_set(cc, s->cwnd * keep);
    if (s->cwnd < before)
        s->decreased_ps = now;
}

// The factor of a decrease: max(1 - beta (delay - target) / delay, 1 - max_mdf).
static double kept_above(const struct swift_params *p, ps_t delay_ps, ps_t target_delay_ps)
{
    double keep = 1 - p->beta * ((double)(delay_ps - target_delay_ps) / (double)delay_ps);
    return keep > 1 - p->max_mdf ? keep : 1 - p->max_mdf;
}

// ---- hooks ----

static void swift_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct swift *s = swift_of(cc);
    if (ack->rtt_ps <= 0)
        return; // the ACK has no RTT sample
    ps_t target_delay_ps = target_ps(cc, s, s->cwnd);
    s->rtt_ps = ack->rtt_ps;
    s->timeouts = 0;
    bool below = s->rtt_ps < target_delay_ps;
    if (below && !ack->recovering)
        increase(cc, ack->acked_bytes);
    else if (!below && may_decrease(s, ack->now_ps))
        decrease(cc, kept_above(cc->params, s->rtt_ps, target_delay_ps), ack->now_ps);
    else
        window_set(cc, s->cwnd); // the pace depends on the RTT
}

// Section 3.6: a gap costs max_mdf once per RTT; so does a timeout, until there are too many in a
// row.
static void swift_on_signal(struct cc *cc, const struct cc_signal *signal)
{
    struct swift *s = swift_of(cc);
    const struct swift_params *p = cc->params;
    if (!cc_signal_is_loss(signal->kind))
        return;
    s->timeouts = signal->kind == CC_SIGNAL_TIMEOUT ? s->timeouts + 1 : 0;
    if (s->timeouts >= p->rto_reset)
        decrease(cc, 0, signal->now_ps);
    else if (may_decrease(s, signal->now_ps))
        decrease(cc, 1 - p->max_mdf, signal->now_ps);
}

static void swift_init(struct cc *cc, ps_t now)
{
    (void)now;
    struct swift *s = swift_of(cc);
    const struct swift_params *p = cc->params;
    const struct cc_env *env = cc->env;
    ps_t packet_ps = cc_packet_ps(env);
    ps_t base_ps = time_or(p->base_target_ps, env->base_rtt_ps + 8 * packet_ps);
    double bdp = (double)cc_bdp_bytes(env) / env->mtu_bytes;
    *s = (struct swift){
        .fixed_target_ps = base_ps + env->hops * time_or(p->hop_scale_ps, packet_ps),
        .min_cwnd = p->min_cwnd,
        .max_cwnd = p->max_cwnd,
        .rtt_ps = env->base_rtt_ps,
        .decreased_ps = PS_NEVER,
    };
    flow_scaling_init(s, p, env);
    if (p->max_cwnd == PARAM_AUTO_RATIO)
        s->max_cwnd = bdp * ((double)target_ps(cc, s, bdp) / (double)env->base_rtt_ps);
    if (s->max_cwnd < s->min_cwnd)
        s->max_cwnd = s->min_cwnd;
    window_set(cc, bdp);
}

// Idle time keeps the window and discards the RTT and the count of timeouts.
static void swift_on_post(struct cc *cc, const struct cc_post *post)
{
    struct swift *s = swift_of(cc);
    const struct swift_params *p = cc->params;
    enum cc_idle idle = cc_idle_after(cc, post->idle_ps, p->idle_restart_ps);
    if (idle == CC_IDLE_RESTART) {
        swift_init(cc, post->now_ps);
    } else if (idle == CC_IDLE_DROP_SAMPLES) {
        s->rtt_ps = cc->env->base_rtt_ps;
        s->timeouts = 0;
    }
}

static const char *const swift_observed[] = {"cwnd_pkts", "rtt_us", "target_us", NULL};

static size_t swift_observe(const struct cc *cc, double *out, size_t cap)
{
    const struct swift *s = (const struct swift *)(const void *)cc->priv;
    const double values[] = {s->cwnd, (double)s->rtt_ps / (double)PS_PER_US,
                             (double)target_ps(cc, s, s->cwnd) / (double)PS_PER_US};
    return cc_observe_values(values, sizeof values / sizeof values[0], out, cap);
}

static struct cc_growth swift_growth(const struct cc *cc)
{
    const struct swift_params *p = cc->params;
    return (struct cc_growth){.step_bytes = (uint64_t)(p->ai * cc->env->mtu_bytes),
                              .every_ps = cc->env->base_rtt_ps};
}

extern const struct cc_ops cc_swift;
static const struct cc_extras extras = {
    CC_EXTRAS,
    .growth = swift_growth,
};

const struct cc_ops cc_swift = {
    .contract = CC_CONTRACT,
    .name = "swift",
    .doc = "a window that holds the RTT at a target delay",
    .paper = SIGCOMM,
    .params = swift_param_table,
    .n_params = sizeof swift_param_table / sizeof swift_param_table[0],
    .params_bytes = sizeof(struct swift_params),
    .priv_bytes = sizeof(struct swift),
    .presets = swift_presets,
    .n_presets = sizeof swift_presets / sizeof swift_presets[0],
    .init = swift_init,
    .on_post = swift_on_post,
    .on_ack = swift_on_ack,
    .on_signal = swift_on_signal,
    .observe = swift_observe,
    .observed = swift_observed,
    .check = swift_check,
    .extras = &extras,
};

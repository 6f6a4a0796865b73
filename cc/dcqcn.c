// SPDX-License-Identifier: MIT
// DCQCN: rate control of RoCE queue pairs by congestion notifications (CNPs, or CE echoed on ACKs).
//
// Reaction point only. A notification cuts the current rate Rc by alpha/2, where alpha estimates
// the marked share of the traffic. Then a timer and a byte counter raise Rc again: F steps of fast
// recovery half-way to the target Rt, then additive and hyper steps that raise Rt too.
// Timers start at the first notification: a NIC gives a queue pair its rate limiter only then.
//
// One table of parameters covers the known variants:
//   scaled, paper        the SIGCOMM 2015 algorithm: cut and alpha on every CNP; alpha decays after
//                        each tau' without one.
//   nic                  ConnectX: alpha and cuts are evaluated on their own periods, and the byte
//                        counter of 32767 is taken as kB (cc/dcqcn_params.c says why).
//   hpcc_sim, khan2022   the ns-3 model of the HPCC lineage (rdma-hw.cc, "MLX"): as nic, without a
//                        byte counter, one additive step, then hyper steps of constant size.
// A preset sets the notification point too: a CNP every 50 us (scaled, paper) or 4 us (nic) at
// most, or CE echoed on every ACK (hpcc_sim, khan2022). All presets limit CNPs per queue pair, as
// the paper does; NICs limit them per port or per address of the sender: see transport.cnp_scope.
// `paper` at 40G reaches its fixed point (CoNEXT 2016; tests/theory/test_dcqcn_fixed_point.c); the
// default `scaled` does not: steps and thresholds scale with the line rate, but times do not. With
// the notification point's delay of up to 50 us in the loop even the fluid model oscillates, from
// 200G on also with 30 us.
// Mean queues of 2, 8 and 32 flows, MTU 4096, links of 1 us (tests/theory/test_dcqcn_scaled.c):
//   100G  267, 371, 557 KB    where the fixed point is 408, 446, 654   (-35, -17, -15 %)
//   200G  469, 544, 782 KB    808, 846, 1058      (-42, -36, -26 %)
//   400G  631, 1195, 1275 KB  1608, 1646, 1860    (-61, -27, -31 %)
//   800G  737, 2586, 1924 KB  3208, 3246, 3461    (-77, -20, -44 %)
// The queue is empty for 1 to 14 % of the time; with two flows at 400G and 800G for 30 and 57 %.
// The means are over 60 ms from 30 ms on (33 from 17 ms from 400G on). Over 130 ms the oscillation
// of eight flows at 100G has a mean of 302 KB, so the means are accurate to about a fifth.
// Cut checks and alpha ticks run on periods that begin at the first notification. A notification at
// the very time of a check counts for the next check, and a tick precedes a cut. An increase due at
// the time of a cut check acts first (timer 0 before timer 1).
//
// Idle restart: deliberately none. NICs keep rate and timers while a queue pair has nothing to
// send, so the rate of an idle flow recovers by its timer (the byte counter does not advance), and
// a message that follows soon does not burst at line rate into the congested queue.
//
// Few events: alpha is updated when it is read, with the same multiplications that ticks would
// make; the increase timer stops when Rc = Rt = line rate, since it could change nothing; the cut
// check is armed only while a notification is pending.
// Left out: reaction to NACKs and timeouts, and the release of the rate limiter at line rate.
// Differs: averages round up, so that Rc reaches Rt; alpha below 2^-60, which has no effect on any
// rate, is set to 0.
//
// Sources: Zhu et al., SIGCOMM 2015, sections 3 and 5, figure 7; IEEE 802.1Qau (QCN);
// NVIDIA, "DCQCN parameters"; HPCC ns-3 sources; Khan et al., Hot Interconnects 2022.
#include "cc/dcqcn.h"
#include "collwire/cc_extras.h"

enum { TIMER_INCREASE, TIMER_CUT };

struct dcqcn {
    /* config, resolved for this line */
    uint64_t min_bps;
    /* state; Rc is cc->rate_bps */
    uint64_t target_bps; // Rt
    ps_t start_ps;       // time of the first notification, PS_NEVER before it
    ps_t alpha_at_ps;    // alpha includes all updates up to this time
    double alpha;
    uint64_t bytes_left;              // until the next byte-counter event; UINT64_MAX = off
    uint32_t timer_stage, byte_stage; // number of increase events since the last cut
    bool noted; // ALPHA_ON_TICK: a notification has arrived since the last tick
};

static struct dcqcn *dcqcn_of(struct cc *cc) { return (struct dcqcn *)(void *)cc->priv; }

static void window_follow(struct cc *cc)
{
    const struct dcqcn_params *p = cc->params;
    cc->cwnd_bytes = cc_cap_bytes(cc->env, &p->window, cc->rate_bps);
}

// ---- alpha ----

#define ALPHA_NOTHING 0x1p-60

// Eq. 1: alpha = (1 - g) alpha + g.
static double alpha_raise(double alpha, double g) { return (1 - g) * alpha + g; }

// Eq. 2: alpha = (1 - g) alpha.
static double alpha_decay(double alpha, double g)
{
    alpha *= 1 - g;
    return alpha < ALPHA_NOTHING ? 0 : alpha;
}

// Make the updates of alpha that are due at `now`; after at most about 42/g of them alpha is 0.
static void alpha_catch_up(struct cc *cc, ps_t now)
{
    struct dcqcn *s = dcqcn_of(cc);
    const struct dcqcn_params *p = cc->params;
    while (now - s->alpha_at_ps >= p->alpha_timer_ps) {
        s->alpha = s->noted ? alpha_raise(s->alpha, p->g) : alpha_decay(s->alpha, p->g);
        s->noted = false;
        s->alpha_at_ps += p->alpha_timer_ps;
        if (s->alpha == 0)
            s->alpha_at_ps += (now - s->alpha_at_ps) / p->alpha_timer_ps * p->alpha_timer_ps;
    }
}

// ---- increase ----

static void increase_stop(struct cc *cc)
{
    cc->timer_at_ps[TIMER_INCREASE] = PS_NEVER;
    dcqcn_of(cc)->bytes_left = UINT64_MAX;
}

static bool at_line_rate(struct cc *cc)
{
    return cc->rate_bps == cc->env->line_bps && dcqcn_of(cc)->target_bps == cc->env->line_bps;
}

// Reset timer, byte counter and stages, as after every cut.
static void increase_restart(struct cc *cc, ps_t now)
{
    struct dcqcn *s = dcqcn_of(cc);
    const struct dcqcn_params *p = cc->params;
    s->timer_stage = s->byte_stage = 0;
    if (at_line_rate(cc)) {
        increase_stop(cc);
        return;
    }
    cc->timer_at_ps[TIMER_INCREASE] = now + p->rate_timer_ps;
    s->bytes_left = p->byte_counter_bytes > 0 ? p->byte_counter_bytes : UINT64_MAX;
}

// Increase of Rt: eq. 3 to 5, by the stages including the current event.
static uint64_t target_step(struct cc *cc)
{
    const struct dcqcn *s = dcqcn_of(cc);
    const struct dcqcn_params *p = cc->params;
    bool timer_leads = s->timer_stage > s->byte_stage;
    uint64_t lead = timer_leads ? s->timer_stage : s->byte_stage;
    uint64_t lag = timer_leads ? s->byte_stage : s->timer_stage;
    if (lead <= p->f)
        return 0;
    bool hyper = p->hyper == HYPER_LEADING_STAGE ? lead > p->f + 1 : lag > p->f;
    uint64_t step_bps = line_rate_bps(hyper ? p->rate_hai : p->rate_ai, cc->env->line_bps);
    return hyper && p->hyper == HYPER_BOTH_STAGES ? (lag - p->f) * step_bps : step_bps;
}

// One increase event: add the step to Rt, then Rc = (Rt + Rc) / 2.
static void rate_increase(struct cc *cc)
{
    struct dcqcn *s = dcqcn_of(cc);
    uint64_t room_bps = cc->env->line_bps - s->target_bps;
    uint64_t step_bps = target_step(cc);
    s->target_bps += step_bps < room_bps ? step_bps : room_bps;
    cc->rate_bps = (s->target_bps + cc->rate_bps + 1) / 2;
    window_follow(cc);
    if (at_line_rate(cc))
        increase_stop(cc);
}

// ---- cut ----

// Eq. 1: Rt = Rc, Rc = Rc (1 - alpha/2), not below the minimum rates.
static void rate_cut(struct cc *cc, ps_t now)
{
    struct dcqcn *s = dcqcn_of(cc);
    const struct dcqcn_params *p = cc->params;
    if (p->cut_target == TARGET_ALWAYS || s->timer_stage > 0)
        s->target_bps = cc->rate_bps;
    double keep = 1 - s->alpha / 2;
    if (keep < p->min_cut)
        keep = p->min_cut;
    uint64_t rate_bps = (uint64_t)((double)cc->rate_bps * keep);
    cc->rate_bps = rate_bps > s->min_bps ? rate_bps : s->min_bps;
    window_follow(cc);
    increase_restart(cc, now);
}

// Arm the next check on the period grid that began with the first notification.
static void cut_check_arm(struct cc *cc, ps_t now)
{
    const struct dcqcn_params *p = cc->params;
    if (cc->timer_at_ps[TIMER_CUT] != PS_NEVER)
        return;
    ps_t start_ps = dcqcn_of(cc)->start_ps;
    ps_t periods = (now - start_ps) / p->cut_interval_ps + 1;
    cc->timer_at_ps[TIMER_CUT] = start_ps + periods * p->cut_interval_ps;
}

// ---- hooks ----

static void notified(struct cc *cc, ps_t now)
{
    struct dcqcn *s = dcqcn_of(cc);
    const struct dcqcn_params *p = cc->params;
    alpha_catch_up(cc, now);
    if (s->start_ps == PS_NEVER)
        // start of the tick periods; no notification precedes them
        s->start_ps = s->alpha_at_ps = now;
    else if (p->alpha_update == ALPHA_ON_TICK)
        s->noted = true;

    if (p->cut_interval_ps > 0)
        cut_check_arm(cc, now);
    else
        rate_cut(cc, now);

    if (p->alpha_update == ALPHA_ON_CNP) {
        s->alpha = alpha_raise(s->alpha, p->g);
        s->alpha_at_ps = now;
    }
}

static void dcqcn_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    if (ack->ce_bytes > 0)
        notified(cc, ack->now_ps);
}

static void dcqcn_on_signal(struct cc *cc, const struct cc_signal *signal)
{
    if (signal->kind == CC_SIGNAL_CNP)
        notified(cc, signal->now_ps);
}

static void dcqcn_on_send(struct cc *cc, uint32_t wire_bytes, ps_t now)
{
    (void)now;
    struct dcqcn *s = dcqcn_of(cc);
    uint64_t sent = wire_bytes;
    if (s->bytes_left == UINT64_MAX)
        return;
    while (sent >= s->bytes_left) {
        const struct dcqcn_params *p = cc->params;
        sent -= s->bytes_left;
        s->bytes_left = p->byte_counter_bytes;
        s->byte_stage++;
        rate_increase(cc);
    }
    s->bytes_left -= sent;
}

static void dcqcn_on_timer(struct cc *cc, unsigned timer, ps_t now)
{
    struct dcqcn *s = dcqcn_of(cc);
    const struct dcqcn_params *p = cc->params;
    alpha_catch_up(cc, now);
    if (timer == TIMER_CUT) {
        cc->timer_at_ps[TIMER_CUT] = PS_NEVER;
        rate_cut(cc, now);
        return;
    }
    cc->timer_at_ps[TIMER_INCREASE] = now + p->rate_timer_ps;
    s->timer_stage++;
    rate_increase(cc);
}

static void dcqcn_init(struct cc *cc, ps_t now)
{
    (void)now;
    const struct dcqcn_params *p = cc->params;
    uint64_t line_bps = cc->env->line_bps;
    *dcqcn_of(cc) = (struct dcqcn){
        .min_bps = cc_line_rate_bps(cc->env, p->min_rate),
        .target_bps = line_bps,
        .start_ps = PS_NEVER,
        .alpha_at_ps = PS_NEVER,
        .alpha = 1,
        .bytes_left = UINT64_MAX,
    };
    window_follow(cc);
}

static const char *const dcqcn_observed[] = {"alpha", "target_bps", "timer_stage", "byte_stage",
                                             NULL};

// alpha as of its last update, by a notification, cut or timer.
static size_t dcqcn_observe(const struct cc *cc, double *out, size_t cap)
{
    const struct dcqcn *s = (const struct dcqcn *)(const void *)cc->priv;
    const double values[] = {s->alpha, (double)s->target_bps, (double)s->timer_stage,
                             (double)s->byte_stage};
    return cc_observe_values(values, sizeof values / sizeof values[0], out, cap);
}

// Additive increase by the timer; the byte counter is slower at the low rates after a cut.
static struct cc_growth dcqcn_growth(const struct cc *cc)
{
    const struct dcqcn_params *p = cc->params;
    return (struct cc_growth){.step_bps = line_rate_bps(p->rate_ai, cc->env->line_bps),
                              .every_ps = p->rate_timer_ps};
}

extern const struct cc_ops cc_dcqcn;
static const struct cc_extras extras = {
    CC_EXTRAS,
    .growth = dcqcn_growth,
};

const struct cc_ops cc_dcqcn = {
    .contract = CC_CONTRACT,
    .name = "dcqcn",
    .doc = "rate control by congestion notifications: cut by alpha/2, recover by timer and bytes",
    .paper = DCQCN_PAPER,
    .needs = CC_NEEDS_ECN | CC_NEEDS_CNP,
    .params = dcqcn_param_table,
    .n_params = DCQCN_PARAMS,
    .params_bytes = sizeof(struct dcqcn_params),
    .priv_bytes = sizeof(struct dcqcn),
    .presets = dcqcn_presets,
    .n_presets = DCQCN_PRESETS,
    .init = dcqcn_init,
    .on_send = dcqcn_on_send,
    .on_ack = dcqcn_on_ack,
    .on_signal = dcqcn_on_signal,
    .on_timer = dcqcn_on_timer,
    .observe = dcqcn_observe,
    .observed = dcqcn_observed,
    .extras = &extras,
};

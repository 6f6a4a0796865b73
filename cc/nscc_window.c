// SPDX-License-Identifier: MIT
// NSCC: the window after an ACK, a trimmed packet and a timeout.
#include "cc/nscc_window.h"

#define HTSIM "uet-htsim, UEC 1.0 section 3.6.13"
#define REFERENCE_BDP_BYTES 150000.0 // 100 Gb/s * 12 us
#define REFERENCE_RTT_PS (12 * PS_PER_US)

#define FIELD(name) offsetof(struct nscc_params, name)
const struct param nscc_window_params[] = {
    PARAM_ROW("target", TIME, FIELD(target_ps), .def = "auto", .min = "1ns", .max = "1s",
              .can_auto = true,
              .help = "queueing delay above which the window shrinks; auto = 0.75 of the network's "
                      "largest base RTT where switches trim, else 1",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("max_bdp", RATIO, FIELD(max_bdp), .def = "1.5", .min = "0.1", .max = "100",
              .help = "first and largest window, in bandwidth-delay products",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("gamma", RATIO, FIELD(gamma), .def = "0.8", .min = "0", .max = "1",
              .help = "strength of the multiplicative decrease", .evidence = EVIDENCE_DOCUMENTED,
              .source = HTSIM),
    PARAM_ROW("alpha", RATIO, FIELD(alpha), .def = "4", .min = "0", .max = "1000",
              .help = "proportional increase at no delay, packets per RTT at 100 Gb/s and 12 us",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("fi", RATIO, FIELD(fi), .def = "5", .min = "0", .max = "1000",
              .help = "fair increase, packets per RTT at 100 Gb/s and 12 us",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("eta", RATIO, FIELD(eta), .def = "0.15", .min = "0", .max = "1000",
              .help = "packets added in every RTT, at 100 Gb/s and 12 us",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("fast_scale", RATIO, FIELD(fast_scale), .def = "0.25", .min = "0", .max = "100",
              .help = "fast increase: growth per byte delivered, at 100 Gb/s and 12 us",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("fast_limit", TIME, FIELD(fast_limit_ps), .def = "1us", .min = "0ns", .max = "1s",
              .help = "fast increase while the delay is below it", .evidence = EVIDENCE_DOCUMENTED,
              .source = HTSIM),
    PARAM_ROW("delay_weight", RATIO, FIELD(delay_weight), .def = "0.0125", .min = "0.0001",
              .max = "1",
              .help = "weight of a delay in the average, which decides by how much the window "
                      "shrinks",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("qa_delay", RATIO, FIELD(qa_delay), .def = "4", .min = "0", .max = "1000",
              .help = "quick adapt: delay that triggers it, in targets; a trimmed packet does "
                      "too",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW(
        "qa_gate", RATIO, FIELD(qa_gate), .def = "0.125", .min = "0", .max = "1",
        .help =
            "quick adapt: only if less than this share of the largest window was delivered in a "
            "base RTT and a target",
        .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("fulfil_packets", COUNT, FIELD(fulfil_packets), .def = "8", .min = "1",
              .max = "1000000",
              .help = "increases are added to the window after more than these packets, or an "
                      "RTT",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    {0},
};

/* ---- units ---- */

static uint64_t wire_of(const struct nscc *s, uint64_t payload)
{
    return (uint64_t)((double)payload * s->wire_share + 0.5);
}

static void window_set(struct cc *cc, const struct nscc *s)
{
    cc->cwnd_bytes = (uint64_t)((double)s->cwnd_bytes * s->payload_share + 0.5);
}

static void clamp(struct nscc *s)
{
    if (s->cwnd_bytes > s->max_bytes)
        s->cwnd_bytes = s->max_bytes;
    if (s->cwnd_bytes < s->packet_bytes)
        s->cwnd_bytes = s->packet_bytes;
}

/* ---- delay ---- */

// A smaller RTT than all before: it lowers the base RTT, and with it the largest window.
static void base_rtt_lower(const struct cc *cc, struct nscc *s, const struct nscc_params *p,
                           ps_t rtt_ps)
{
    if (rtt_ps >= s->base_rtt_ps)
        return;
    s->base_rtt_ps = rtt_ps;
    s->max_bytes = (uint64_t)(p->max_bdp * ((double)cc->env->line_bps * (double)rtt_ps / 8e12));
}

static void delay_average(struct nscc *s, const struct nscc_params *p, ps_t sample_ps)
{
    double mean =
        p->delay_weight * (double)sample_ps + (1 - p->delay_weight) * (double)s->mean_delay_ps;
    s->mean_delay_ps = (ps_t)mean;
}

/* ---- destination flow control ---- */

// Returns true if the ACK carries a penalty: the receiver requests a smaller window.
static bool penalised(struct nscc *s, const struct cc_ack *ack, uint64_t bytes)
{
    if (ack->penalty == 0) {
        if (ack->restore && s->saved_bytes > s->cwnd_bytes)
            s->cwnd_bytes = s->saved_bytes;
        s->saved_bytes = ack->restore ? 0 : s->saved_bytes;
        return false;
    }
    uint64_t in_flight = wire_of(s, ack->inflight_bytes) + bytes;
    uint64_t less = ack->penalty * bytes >> 7;
    if (s->saved_bytes == 0)
        s->saved_bytes = s->cwnd_bytes;
    if (s->cwnd_bytes > in_flight)
        s->cwnd_bytes = in_flight;
    s->cwnd_bytes -= less < s->cwnd_bytes ? less : s->cwnd_bytes;
    clamp(s);
    return true;
}

/* ---- quick adapt ---- */

// Returns true if the event is used up: it starts quick adapt, or belongs to packets sent before.
static bool quick_adapt(struct nscc *s, const struct nscc_params *p, bool trimmed, bool marked,
                        ps_t delay_ps, uint64_t inflight, ps_t now)
{
    bool used = s->ignored_bytes < s->ignore_bytes && marked;
    if (!used && now > s->qa_end_ps) {
        bool asked = s->qa_due || trimmed || delay_ps > s->qa_delay_ps;
        if (s->qa_end_ps != 0 && asked &&
            (double)s->achieved_bytes < (double)s->max_bytes * p->qa_gate) {
            s->cwnd_bytes = s->achieved_bytes;
            clamp(s);
            s->ignore_bytes = inflight;
            s->ignored_bytes = 0;
            s->qa_due = false;
            used = true;
        }
        s->achieved_bytes = 0;
        s->qa_end_ps = now + s->base_rtt_ps + s->target_ps;
    }
    if (used)
        s->increase = s->received_bytes = 0;
    return used;
}

/* ---- increase and decrease ---- */

static bool fast_increase(struct nscc *s, const struct nscc_params *p, uint64_t bytes,
                          ps_t delay_ps)
{
    if (delay_ps >= p->fast_limit_ps) {
        s->fast_bytes = 0;
        return s->fast = false;
    }
    s->fast_bytes += bytes;
    s->fast = s->fast || s->fast_bytes > s->cwnd_bytes;
    if (s->fast)
        s->cwnd_bytes += (uint64_t)((double)bytes * s->fast_scale);
    return s->fast;
}

static void proportional_increase(struct nscc *s, const struct nscc_params *p, uint64_t bytes,
                                  ps_t delay_ps)
{
    if (!fast_increase(s, p, bytes, delay_ps))
        s->increase = (uint64_t)((double)s->increase +
                                 s->alpha * (double)bytes * (double)(s->target_ps - delay_ps));
}

static void decrease(struct nscc *s, const struct nscc_params *p, ps_t now)
{
    s->fast = false;
    s->fast_bytes = 0;
    if (s->mean_delay_ps <= s->target_ps || now - s->decreased_ps <= s->base_rtt_ps)
        return;
    double keep =
        1 - p->gamma * (double)(s->mean_delay_ps - s->target_ps) / (double)s->mean_delay_ps;
    s->cwnd_bytes = (uint64_t)((double)s->cwnd_bytes * (keep > 0.5 ? keep : 0.5));
    s->decreased_ps = now;
}

// Add the collected increases to the window, and `eta` at most once per RTT.
static void fulfil(struct nscc *s, ps_t now)
{
    bool rtt_over = now - s->fulfilled_ps >= s->network_rtt_ps;
    if (s->received_bytes <= s->fulfil_bytes && now - s->fulfilled_ps <= s->network_rtt_ps)
        return;
    s->cwnd_bytes += s->increase / s->cwnd_bytes;
    if (rtt_over) {
        s->cwnd_bytes = (uint64_t)((double)s->cwnd_bytes + s->eta);
        s->fulfilled_ps = now;
    }
    s->increase = s->received_bytes = 0;
}

/* ---- events ---- */

void nscc_window_ack(struct cc *cc, struct nscc *s, const struct nscc_params *p,
                     const struct cc_ack *ack)
{
    uint64_t bytes = wire_of(s, ack->acked_bytes);
    s->achieved_bytes += bytes;
    s->received_bytes += bytes;
    s->ignored_bytes += bytes;
    bool limited = penalised(s, ack, bytes);
    ps_t delay_ps = s->mean_delay_ps;
    if (ack->rtt_ps > 0) {
        base_rtt_lower(cc, s, p, ack->rtt_ps);
        delay_ps = ack->rtt_ps - s->base_rtt_ps;
    }
    // An unmarked packet with a long delay was delayed elsewhere than in a queue that marks.
    bool odd = !ack->ce && delay_ps > s->target_ps;
    delay_average(s, p, odd ? s->base_rtt_ps / 4 : delay_ps);
    if (!quick_adapt(s, p, false, ack->ce, delay_ps, wire_of(s, ack->inflight_bytes),
                     ack->now_ps)) {
        if (delay_ps >= s->target_ps && ack->ce)
            decrease(s, p, ack->now_ps);
        else if (delay_ps >= s->target_ps && !limited)
            s->increase = (uint64_t)((double)s->increase + s->fi * (double)bytes);
        else if (!ack->ce && !limited)
            proportional_increase(s, p, bytes, delay_ps);
        clamp(s);
        fulfil(s, ack->now_ps);
    }
    clamp(s);
    window_set(cc, s);
}

// The delay of a trimmed packet counts as one RTT of the network: the queue was full.
static void on_trim(struct cc *cc, struct nscc *s, const struct nscc_params *p,
                    const struct cc_signal *signal)
{
    uint64_t bytes = wire_of(s, signal->bytes);
    s->ignored_bytes += bytes;
    if (signal->rtt_ps > 0)
        base_rtt_lower(cc, s, p, signal->rtt_ps);
    delay_average(s, p, s->network_rtt_ps);
    s->qa_due = true;
    if (!quick_adapt(s, p, true, true, 0, wire_of(s, signal->inflight_bytes), signal->now_ps) &&
        !(s->spares_last_hop && signal->last_hop))
        s->cwnd_bytes -= bytes < s->cwnd_bytes ? bytes : s->cwnd_bytes;
}

void nscc_window_signal(struct cc *cc, struct nscc *s, const struct nscc_params *p,
                        const struct cc_signal *signal)
{
    if (signal->kind == CC_SIGNAL_TRIM) {
        on_trim(cc, s, p, signal);
    } else if (signal->kind == CC_SIGNAL_TIMEOUT) {
        uint64_t bytes = wire_of(s, signal->bytes);
        s->cwnd_bytes -= bytes < s->cwnd_bytes ? bytes : s->cwnd_bytes;
    }
    clamp(s);
    window_set(cc, s);
}

void nscc_window_init(struct cc *cc, struct nscc *s, const struct nscc_params *p,
                      bool spares_last_hop)
{
    const struct cc_env *env = cc->env;
    ps_t rtt_ps = env->global_rtt_ps > 0 ? env->global_rtt_ps : env->base_rtt_ps;
    double bdp = (double)(uint64_t)((double)env->line_bps * (double)rtt_ps / 8e12);
    double a = bdp / REFERENCE_BDP_BYTES, packet = env->mtu_bytes;
    ps_t target_ps = p->target_ps;
    if (target_ps == PARAM_AUTO_TIME)
        target_ps = env->trims ? rtt_ps * 3 / 4 : rtt_ps;
    *s = (struct nscc){
        .network_rtt_ps = rtt_ps,
        .target_ps = target_ps,
        .qa_delay_ps = (ps_t)(p->qa_delay * (double)target_ps),
        .alpha = p->alpha * packet * a * ((double)target_ps / (double)REFERENCE_RTT_PS) /
                 (double)target_ps,
        .fi = p->fi * packet * a,
        .eta = p->eta * packet * a,
        .fast_scale = p->fast_scale * a,
        .packet_bytes = env->full_wire_bytes,
        .payload_share = cc_payload_share(env),
        .wire_share = 1 / cc_payload_share(env),
        .fulfil_bytes = p->fulfil_packets * env->full_wire_bytes,
        .spares_last_hop = spares_last_hop,
        .max_bytes = (uint64_t)(p->max_bdp * bdp),
        .base_rtt_ps = rtt_ps,
    };
    s->cwnd_bytes = s->max_bytes;
    clamp(s);
    window_set(cc, s);
}

const char *const nscc_observed[] = {"window_wire_bytes", "max_wire_bytes", "mean_delay_us",
                                     "base_rtt_us", NULL};

size_t nscc_window_observe(const struct nscc *s, double *out, size_t cap)
{
    const double values[] = {(double)s->cwnd_bytes, (double)s->max_bytes,
                             (double)s->mean_delay_ps / (double)PS_PER_US,
                             (double)s->base_rtt_ps / (double)PS_PER_US};
    return cc_observe_values(values, sizeof values / sizeof values[0], out, cap);
}

// SPDX-License-Identifier: MIT
// RTT samples, gradient, thresholds and limits of the TIMELY policies.
#include "cc/timely_common.h"

#define MIN_RTT_AUTO_PS (20 * PS_PER_US)

static const char *const threshold_words[] = {"above_base", "absolute", NULL};
static const char *const update_words[] = {"segment", "rtt", NULL};
static const char *const step_words[] = {"elapsed", "full", NULL};

const struct param timely_gain_params[] = {
    PARAM_ROW("alpha", RATIO, TIMELY_FIELD(alpha), .def = "0.875", .min = "0.001", .max = "1",
              .help = "weight of the newest RTT difference in the gradient",
              .evidence = EVIDENCE_DOCUMENTED, .source = TIMELY_CONEXT ", section 4.1"),

    {.name = NULL},
};

const struct param timely_law_params[] = {
    PARAM_ROW("min_cut", RATIO, TIMELY_FIELD(min_cut), .def = "0.5", .min = "0", .max = "1",
              .help = "least ratio of the rates after and before a decrease",
              .evidence = EVIDENCE_DOCUMENTED, .source = TIMELY_CODE),
    PARAM_ROW("delta", LINE_RATE, TIMELY_FIELD(delta), .def = "line/1000", .min = "1Kbps",
              .help = "additive increase", .evidence = EVIDENCE_ESTIMATED,
              .source = TIMELY_PAPER ", section 6: 10 Mb/s at 10G"),
    PARAM_ROW("t_low", TIME, TIMELY_FIELD(t_low_ps), .def = "50us", .min = "0ns", .max = "1s",
              .help = "RTT below which the rate only grows", .evidence = EVIDENCE_DOCUMENTED,
              .source = TIMELY_PAPER ", section 6"),
    PARAM_ROW("t_high", TIME, TIMELY_FIELD(t_high_ps), .def = "500us", .min = "1ns", .max = "1s",
              .help = "RTT above which the rate only shrinks", .evidence = EVIDENCE_DOCUMENTED,
              .source = TIMELY_PAPER ", section 6"),
    PARAM_ROW(
        "thresholds", ENUM, TIMELY_FIELD(thresholds), .def = "above_base",
        .choices = threshold_words,
        .help =
            "above_base: t_low and t_high are counted above the base RTT of the pair; absolute: "
            "as is",
        .evidence = EVIDENCE_ESTIMATED,
        .source = "the paper's absolute values assume a short base RTT"),
    PARAM_ROW(
        "min_rtt", TIME, TIMELY_FIELD(min_rtt_ps), .def = "auto", .min = "1ns", .max = "1s",
        .can_auto = true,
        .help =
            "unit of the gradient and of elapsed steps; auto = base RTT of the pair, at least 20us",
        .evidence = EVIDENCE_ESTIMATED,
        .source = TIMELY_CONEXT
        ", section 4.1 (20us); far below t_low R swings and leaves the line idle"),
    PARAM_ROW("segment", BYTES, TIMELY_FIELD(segment_bytes), .def = "16KB", .min = "1B",
              .max = "1GB", .help = "acknowledged bytes per sample, 1B = every ACK",
              .evidence = EVIDENCE_DOCUMENTED, .source = TIMELY_PAPER ", section 6"),
    PARAM_ROW("update", ENUM, TIMELY_FIELD(update), .def = "segment", .choices = update_words,
              .help = "a sample per segment, or per round trip of packets (segment is then "
                      "unused)",
              .evidence = EVIDENCE_DOCUMENTED,
              .source = TIMELY_PAPER ", algorithm 1; HPCC ns-3 sources"),
    PARAM_ROW(
        "step", ENUM, TIMELY_FIELD(step), .def = "elapsed", .choices = step_words,
        .help = "elapsed: a step counts as the time since the last sample over min_rtt, at most "
                "1; full: 1",
        .evidence = EVIDENCE_DOCUMENTED, .source = TIMELY_CODE "; " TIMELY_CONEXT ", section 4.1"),
    PARAM_ROW("min_rate", LINE_RATE, TIMELY_FIELD(min_rate), .def = "line/1000", .min = "1Kbps",
              .help = "floor of the rate", .evidence = EVIDENCE_ESTIMATED,
              .source = TIMELY_CODE " has one; the paper is silent"),
    {.include = cc_idle_restart_params, .offset = TIMELY_FIELD(idle_restart_ps)},
    {.include = cc_cap_params, .offset = TIMELY_FIELD(window)},
    {.name = NULL},
};

static ps_t min_rtt_of(const struct timely_params *p, const struct cc_env *env)
{
    if (p->min_rtt_ps != PARAM_AUTO_TIME)
        return p->min_rtt_ps;
    return env->base_rtt_ps > MIN_RTT_AUTO_PS ? env->base_rtt_ps : MIN_RTT_AUTO_PS;
}

void timely_begin(struct cc *cc, struct timely_state *s)
{
    const struct timely_params *p = cc->params;
    const struct cc_env *env = cc->env;
    ps_t from_ps = p->thresholds == TIMELY_ABOVE_BASE ? env->base_rtt_ps : 0;
    *s = (struct timely_state){
        .delta_bps = line_rate_bps(p->delta, env->line_bps),
        .min_bps = cc_line_rate_bps(env, p->min_rate),
        .t_low_ps = from_ps + p->t_low_ps,
        .t_high_ps = from_ps + p->t_high_ps,
        .min_rtt_ps = min_rtt_of(p, env),
        .packet_ps = cc_packet_ps(env),
        .rtt_ps = PS_NEVER,
    };
    timely_rate_set(cc, s, (double)env->line_bps);
}

void timely_drop_samples(struct timely_state *s)
{
    s->rtt_ps = PS_NEVER;
    s->gradient = 0;
}

// True if this ACK completes a segment, or (one sample per RTT) all data in flight at the last
// sample.
static bool ack_completes(struct timely_state *s, const struct timely_params *p,
                          const struct cc_ack *ack)
{
    if (p->update == TIMELY_PER_RTT) {
        if (ack->seq <= s->progress)
            return false;
        s->progress = ack->snd_nxt;
        return true;
    }
    s->progress += ack->acked_bytes;
    if (s->progress < p->segment_bytes)
        return false;
    s->progress %= p->segment_bytes;
    return true;
}

// Algorithm 1, lines 1 to 4, in units of min_rtt: g = (1 - alpha) g + alpha (RTT - RTTprev).
static double gradient_next(const struct timely_state *s, double alpha, ps_t rtt_ps)
{
    double change = (double)(rtt_ps - s->rtt_ps) / (double)s->min_rtt_ps;
    return (1 - alpha) * s->gradient + alpha * change;
}

static double step_of(const struct timely_state *s, int step, ps_t now)
{
    ps_t elapsed_ps = now - s->sampled_ps;
    if (step == TIMELY_STEP_FULL || elapsed_ps >= s->min_rtt_ps)
        return 1;
    return (double)elapsed_ps / (double)s->min_rtt_ps;
}

bool timely_sample(struct cc *cc, struct timely_state *s, const struct cc_ack *ack)
{
    const struct timely_params *p = cc->params;
    if (!ack_completes(s, p, ack))
        return false;
    ps_t rtt_ps = ack->rtt_ps > s->packet_ps ? ack->rtt_ps - s->packet_ps : 0;
    bool first = s->rtt_ps == PS_NEVER;
    if (!first) {
        s->gradient = gradient_next(s, p->alpha, rtt_ps);
        s->change_ps = rtt_ps - s->rtt_ps;
        s->step = step_of(s, p->step, ack->now_ps);
    }
    s->rtt_ps = rtt_ps;
    s->sampled_ps = ack->now_ps;
    return !first;
}

// Algorithm 1, lines 6 and 10: R + n delta.
void timely_increase(struct cc *cc, const struct timely_state *s, double n)
{
    timely_rate_set(cc, s, (double)cc->rate_bps + s->step * n * (double)s->delta_bps);
}

// Algorithm 1, line 8: R (1 - beta (1 - t_high / RTT)).
void timely_retreat(struct cc *cc, const struct timely_state *s)
{
    const struct timely_params *p = cc->params;
    double excess = 1 - (double)s->t_high_ps / (double)s->rtt_ps;
    timely_decrease(cc, s, 1 - s->step * p->beta * excess);
}

void timely_decrease(struct cc *cc, const struct timely_state *s, double keep)
{
    const struct timely_params *p = cc->params;
    timely_rate_set(cc, s, (double)cc->rate_bps * (keep > p->min_cut ? keep : p->min_cut));
}

void timely_rate_set(struct cc *cc, const struct timely_state *s, double bps)
{
    const struct timely_params *p = cc->params;
    if (bps >= (double)cc->env->line_bps)
        cc->rate_bps = cc->env->line_bps;
    else if (bps <= (double)s->min_bps)
        cc->rate_bps = s->min_bps;
    else
        cc->rate_bps = (uint64_t)(bps + 0.5);
    cc->cwnd_bytes = cc_cap_bytes(cc->env, &p->window, cc->rate_bps);
}

double timely_rtt_us(const struct timely_state *s)
{
    return s->rtt_ps == PS_NEVER ? 0 : (double)s->rtt_ps / (double)PS_PER_US;
}

const char *timely_check(const void *params)
{
    const struct timely_params *p = params;
    return p->t_low_ps <= p->t_high_ps ? NULL : "t_low must not be above t_high";
}

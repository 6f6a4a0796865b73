// SPDX-License-Identifier: MIT
// PowerTCP's window law.
//
// Sources: Addanki, Michel, Schmid, NSDI 2022, algorithms 1 and 2. The authors' ns-3 and Linux
// sources (inet-tub/ns3-datacenter, inet-tub/powertcp-linux) for what the paper leaves open: a
// sample has a weight of at most one tau, Gs begins at 1, and W has a maximum.
#include "cc/powertcp_common.h"

// ---- parameters ----

#define FIELD(name) offsetof(struct power_params, name)

const struct param power_law_params[] = {
    PARAM_ROW("gamma", RATIO, FIELD(gamma), .def = "0.9", .min = "0.001", .max = "1",
              .help = "weight of the new window against the current one",
              .evidence = EVIDENCE_DOCUMENTED, .source = "Addanki et al., NSDI 2022"),
    PARAM_ROW("expected_flows", COUNT, FIELD(expected_flows), .def = "10", .min = "1",
              .max = "1000000",
              .help = "N: a flow adds 1/N of its BDP per round trip, so n flows queue n/N of it",
              .evidence = EVIDENCE_DOCUMENTED,
              .source = "Addanki et al., NSDI 2022; 10 in the authors' Linux sources"),
    PARAM_ROW("max_window", RATIO, FIELD(max_bdp), .def = "1", .min = "0.001", .max = "1000",
              .help = "bound of the window in bandwidth-delay products of the pair (wire bytes)",
              .evidence = EVIDENCE_DOCUMENTED, .source = "the authors' Linux sources"),
    {.include = cc_idle_restart_params, .offset = FIELD(idle_restart_ps)},
    {.name = NULL},
};

// ---- outputs ----

static void window_set(struct cc *cc, struct power *s, double bytes)
{
    s->window_bytes = bytes < s->max_bytes ? bytes : s->max_bytes;
    uint64_t payload_bytes = (uint64_t)(s->window_bytes * cc_payload_share(cc->env));
    // at least one byte: one packet at a time, paced
    cc->cwnd_bytes = (payload_bytes > 0 ? payload_bytes : 1) + cc_held_bytes(cc->env);
    cc->rate_bps = cc_rate_of(cc->env, s->window_bytes, cc->env->base_rtt_ps);
}

void power_begin(struct cc *cc, struct power *s)
{
    const struct power_params *p = cc->params;
    double bdp_bytes = (double)cc->env->line_bps * (double)cc->env->base_rtt_ps / 8e12;
    *s = (struct power){
        .beta_bytes = bdp_bytes / (double)p->expected_flows,
        .max_bytes = bdp_bytes * p->max_bdp,
        .smoothed = 1,
        .sample = 1,
    };
    window_set(cc, s, bdp_bytes);
    s->old_bytes = s->begin_bytes = s->end_bytes = s->window_bytes;
}

// ---- the law ----

// keeps the division finite; W is at its maximum for much larger powers already
#define POWER_LEAST 0x1p-10

// The weight of a sample over `dt` in an average over tau.
static double weight_of(const struct cc *cc, ps_t dt)
{
    double weight = (double)dt / (double)cc->env->base_rtt_ps;
    return weight < 1 ? weight : 1;
}

// NORMPOWER, smoothing: Gs = (Gs (tau - dt) + G dt) / tau.
void power_sample(const struct cc *cc, struct power *s, double sample, ps_t dt)
{
    s->sample = sample;
    s->smoothed += (sample - s->smoothed) * weight_of(cc, dt);
}

void power_round_first(struct power *s, const struct cc_ack *ack)
{
    s->round_begin = s->round_end = ack->snd_nxt;
    s->begin_bytes = s->end_bytes = s->old_bytes = s->window_bytes;
}

bool power_round_over(const struct power *s, const struct cc_ack *ack)
{
    return ack->snd_una > s->round_end;
}

void power_round_turn(struct power *s, const struct cc_ack *ack)
{
    s->round_begin = s->round_end;
    s->round_end = ack->snd_nxt;
    s->begin_bytes = s->end_bytes;
    s->end_bytes = s->window_bytes;
}

void power_old_window(const struct cc *cc, struct power *s, const struct cc_ack *ack, ps_t dt)
{
    double sent_bytes = s->end_bytes;
    if (ack->snd_una < s->round_end && s->round_begin < s->round_end) {
        double into = ack->snd_una > s->round_begin ? (double)(ack->snd_una - s->round_begin) : 0;
        double share = into / (double)(s->round_end - s->round_begin);
        sent_bytes = s->begin_bytes + share * (s->end_bytes - s->begin_bytes);
    }
    s->old_bytes += (sent_bytes - s->old_bytes) * weight_of(cc, dt);
}

// UPDATEWINDOW: W = gamma (W_old/Gs + beta) + (1 - gamma) W, where W_old also replaces the last W.
void power_window_update(struct cc *cc, struct power *s, double power, double old_bytes)
{
    const struct power_params *p = cc->params;
    double target_bytes = old_bytes / (power > POWER_LEAST ? power : POWER_LEAST);
    window_set(cc, s, p->gamma * (target_bytes + s->beta_bytes) + (1 - p->gamma) * old_bytes);
}

// ---- idle restart ----

enum cc_idle power_idle(const struct cc *cc, const struct cc_post *post)
{
    const struct power_params *p = cc->params;
    return cc_idle_after(cc, post->idle_ps, p->idle_restart_ps);
}

// ---- time series ----

const char *const power_observed[] = {"power", "sample", "window_wire_bytes", NULL};

size_t power_observe(const struct power *s, double *out, size_t cap)
{
    const double values[] = {s->smoothed, s->sample, s->window_bytes};
    return cc_observe_values(values, sizeof values / sizeof values[0], out, cap);
}

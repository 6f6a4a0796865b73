// SPDX-License-Identifier: MIT
// TIMELY: rate control of RoCE queue pairs by the RTT and its gradient.
//
// Each sample (cc/timely_common.h) has one effect. Below t_low the rate R grows by delta; above
// t_high it decreases in proportion to the excess; between them it depends on the gradient g: R
// grows by N delta if g <= 0, and decreases by beta g if g > 0. N is 5 if the last five samples,
// including the current one, had g <= 0 (hyperactive increase), else 1.
//
//   scaled    steps scaled to the line, thresholds above the pair's base RTT. The gradient's weight
//             alpha, .875, is that of CoNEXT 2016; t_low 50 us is that of the paper for bursts of
//             64 KB.
//   paper     the constants of section 6; alpha as in scaled, since the paper gives none; a
//             decrease is limited by min_rate only
//   snippet   values that the authors published later and recommend: alpha .02, t_low 0 if packets
//             are paced individually, as they are here (50 us is for messages of 64 KB), t_high 1
//             ms, a sample with every ACK, and hyperactive increase after five RTTs in a row that
//             were each below the previous one (their raw difference, not g). With this alpha g
//             changes slowly: the rate reacts to trends over dozens of samples. Its minimum network
//             RTT is min_rtt here.
//   hpcc_sim  the ns-3 model of the HPCC lineage (rdma-hw.cc): a sample per round trip, unscaled
//             steps; every increase counts for hyperactive increase, which begins with the sixth in
//             a row. (Its RTT includes the packet's own serialization, which is small against its
//             thresholds.)
//
// There is no fixed point of the queue: R always changes, and the shares of competing flows need
// not become equal (CoNEXT 2016, section 4.2). timely_patched solves both problems. If segments are
// shorter than min_rtt (two flows at 100G), elapsed steps make the shares equal; the queue still
// oscillates.
// Left out: a message's last, shorter segment completes with the next message; NACKs and timeouts
// have no effect.
// Differs: a flow starts at line rate, like every RoCE policy here, not at the share C / (N + 1) of
// N flows of a sender; packets are paced, not bursts of 16 or 64 KB.
//
// Sources: Mittal et al., SIGCOMM 2015, algorithm 1 and sections 3 to 6; the authors' published
// code, timely-code-snippet.cc (limit of a decrease, elapsed steps, counting the current sample);
// Zhu et al., CoNEXT 2016, section 4.
#include "cc/timely_common.h"

enum hai_counts { HAI_COUNTS_GRADIENT, HAI_COUNTS_INCREASES, HAI_COUNTS_FALLS };

struct timely_own_params {
    struct timely_params common;
    uint64_t hai_after;
    double hai_factor;
    int hai_counts; // enum hai_counts
};

struct timely {
    struct timely_state common;
    uint64_t streak; // consecutive samples that count for hyperactive increase
};

// ---- parameters ----

static const char *const hai_count_words[] = {"gradient", "increases", "falls", NULL};

#define FIELD(name) offsetof(struct timely_own_params, name)

static const struct param timely_param_table[] = {
    {.include = timely_gain_params},
    PARAM_ROW("beta", RATIO, TIMELY_FIELD(beta), .def = "0.8", .min = "0", .max = "1",
              .help = "strength of multiplicative decrease", .evidence = EVIDENCE_DOCUMENTED,
              .source = TIMELY_PAPER ", section 6"),
    {.include = timely_law_params},
    PARAM_ROW("hai_after", COUNT, FIELD(hai_after), .def = "5", .min = "1", .max = "1000000",
              .help = "samples in a row that make an increase hyperactive, the one at hand "
                      "included",
              .evidence = EVIDENCE_DOCUMENTED, .source = TIMELY_PAPER ", algorithm 1"),
    PARAM_ROW("hai_factor", RATIO, FIELD(hai_factor), .def = "5", .min = "1", .max = "1000",
              .help = "deltas of a hyperactive increase (N)", .evidence = EVIDENCE_DOCUMENTED,
              .source = TIMELY_PAPER ", algorithm 1"),
    PARAM_ROW("hai_counts", ENUM, FIELD(hai_counts), .def = "gradient", .choices = hai_count_words,
              .help =
                  "gradient: samples with g <= 0 count, and increases above t_low are hyperactive; "
                  "increases: every increase counts and may be so; falls: as gradient, of samples "
                  "whose RTT is below the one before",
              .evidence = EVIDENCE_DOCUMENTED,
              .source = TIMELY_PAPER ", algorithm 1; HPCC ns-3 sources; " TIMELY_CODE),
};

static const struct cc_preset_value paper_values[] = {
    {"delta", "10Mbps"}, {"thresholds", "absolute"}, {"min_rtt", "20us"}, {"min_cut", "0"}};

static const struct cc_preset_value snippet_values[] = {
    {"alpha", "0.02"}, {"thresholds", "absolute"}, {"t_low", "0us"},
    {"t_high", "1ms"}, {"segment", "1B"},          {"hai_counts", "falls"}};

static const struct cc_preset_value hpcc_sim_values[] = {
    {"thresholds", "absolute"},  {"min_rtt", "20us"}, {"min_cut", "0"}, {"hai_after", "6"},
    {"hai_counts", "increases"}, {"update", "rtt"},   {"step", "full"}, {"min_rate", "line/100"}};

#define VALUES(array) .values = (array), .n_values = sizeof(array) / sizeof(array)[0]

static const struct cc_basis paper_bases[] = {
    {"delta thresholds", EVIDENCE_DOCUMENTED, TIMELY_PAPER ", section 6"},
    {"min_rtt", EVIDENCE_DOCUMENTED, TIMELY_CONEXT ", section 4.1"},
    {"min_cut", EVIDENCE_DOCUMENTED, TIMELY_PAPER ", algorithm 1: no limit"},
};

static const struct cc_basis snippet_bases[] = {
    {"alpha thresholds t_low t_high segment hai_counts", EVIDENCE_DOCUMENTED, TIMELY_CODE},
};

static const struct cc_basis hpcc_sim_bases[] = {
    {"thresholds min_rtt min_cut hai_after hai_counts update step", EVIDENCE_DOCUMENTED,
     "HPCC ns-3 sources, rdma-hw.cc"},
    {"min_rate", EVIDENCE_DOCUMENTED, "HPCC ns-3 sources, run.py"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset timely_presets[] = {
    {.name = "scaled",
     .doc = "steps scaled to the line, thresholds above the pair's base RTT",
     .holds_bps = CC_GBPS(400)},
    {.name = "paper",
     .doc = "SIGCOMM 2015 to the letter, for 10G",
     BASES(paper_bases),
     VALUES(paper_values)},
    {.name = "snippet",
     .doc = "the constants and the code that the paper's authors published",
     .holds_bps = CC_GBPS(100),
     BASES(snippet_bases),
     VALUES(snippet_values)},
    {.name = "hpcc_sim",
     .doc = "the ns-3 model of the HPCC lineage",
     BASES(hpcc_sim_bases),
     VALUES(hpcc_sim_values)},
};

static struct timely *timely_of(struct cc *cc) { return (struct timely *)(void *)cc->priv; }

// ---- the law ----

static bool rate_grows(const struct timely_state *s)
{
    return s->rtt_ps < s->t_low_ps || (s->rtt_ps <= s->t_high_ps && s->gradient <= 0);
}

static void streak_update(struct cc *cc)
{
    const struct timely_own_params *p = cc->params;
    struct timely *s = timely_of(cc);
    bool counts = p->hai_counts == HAI_COUNTS_INCREASES ? rate_grows(&s->common)
                  : p->hai_counts == HAI_COUNTS_FALLS   ? s->common.change_ps < 0
                                                        : s->common.gradient <= 0;
    s->streak = counts ? s->streak + 1 : 0;
}

// N of algorithm 1, lines 6 and 10.
static double increase_factor(const struct timely *s, const struct timely_own_params *p)
{
    bool may = p->hai_counts == HAI_COUNTS_INCREASES || s->common.rtt_ps >= s->common.t_low_ps;
    return may && s->streak >= p->hai_after ? p->hai_factor : 1;
}

// Algorithm 1.
static void timely_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    const struct timely_own_params *p = cc->params;
    struct timely *s = timely_of(cc);
    if (!timely_sample(cc, &s->common, ack))
        return;
    streak_update(cc);
    if (rate_grows(&s->common))
        timely_increase(cc, &s->common, increase_factor(s, p));
    else if (s->common.rtt_ps > s->common.t_high_ps)
        timely_retreat(cc, &s->common);
    else
        timely_decrease(cc, &s->common, 1 - p->common.beta * s->common.gradient); // line 12
}

// ---- hooks ----

static void timely_init(struct cc *cc, ps_t now)
{
    (void)now;
    timely_begin(cc, &timely_of(cc)->common);
    timely_of(cc)->streak = 0;
}

static void timely_on_post(struct cc *cc, const struct cc_post *post)
{
    const struct timely_own_params *p = cc->params;
    enum cc_idle idle = cc_idle_after(cc, post->idle_ps, p->common.idle_restart_ps);
    if (idle == CC_IDLE_RESTART) {
        timely_init(cc, post->now_ps);
    } else if (idle == CC_IDLE_DROP_SAMPLES) {
        timely_drop_samples(&timely_of(cc)->common);
        timely_of(cc)->streak = 0;
    }
}

static const char *const timely_observed[] = {"rtt_us", "gradient", "streak", NULL};

static size_t timely_observe(const struct cc *cc, double *out, size_t cap)
{
    const struct timely *s = (const struct timely *)(const void *)cc->priv;
    const double values[] = {timely_rtt_us(&s->common), s->common.gradient, (double)s->streak};
    return cc_observe_values(values, sizeof values / sizeof values[0], out, cap);
}

extern const struct cc_ops cc_timely;
const struct cc_ops cc_timely = {
    .contract = CC_CONTRACT,
    .name = "timely",
    .doc = "rate control by the RTT and its gradient",
    .paper = TIMELY_PAPER,
    .needs = CC_NEEDS_PACING,
    .params = timely_param_table,
    .n_params = sizeof timely_param_table / sizeof timely_param_table[0],
    .params_bytes = sizeof(struct timely_own_params),
    .priv_bytes = sizeof(struct timely),
    .presets = timely_presets,
    .n_presets = sizeof timely_presets / sizeof timely_presets[0],
    .init = timely_init,
    .on_post = timely_on_post,
    .on_ack = timely_on_ack,
    .observe = timely_observe,
    .observed = timely_observed,
    .check = timely_check,
};

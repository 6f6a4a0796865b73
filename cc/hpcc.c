// SPDX-License-Identifier: MIT
// HPCC: a window computed from the bytes in flight that switches report (in-band telemetry).
//
// Every ACK carries a record of each switch port on the path: time of departure, bytes sent, queue.
// Two records of a port give its rate and standing queue, hence the normalised bytes in flight u; U
// is the moving average of the largest u of the path. The control target is U = eta: the window is
// divided by U/eta if U is above eta, or after max_stage additive steps; otherwise it grows by
// W_AI. The reference window Wc is updated once per RTT, W at every ACK, and packets are paced at R
// = W/T.
//
// W and W_AI are wire bytes, like B T, the records and the pace; the transport gets W times the
// payload share of a full packet.
//
// With W_AI = B T (1 - eta)/N, N flows add no more than the room above eta. N is `expected_flows`,
// but at most the number of packets (L wire bytes each) in B T, so W_AI >= (1 - eta) L, for two
// reasons:
// - more than B T/L flows cannot be in flight without a queue, since each has at least one
//   packet;
// - the step must exceed the effect of one packet more or less in a record. U is measured in
//   packets, with an error of L/(B T). An error of that size changes the share W of a flow by W
//   L/(B T), which is L/n for n equal flows, and the rule "divide at once, multiply after
//   max_stage" gives such errors a downward bias, most for small windows, which see few records.
//   W_AI is the only force towards equal shares. With N = 100 and 14 packets of 4096 B in B T,
//   W_AI is L/140, and four flows remain at 6, 6, 7 and 71 % of the line.
// If n flows share a link, W (1 - eta/U) = W_AI and the sum of W is U B T, so U = eta + n W_AI/(B
// T): for n > B T/L flows there is a standing queue of (n L/(B T) - 1)(1 - eta) B T.
// tests/theory/test_hpcc.c covers the grid.
//
// Against ns-3: two long flows from one instant end here together (Jain's index 1.000), and the
// last one when it does there (-0.1 %), but their mean is 9.2 % later than there. For a mean of
// 1/1.092 of the end, the first flow ends at 2/1.092 - 1 = 83 % of it: one has 60 % of the link
// there, the other 40 %. So the pair measures how the authors' simulator shares, not how long the
// work takes.
//
// With `pint` switches compute the average themselves and a packet carries one byte, the largest U.
//
// Rules that the paper leaves open: U begins at 1, and the first ACK of a flow only sets the
// reference, as in the authors' simulator; W stays within [min_rate * T, B * T]. If a path changes
// (another port at a hop), that hop gets a new reference. The queue counts frames, the sent bytes
// include the inter-frame gap and preamble.
// Idle restart: the window is kept; references are dropped after an idle time of one base RTT,
// since a rate measured over the idle time does not reflect the present; `idle_restart` can restart
// the flow.
// Left out: reaction to loss (a lossless fabric); per-hop rates (the authors' "multi-rate"
// variant).
//
// Sources: Li et al., SIGCOMM 2019, algorithm 1 and section 3.3; authors' ns-3 sources; Ben Basat
// et al., SIGCOMM 2020 (PINT).
#include "collwire/cc.h"

enum reference_rtt { RTT_PAIR, RTT_GLOBAL };

struct hpcc_params {
    double eta;
    uint64_t max_stage, expected_flows;
    struct line_rate rate_ai; // bps = PARAM_AUTO: from expected_flows
    struct line_rate min_rate;
    int t; // enum reference_rtt
    bool pint;
    ps_t idle_restart_ps;
};

struct hop_seen {
    ps_t t_ps;
    uint64_t tx_bytes;
    uint32_t queue_bytes;
    unsigned port : 31;
    unsigned wraps : 1;
};

struct hpcc {
    /* config, resolved for this pair */
    double t_ps, w_max, w_min, w_ai; // wire bytes
    float payload_share;             // payload per wire byte of a full packet
    /* state */
    uint16_t stage; // incStage
    uint8_t n_hops; // number of references; 0 = none
    bool begun;
    double w_ref;        // Wc
    double util;         // U
    uint64_t update_seq; // the ACK beyond this byte updates Wc
    struct hop_seen hops[CC_INT_HOPS];
};

// ---- parameters ----

static const char *const reference_rtts[] = {"pair", "global", NULL};

#define FIELD(name) offsetof(struct hpcc_params, name)
#define SIGCOMM "Li et al., SIGCOMM 2019"

static const struct param hpcc_param_table[] = {
    PARAM_ROW("eta", RATIO, FIELD(eta), .def = "0.95", .min = "0.01", .max = "1",
              .help = "utilization to aim at", .evidence = EVIDENCE_DOCUMENTED,
              .source = SIGCOMM ", section 3.3"),
    PARAM_ROW("max_stage", COUNT, FIELD(max_stage), .def = "5", .min = "0", .max = "1000",
              .help = "additive steps before a multiplicative one", .evidence = EVIDENCE_DOCUMENTED,
              .source = SIGCOMM ", section 3.3; 0 in its simulations"),
    PARAM_ROW("expected_flows", COUNT, FIELD(expected_flows), .def = "100", .min = "1",
              .max = "1000000",
              .help = "N of the additive step W_AI = B T (1 - eta) / N, at most the packets "
                      "that B T holds",
              .evidence = EVIDENCE_ESTIMATED, .source = SIGCOMM ", section 3.3; the bound is ours"),
    PARAM_ROW("rate_ai", LINE_RATE, FIELD(rate_ai), .def = "auto", .min = "1Kbps", .can_auto = true,
              .help = "additive step as a rate, W_AI = rate_ai T; auto = from expected_flows",
              .evidence = EVIDENCE_DOCUMENTED, .source = "HPCC ns-3 sources"),
    PARAM_ROW("min_rate", LINE_RATE, FIELD(min_rate), .def = "line/1000", .min = "1Kbps",
              .help = "floor of the rate", .evidence = EVIDENCE_ESTIMATED,
              .source = "HPCC ns-3 sources: 100 Mb/s at 100G"),
    PARAM_ROW("t", ENUM, FIELD(t), .def = "pair", .choices = reference_rtts,
              .help = "T: the base RTT of the pair, or the largest of all pairs",
              .evidence = EVIDENCE_DOCUMENTED, .source = SIGCOMM ", section 3.2"),
    PARAM_ROW("pint", BOOL, FIELD(pint), .def = "false",
              .help = "one byte a packet in place of a record a hop",
              .evidence = EVIDENCE_DOCUMENTED, .source = "Ben Basat et al., SIGCOMM 2020"),
    {.include = cc_idle_restart_params, .offset = FIELD(idle_restart_ps)},
};

static const struct cc_preset_value hpcc_sim_values[] = {
    {"max_stage", "0"}, {"rate_ai", "line/2500"}, {"min_rate", "line/100"}, {"t", "global"}};
static const struct cc_preset_value khan2022_values[] = {
    {"max_stage", "0"}, {"rate_ai", "50Mbps"}, {"min_rate", "100Mbps"}, {"t", "global"}};
static const struct cc_preset_value pint_values[] = {{"pint", "true"}};

#define VALUES(array) .values = (array), .n_values = sizeof(array) / sizeof(array)[0]

static const struct cc_basis hpcc_sim_bases[] = {
    {"max_stage rate_ai min_rate t", EVIDENCE_DOCUMENTED, "HPCC ns-3 sources, run.py"},
};

static const struct cc_basis khan2022_bases[] = {
    {"max_stage rate_ai min_rate t", EVIDENCE_DOCUMENTED,
     "Khan et al., Hot Interconnects 2022, and the configuration of their ns-3 tree"},
};

static const struct cc_basis pint_bases[] = {
    {"pint", EVIDENCE_DOCUMENTED, "Ben Basat et al., SIGCOMM 2020"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset hpcc_presets[] = {
    {.name = "paper",
     .doc = "SIGCOMM 2019: eta 0.95, five additive steps",
     .holds_bps = CC_GBPS(800)},
    {.name = "hpcc_sim",
     .doc = "the authors' simulations: no additive stage",
     .holds_bps = CC_GBPS(800),
     BASES(hpcc_sim_bases),
     VALUES(hpcc_sim_values)},
    {.name = "khan2022",
     .doc = "as Khan et al. ran it",
     .holds_bps = CC_GBPS(800),
     BASES(khan2022_bases),
     VALUES(khan2022_values)},
    {.name = "pint",
     .doc = "telemetry of one byte a packet",
     .holds_bps = CC_GBPS(800),
     BASES(pint_bases),
     VALUES(pint_values)},
};

static struct hpcc *hpcc_of(struct cc *cc) { return (struct hpcc *)(void *)cc->priv; }

// ---- measuring ----

static void reference_set(struct hop_seen *seen, const struct int_hop *hop)
{
    *seen = (struct hop_seen){hop->t_ps, hop->tx_bytes, hop->queue_bytes, hop->port, hop->wraps};
}

// Eq. 2: u = min(q, q_before) / (B T) + txRate / B of one hop; *dt_ps is the time between the two
// records.
static double hop_inflight(const struct hpcc *s, const struct hop_seen *before,
                           const struct int_hop *hop, ps_t *dt_ps)
{
    const struct int_hop then = {.t_ps = before->t_ps, .tx_bytes = before->tx_bytes};
    double byte_ps = 8e12 / (double)hop->rate_bps;
    uint32_t queue =
        hop->queue_bytes < before->queue_bytes ? hop->queue_bytes : before->queue_bytes;
    *dt_ps = int_hop_time_since(hop, &then);
    if (*dt_ps <= 0)
        return 0; // below the resolution of the encoding
    double sent = (double)int_hop_bytes_since(hop, &then);
    return ((double)queue / s->t_ps + sent / (double)*dt_ps) * byte_ps;
}

// Algorithm 1, MeasureInflight: add the largest u of the path to U, weighted by its time. Returns
// false if nothing could be measured.
static bool inflight_measure(struct hpcc *s, const struct cc_ack *ack)
{
    unsigned n = ack->n_hops < CC_INT_HOPS ? ack->n_hops : CC_INT_HOPS;
    double largest = 0, weight = 0;
    for (unsigned h = 0; h < n; h++) {
        const struct int_hop *hop = &ack->hops[h];
        struct hop_seen *seen = &s->hops[h];
        if (h < s->n_hops && seen->port == hop->port) {
            ps_t dt_ps;
            double u = hop_inflight(s, seen, hop, &dt_ps);
            if (u > largest) {
                largest = u;
                weight = (double)dt_ps < s->t_ps ? (double)dt_ps / s->t_ps : 1;
            }
        }
        reference_set(seen, hop);
    }
    s->n_hops = (uint8_t)n;
    s->util += weight * (largest - s->util);
    return weight > 0;
}

// ---- reacting ----

// Set the window W and the rate R = W/T. Bytes that the receiver has but has not acknowledged yet
// are added to the window, since they are not in flight.
static void window_set(struct cc *cc, double w)
{
    const struct hpcc *s = hpcc_of(cc);
    uint64_t payload = (uint64_t)(w * (double)s->payload_share);
    // at least one byte: one packet at a time, paced
    cc->cwnd_bytes = (payload > 0 ? payload : 1) + cc_held_bytes(cc->env);
    cc->rate_bps = w >= s->w_max ? cc->env->line_bps : cc_rate_of(cc->env, w, (ps_t)s->t_ps);
}

// Algorithm 1, ComputeWind: compute W from Wc, and set Wc = W if `commit`.
static void window_react(struct cc *cc, bool commit)
{
    struct hpcc *s = hpcc_of(cc);
    const struct hpcc_params *p = cc->params;
    bool divide = s->util >= p->eta || s->stage >= p->max_stage;
    double w = (divide ? s->w_ref / (s->util / p->eta) : s->w_ref) + s->w_ai;
    w = w > s->w_max ? s->w_max : w < s->w_min ? s->w_min : w;
    window_set(cc, w);
    if (!commit)
        return;
    s->w_ref = w;
    s->stage = divide ? 0 : (uint16_t)(s->stage + 1);
}

// ---- hooks ----

static void hpcc_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct hpcc *s = hpcc_of(cc);
    const struct hpcc_params *p = cc->params;
    bool measured = true;
    if (p->pint && ack->pint != PINT_NONE)
        s->util = pint_value(ack->pint);
    else
        measured = inflight_measure(s, ack);
    if (!s->begun) {
        s->begun = true;
        s->update_seq = ack->snd_nxt;
        return;
    }
    if (!measured)
        return;
    bool commit = ack->seq > s->update_seq;
    window_react(cc, commit);
    if (commit)
        s->update_seq = ack->snd_nxt;
}

// The additive step of a flow: W_AI = B T (1 - eta) / N, where B T is `w_max` and N is
// `expected_flows`, but at least (1 - eta) packets.
static double step_of_flows(const struct hpcc_params *p, const struct cc_env *env, double w_max)
{
    double flow = w_max / (double)p->expected_flows, packet = env->full_wire_bytes;
    return (1 - p->eta) * (flow > packet ? flow : packet);
}

static void hpcc_init(struct cc *cc, ps_t now)
{
    (void)now;
    const struct hpcc_params *p = cc->params;
    const struct cc_env *env = cc->env;
    ps_t t_ps =
        p->t == RTT_GLOBAL && env->global_rtt_ps > 0 ? env->global_rtt_ps : env->base_rtt_ps;
    double byte_ps = 8e12 / (double)env->line_bps, w_max = (double)t_ps / byte_ps;
    uint64_t ai_bps = line_rate_bps(p->rate_ai, env->line_bps);
    double w_ai = p->rate_ai.bps == PARAM_AUTO ? step_of_flows(p, env, w_max)
                                               : w_max * ((double)ai_bps / (double)env->line_bps);
    double floor = (double)line_rate_bps(p->min_rate, env->line_bps) / (double)env->line_bps;
    *hpcc_of(cc) = (struct hpcc){.t_ps = (double)t_ps,
                                 .w_max = w_max,
                                 .w_min = floor < 1 ? w_max * floor : w_max,
                                 .payload_share = (float)cc_payload_share(env),
                                 .w_ai = w_ai,
                                 .w_ref = w_max,
                                 .util = 1};
    window_set(cc, w_max);
}

static void hpcc_on_post(struct cc *cc, const struct cc_post *post)
{
    const struct hpcc_params *p = cc->params;
    enum cc_idle idle = cc_idle_after(cc, post->idle_ps, p->idle_restart_ps);
    if (idle == CC_IDLE_RESTART)
        hpcc_init(cc, post->now_ps);
    else if (idle == CC_IDLE_DROP_SAMPLES)
        hpcc_of(cc)->n_hops = 0;
}

static bool hpcc_wants_pint(const void *params)
{
    return ((const struct hpcc_params *)params)->pint;
}

static const char *const hpcc_observed[] = {"util", "w_ref_bytes", "stage", NULL};

static size_t hpcc_observe(const struct cc *cc, double *out, size_t cap)
{
    const struct hpcc *s = (const struct hpcc *)(const void *)cc->priv;
    const double values[] = {s->util, s->w_ref, (double)s->stage};
    return cc_observe_values(values, sizeof values / sizeof values[0], out, cap);
}

extern const struct cc_ops cc_hpcc;
const struct cc_ops cc_hpcc = {
    .contract = CC_CONTRACT,
    .name = "hpcc",
    .doc = "window from in-band telemetry: bytes in flight held at eta of the path's capacity",
    .paper = SIGCOMM,
    .needs = CC_NEEDS_INT | CC_NEEDS_GLOBAL_RTT,
    .params = hpcc_param_table,
    .n_params = sizeof hpcc_param_table / sizeof hpcc_param_table[0],
    .params_bytes = sizeof(struct hpcc_params),
    .priv_bytes = sizeof(struct hpcc),
    .presets = hpcc_presets,
    .n_presets = sizeof hpcc_presets / sizeof hpcc_presets[0],
    .init = hpcc_init,
    .on_post = hpcc_on_post,
    .on_ack = hpcc_on_ack,
    .observe = hpcc_observe,
    .observed = hpcc_observed,
    .wants_pint = hpcc_wants_pint,
};

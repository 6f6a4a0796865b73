// SPDX-License-Identifier: MIT
// DCTCP: the window (or the rate) decreases in proportion to the marked share of the traffic.
//
// Once per window of data alpha moves towards F, the share of acknowledged bytes whose packets were
// marked. (If an ACK covers several packets, transport.ack_interval above 1, the receiver also
// acknowledges immediately when CE changes, so that no ACK covers both marked and unmarked packets:
// RFC 8257, section 3.2. No other policy here needs this: DCQCN only uses whether there was a
// mark.) The first mark cuts the window by alpha/2; until the data then in flight is acknowledged
// there is neither another cut nor an increase.
//
//   window  RFC 8257. W in payload bytes, clocked by ACKs at line rate, starting at one
//           bandwidth-delay product. It grows by one MTU per round trip, spread over the ACKs,
//           since flows of the same RTT would otherwise all add their packet at the same time.
//   rate    the ns-3 model of the HPCC lineage (rdma-hw.cc, HandleAckDctcp): a rate, increased by
//           rate_ai at the end of each window, under a window cap. Its F divides the number of
//           marked ACKs by one plus the number of packets in flight when the window began, which is
//           the same with one ACK per packet.
//
// Where the transport gives an initial window (TCP), the window mode starts with it in slow start,
// which ends at the first mark or loss (RFC 8257, section 3.3; RFC 5681). A timeout sets the
// threshold to half the window and starts slowly again; idle time halves W once for each
// retransmission timeout, but not below the initial window (RFC 2861). On RoCE flows start with one
// BDP, and after a timeout grow by additive increase.
//
// Left out: in rate mode any reaction to loss, as in its source.
// Differs: the observation of windows begins with the first ACK, which ends no window (RFC 8257
// lets it end one, of that ACK alone; the ns-3 model does as here). W grows only while the flow
// uses all of it but one packet (RFC 7661), so that a flow limited by its NIC does not accumulate
// window.
// Idle restart: after idle_restart without anything to send the flow restarts. A shorter idle time
// of more than a base RTT keeps window, rate and alpha, but discards the unfinished counts.
//
// Sources: RFC 8257; Alizadeh et al., SIGCOMM 2010; HPCC ns-3 sources (rdma-hw.cc, run.py);
// Khan et al., Hot Interconnects 2022.
#include "collwire/cc_extras.h"

enum mode { MODE_WINDOW, MODE_RATE };

struct dctcp_params {
    double g;
    int mode; // enum mode
    struct line_rate rate_ai, min_rate;
    struct cc_cap window;
    ps_t idle_restart_ps;
};

struct dctcp {
    /* config, resolved for this line */
    uint64_t ai_bps, min_bps;
    /* state; the rate is cc->rate_bps */
    double alpha, marked;  // marked: F of the last complete window
    double window_bytes;   // W, window mode
    double ssthresh_bytes; // slow start below it; 0 = the transport has no slow start
    /* the window being observed */
    uint64_t acked_bytes, ce_bytes;
    uint64_t end;                 // snd_nxt when the observed window began
    uint64_t cut_end, sent_bytes; // snd_nxt at the last cut; highest snd_nxt seen
    bool observing;               // `end` is valid
    bool reduced;                 // a cut was made and cut_end is not yet acknowledged
};

// ---- parameters ----

static const char *const modes[] = {"window", "rate", NULL};

#define FIELD(name) offsetof(struct dctcp_params, name)
#define RFC "RFC 8257"
#define HPCC_SIM "HPCC ns-3 sources"

static const struct param dctcp_param_table[] = {
    PARAM_ROW("mode", ENUM, FIELD(mode), .def = "window", .choices = modes,
              .help = "window: W shrinks and grows, at line rate; rate: the pacing rate does, "
                      "under a window cap",
              .evidence = EVIDENCE_DOCUMENTED, .source = RFC "; " HPCC_SIM),
    PARAM_ROW("g", RATIO, FIELD(g), .def = "0.0625", .min = "0.0001", .max = "1",
              .help = "gain of the moving average alpha", .evidence = EVIDENCE_DOCUMENTED,
              .source = RFC ", section 4.2 (1/16)"),
    PARAM_ROW("rate_ai", LINE_RATE, FIELD(rate_ai), .def = "615Mbps", .min = "1Kbps",
              .help = "rate mode: additive increase per window", .evidence = EVIDENCE_DOCUMENTED,
              .source = HPCC_SIM ": 1 KB per 13 us, at any line rate"),
    PARAM_ROW("min_rate", LINE_RATE, FIELD(min_rate), .def = "100Mbps", .min = "1Kbps",
              .help = "rate mode: floor of the rate", .evidence = EVIDENCE_DOCUMENTED,
              .source = HPCC_SIM ": default of the code, its scripts set 1 Gb/s"),
    {.include = cc_cap_params, .offset = FIELD(window)},
    {.include = cc_idle_restart_params, .offset = FIELD(idle_restart_ps)},
};

static const struct cc_preset_value hpcc_sim_values[] = {{"mode", "rate"},
                                                         {"rate_ai", "615Mbps"},
                                                         {"min_rate", "1Gbps"},
                                                         {"window_bdp", "1"},
                                                         {"window_scales", "true"}};

static const struct cc_preset_value khan2022_values[] = {
    {"mode", "rate"}, {"rate_ai", "1000Mbps"}, {"min_rate", "100Mbps"}, {"window_bdp", "1"}};

#define RATE_100G UINT64_C(100000000000)
#define RATE_200G UINT64_C(200000000000)
#define VALUES(array) .values = (array), .n_values = sizeof(array) / sizeof(array)[0]

static const struct cc_basis rfc8257_bases[] = {
    {"marking", EVIDENCE_DOCUMENTED, HPCC_SIM ", run.py (30 KB at 10G)"},
};

static const struct cc_basis hpcc_sim_bases[] = {
    {"mode rate_ai min_rate window_bdp window_scales", EVIDENCE_DOCUMENTED, HPCC_SIM ", run.py"},
    {"marking", EVIDENCE_DOCUMENTED, HPCC_SIM ", run.py (30 KB at 10G)"},
};

static const struct cc_basis khan2022_bases[] = {
    {"mode rate_ai min_rate window_bdp marking", EVIDENCE_DOCUMENTED,
     "Khan et al., Hot Interconnects 2022, and the configuration of their ns-3 tree"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset dctcp_presets[] = {
    {.name = "rfc8257",
     .doc = "window based, marked by a step scaled to the line",
     .holds_bps = CC_GBPS(100),
     BASES(rfc8257_bases),
     .profile = CC_RED(300000, 300000, 1.0, RATE_100G, true)},
    {.name = "hpcc_sim",
     .doc = "the ns-3 model of the HPCC lineage, rate based under a BDP window",
     .holds_bps = CC_GBPS(100),
     BASES(hpcc_sim_bases),
     VALUES(hpcc_sim_values),
     .profile = CC_RED(300000, 300000, 1.0, RATE_100G, true)},
    {.name = "khan2022",
     .doc = "hpcc_sim as Khan et al. ran it, marked by their RED",
     .holds_bps = CC_GBPS(100),
     BASES(khan2022_bases),
     VALUES(khan2022_values),
     .profile = CC_RED(600000, 2400000, 0.2, RATE_200G, true)},
};

#define NO_THRESHOLD 1e18 // slow start without a threshold

static struct dctcp *dctcp_of(struct cc *cc) { return (struct dctcp *)(void *)cc->priv; }

// Set rate and window for the transport: W or the rate, and the cap.
static void outputs_follow(struct cc *cc)
{
    const struct dctcp_params *p = cc->params;
    uint64_t cap_bytes = cc_cap_bytes(cc->env, &p->window, cc->rate_bps);
    cc->cwnd_bytes = cap_bytes;
    if (p->mode == MODE_WINDOW && dctcp_of(cc)->window_bytes < (double)cap_bytes)
        cc->cwnd_bytes = (uint64_t)dctcp_of(cc)->window_bytes;
}

// ---- alpha ----

// RFC 8257, section 3.3: alpha = (1 - g) alpha + g F.
static double alpha_update(double alpha, double g, double marked)
{
    return (1 - g) * alpha + g * marked;
}

// At the end of a window compute F (RFC 8257's M) and update alpha; the next window ends at the
// data sent so far. At the first ACK only start a window, which includes this ACK.
static void window_turn(struct cc *cc, const struct cc_ack *ack)
{
    struct dctcp *s = dctcp_of(cc);
    const struct dctcp_params *p = cc->params;
    if (s->observing) {
        s->marked = (double)s->ce_bytes / (double)s->acked_bytes;
        s->alpha = alpha_update(s->alpha, p->g, s->marked);
        s->acked_bytes = s->ce_bytes = 0;
    }
    s->end = ack->snd_nxt;
    s->observing = true;
}

// ---- cut and increase ----

static void cut_begin(struct dctcp *s, uint64_t snd_nxt)
{
    s->reduced = true;
    s->cut_end = snd_nxt;
}

static void window_set(struct cc *cc, double bytes)
{
    double mtu = cc->env->mtu_bytes;
    dctcp_of(cc)->window_bytes = bytes > mtu ? bytes : mtu;
    outputs_follow(cc);
}

// A mark or a loss ends slow start: the threshold is the reduced window, at least two packets
// (RFC 5681, equation 4).
static void slow_start_end(struct cc *cc)
{
    struct dctcp *s = dctcp_of(cc);
    double least = 2.0 * cc->env->mtu_bytes;
    if (s->ssthresh_bytes <= 0)
        return;
    if (s->window_bytes < least)
        window_set(cc, least);
    s->ssthresh_bytes = s->window_bytes;
}

// RFC 8257, section 3.3: W (1 - alpha/2); likewise the rate, not below its minimum.
static void cut(struct cc *cc)
{
    const struct dctcp *s = dctcp_of(cc);
    const struct dctcp_params *p = cc->params;
    double keep = 1 - s->alpha / 2;
    if (p->mode == MODE_WINDOW) {
        window_set(cc, s->window_bytes * keep);
        return;
    }
    uint64_t rate_bps = (uint64_t)((double)cc->rate_bps * keep);
    cc->rate_bps = rate_bps > s->min_bps ? rate_bps : s->min_bps;
    outputs_follow(cc);
}

// RFC 5681, section 3.1: in slow start W + acked, up to the threshold; then W + MTU * acked/W, if
// the flow used all of W but one packet. With slow start the transport decides what counts as used.
static void window_increase(struct cc *cc, const struct cc_ack *ack)
{
    const struct dctcp *s = dctcp_of(cc);
    double mtu = cc->env->mtu_bytes, window = s->window_bytes, acked = ack->acked_bytes;
    if (s->ssthresh_bytes <= 0) {
        if ((double)(ack->inflight_bytes + ack->acked_bytes) + mtu >= window)
            window_set(cc, window + mtu * acked / window);
        return;
    }
    if (!ack->window_limited || ack->recovering)
        return;
    double slow = s->ssthresh_bytes - window; // room for slow start
    slow = slow < 0 ? 0 : slow < acked ? slow : acked;
    window += slow;
    window_set(cc, window + mtu * (acked - slow) / window);
}

static void rate_increase(struct cc *cc)
{
    uint64_t room_bps = cc->env->line_bps - cc->rate_bps, ai_bps = dctcp_of(cc)->ai_bps;
    cc->rate_bps += ai_bps < room_bps ? ai_bps : room_bps;
    outputs_follow(cc);
}

// ---- hooks ----

static void dctcp_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct dctcp *s = dctcp_of(cc);
    const struct dctcp_params *p = cc->params;
    s->acked_bytes += ack->acked_bytes;
    s->ce_bytes += ack->ce_bytes;
    if (ack->snd_nxt > s->sent_bytes)
        s->sent_bytes = ack->snd_nxt;
    bool turn = !s->observing || ack->snd_una > s->end;
    if (turn)
        window_turn(cc, ack);
    if (s->reduced && ack->snd_una > s->cut_end)
        s->reduced = false;
    if (s->reduced)
        return;
    if (ack->ce_bytes > 0) {
        cut(cc);
        slow_start_end(cc);
        cut_begin(s, ack->snd_nxt);
    } else if (p->mode == MODE_WINDOW) {
        window_increase(cc, ack);
    } else if (turn) {
        rate_increase(cc);
    }
}

// A timeout: one MTU. With slow start the threshold is half the window, unless an earlier timeout
// of the same data has set it, and growth begins at once (RFC 5681, section 3.1).
static void restart_slowly(struct cc *cc, const struct cc_signal *signal)
{
    struct dctcp *s = dctcp_of(cc);
    double least = 2.0 * cc->env->mtu_bytes, half = s->window_bytes / 2;
    if (s->ssthresh_bytes > 0 && !signal->again)
        s->ssthresh_bytes = half > least ? half : least;
    window_set(cc, 0);
    s->reduced = false;
}

// RFC 8257, section 3.5: loss is handled as in TCP. Go-back-N has lowered snd_nxt, so the data that
// was in flight ends at the highest snd_nxt seen.
static void dctcp_on_signal(struct cc *cc, const struct cc_signal *signal)
{
    struct dctcp *s = dctcp_of(cc);
    const struct dctcp_params *p = cc->params;
    if (p->mode == MODE_RATE || !cc_signal_is_loss(signal->kind))
        return;
    if (signal->kind == CC_SIGNAL_TIMEOUT) {
        restart_slowly(cc, signal);
        if (s->ssthresh_bytes > 0)
            return;
    } else if (!s->reduced) {
        window_set(cc, s->window_bytes / 2);
        slow_start_end(cc);
    } else {
        return;
    }
    cut_begin(s, signal->snd_nxt > s->sent_bytes ? signal->snd_nxt : s->sent_bytes);
}

static void dctcp_init(struct cc *cc, ps_t now)
{
    (void)now;
    const struct dctcp_params *p = cc->params;
    uint64_t line_bps = cc->env->line_bps;
    *dctcp_of(cc) = (struct dctcp){
        .ai_bps = line_rate_bps(p->rate_ai, line_bps),
        .min_bps = cc_line_rate_bps(cc->env, p->min_rate),
        .alpha = 1,
    };
    cc->rate_bps = line_bps;
    if (p->mode == MODE_WINDOW && cc->env->initial_window_bytes > 0) {
        dctcp_of(cc)->ssthresh_bytes = NO_THRESHOLD;
        window_set(cc, cc->env->initial_window_bytes);
    } else {
        window_set(cc, (double)cc_bdp_bytes(cc->env));
    }
}

// RFC 2861, section 3: W is halved for each timeout of idle time; the threshold remembers 3/4 of
// it.
static void window_decay(struct cc *cc, uint32_t rtos)
{
    struct dctcp *s = dctcp_of(cc);
    double window = s->window_bytes, initial = cc->env->initial_window_bytes;
    if (s->ssthresh_bytes <= 0 || rtos == 0)
        return;
    if (s->ssthresh_bytes < 0.75 * window)
        s->ssthresh_bytes = 0.75 * window;
    for (; rtos > 0 && window > initial; rtos--)
        window = window / 2 > initial ? window / 2 : initial;
    window_set(cc, window);
}

static void dctcp_on_post(struct cc *cc, const struct cc_post *post)
{
    const struct dctcp_params *p = cc->params;
    struct dctcp *s = dctcp_of(cc);
    enum cc_idle idle = cc_idle_after(cc, post->idle_ps, p->idle_restart_ps);
    if (idle == CC_IDLE_RESTART) {
        dctcp_init(cc, post->now_ps);
    } else if (idle == CC_IDLE_DROP_SAMPLES) {
        s->observing = false;
        s->acked_bytes = s->ce_bytes = 0;
    }
    if (idle != CC_IDLE_RESTART)
        window_decay(cc, post->idle_rtos);
}

static const char *const dctcp_observed[] = {"alpha", "marked", "reduced", NULL};

static size_t dctcp_observe(const struct cc *cc, double *out, size_t cap)
{
    const struct dctcp *s = (const struct dctcp *)(const void *)cc->priv;
    const double values[] = {s->alpha, s->marked, s->reduced};
    return cc_observe_values(values, sizeof values / sizeof values[0], out, cap);
}

static struct cc_growth dctcp_growth(const struct cc *cc)
{
    return (struct cc_growth){.step_bytes = cc->env->mtu_bytes, .every_ps = cc->env->base_rtt_ps};
}

extern const struct cc_ops cc_dctcp;
static const struct cc_extras extras = {
    CC_EXTRAS,
    .growth = dctcp_growth,
};

const struct cc_ops cc_dctcp = {
    .contract = CC_CONTRACT,
    .name = "dctcp",
    .doc = "window or rate cut by the share of marked bytes, grown by one MTU per round trip",
    .paper = RFC "; Alizadeh et al., SIGCOMM 2010",
    .needs = CC_NEEDS_ECN | CC_NEEDS_CE_SHARE,
    .params = dctcp_param_table,
    .n_params = sizeof dctcp_param_table / sizeof dctcp_param_table[0],
    .params_bytes = sizeof(struct dctcp_params),
    .priv_bytes = sizeof(struct dctcp),
    .presets = dctcp_presets,
    .n_presets = sizeof dctcp_presets / sizeof dctcp_presets[0],
    .init = dctcp_init,
    .on_post = dctcp_on_post,
    .on_ack = dctcp_on_ack,
    .on_signal = dctcp_on_signal,
    .observe = dctcp_observe,
    .observed = dctcp_observed,
    .extras = &extras,
};

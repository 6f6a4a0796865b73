// SPDX-License-Identifier: MIT
// Tally: a flow takes the share of the network that its collective's step leaves for it, at once,
// because the poster of a message knows how many flows share its ports; feedback only corrects the
// share.
//
// With n = max(1, flows at the source, flows at the destination) of the hint (collwire/hint.h),
// base RTT B, bandwidth-delay product BDP, time P of a packet and a scale s that starts at 1:
//
//   share    x = min(1, s / n)
//   rate     R = min(line, (1 + margin) x line)        window  W = max(packet, (1 + margin) x BDP)
//   in every second round trip, with the lowest queueing delay d of its ACKs, T = target B + n P,
//   and E = margin B / 2 + hops P (ACKs wait behind a packet per hop: docs/policies.md, `window`):
//     d > T               s = max(1/4, s max(1/2, (B + T) / (B + d)))
//     d < E               s = min(n, s + step); the step is `growth`, and doubles from time to time
//     else                s = min(n, s + growth / 8)
//   a loss                s = max(1/4, s / 2), once per round trip
// s grows only while the flow uses all of its window. A step that brings each port at most four
// BDPs (n times what the flow has left) is over before a share could be corrected: n is then taken
// as 1. A flow with unacknowledged bytes keeps its n unless a message is posted that is at least as
// large as those; a flow that was idle begins with s = 1.
//
// While all n flows of a destination send with s = 1, the sum of their windows is max(n packets, (1
// + margin) BDP), so its queue stays below max(n packets, margin BDP), whatever the fabric;
// docs/tally.md has the argument for other cases. Without a hint n is 1, and tally is a window of 1
// + margin BDPs that is corrected in every second round trip.
//
// Paths: ports to ranks do not mark, so a mark means that flows share a link of the fabric, which
// no window can mend but another path can. A flow begins with the path of its turn in the step,
// which separates the flows of a step where an entropy names a path (routing.source entropy). If
// more than half of a round trip's bytes are marked it takes another path: at once if more than 8
// BDPs are left, since it drains for a round trip first, else when a message finds it idle. Then it
// waits 2, 4, 8, ... 64 round trips for the next attempt, since links that are too few stay full,
// and begins anew after 16 with fewer marks. After a timeout it takes another path too.
//
// Source: none; the question is that of Khan et al., Hot Interconnects 2022, section VI. The ideas
// it combines: shares by the number of senders (ICTCP, Wu et al., CoNEXT 2010), windows scaled by
// delay (Swift, Kumar et al., SIGCOMM 2020), a change of the UDP port after marks (PLB, Qureshi et
// al., SIGCOMM 2022).
#include "collwire/cc_extras.h"

struct tally_params {
    double margin, target, growth;
    bool paths;
};

#define FIELD(name) offsetof(struct tally_params, name)
static const struct param tally_param_table[] = {
    PARAM_ROW("margin", RATIO, FIELD(margin), .def = "0.1", .min = "0", .max = "10",
              .help = "what rate and window have beyond the share", .evidence = EVIDENCE_ESTIMATED,
              .source = "window: k = 1.1"),
    PARAM_ROW("target", RATIO, FIELD(target), .def = "1", .min = "0.01", .max = "100",
              .help = "queueing delay above which the share shrinks, in base RTTs",
              .evidence = EVIDENCE_ESTIMATED, .source = "chosen: the queue of one more window"),
    PARAM_ROW("growth", RATIO, FIELD(growth), .def = "0.5", .min = "0", .max = "1",
              .help = "growth of the share in a round trip without a queue",
              .evidence = EVIDENCE_ESTIMATED,
              .source = "chosen: half the fair share, docs/tally.md"),
    PARAM_ROW("paths", BOOL, FIELD(paths), .def = "true",
              .help = "flows choose paths by turn, and another path after marks or a timeout",
              .evidence = EVIDENCE_ESTIMATED, .source = "Qureshi et al., SIGCOMM 2022 (PLB)"),
};

struct tally {
    double scale, step;  // s, and its next growth
    uint32_t flows;      // n
    uint32_t attempts;   // consecutive changes of the path
    uint32_t hold;       // round trips until the next change
    uint32_t quiet;      // round trips without marks
    bool lost;           // in this round trip
    bool settles;        // toggles: every second round trip only waits for the effect of a change
    bool has_turn;       // a message has been posted
    bool path_due;       // another path is to be taken with the next message
    uint64_t left_bytes; // of its messages that are not acknowledged
    uint64_t round_end;  // byte whose ACK ends the round trip
    uint64_t acked_bytes, marked_bytes;
    ps_t lowest_rtt_ps; // PS_NEVER = no sample
};

#define SCALE_LEAST (1.0 / 4)
#define HOLD_MOST 6     // 2^6 round trips
#define QUIET_ENOUGH 16 // round trips without marks that reset the attempts

static struct tally *tally_of(struct cc *cc) { return (struct tally *)(void *)cc->priv; }

static double share_of(const struct tally *s)
{
    return s->scale < s->flows ? s->scale / s->flows : 1;
}

static void apply(struct cc *cc, const struct tally *s)
{
    const struct tally_params *p = cc->params;
    const struct cc_env *env = cc->env;
    double part = (1 + p->margin) * share_of(s);
    uint64_t window = cc_window_bytes(env, part > 1e-6 ? part : 1e-6);
    cc->cwnd_bytes = window > env->mtu_bytes ? window : env->mtu_bytes;
    double rate = part * (double)env->line_bps;
    cc->rate_bps = part >= 1 ? env->line_bps : rate >= 1 ? (uint64_t)rate : 1;
}

static void round_begin(struct tally *s, uint64_t end)
{
    s->round_end = end;
    s->acked_bytes = s->marked_bytes = 0;
    s->lowest_rtt_ps = PS_NEVER;
    s->lost = false;
}

static void tally_init(struct cc *cc, ps_t now)
{
    (void)now;
    struct tally *s = tally_of(cc);
    s->scale = s->flows = 1;
    s->step = ((const struct tally_params *)cc->params)->growth;
    round_begin(s, 0);
    apply(cc, s);
}

// Returns the number of flows that share the ports. It is 1 if a step brings each port at most four
// BDPs: such a step ends before a long queue can form, and waiting for a share would cost it a
// round trip.
static uint32_t count_of(const struct cc_env *env, const struct cc_hint *hint, uint64_t bytes)
{
    uint32_t n = hint->at_source > hint->at_destination ? hint->at_source : hint->at_destination;
    return n > 0 && bytes > 4 * cc_bdp_bytes(env) / n ? n : 1;
}

// Set cc->path to another number, spread over all numbers that a transport distinguishes; never 0.
static void path_change(struct cc *cc, struct tally *s)
{
    cc->path = (cc->path * 1664525 + 1013904223 + s->attempts) >> 3;
    if (cc->path == 0)
        cc->path = 1;
    s->attempts += s->attempts < HOLD_MOST;
    s->hold = 1u << s->attempts;
    s->path_due = false;
}

static void tally_on_post(struct cc *cc, const struct cc_post *post)
{
    const struct tally_params *p = cc->params;
    struct tally *s = tally_of(cc);
    uint64_t left = post->idle_ps > 0 ? 0 : s->left_bytes;
    s->left_bytes = left + post->bytes;
    uint32_t n = count_of(cc->env, &post->hint, s->left_bytes);
    if (p->paths && !s->has_turn)
        cc->path = post->hint.turn;
    else if (s->path_due && post->idle_ps > 0)
        path_change(cc, s);
    s->has_turn = true;
    if (post->idle_ps == 0 && (n == s->flows || post->bytes < left))
        return; // the flow is busy with a larger message
    s->flows = n;
    s->scale = 1;
    s->step = p->growth;
    apply(cc, s);
}

// Returns true if enough data is left to change the path in the middle of a message, which costs a
// round trip in which the flow drains.
static bool path_pays(const struct cc *cc, const struct tally *s, uint64_t inflight)
{
    return s->left_bytes > inflight && s->left_bytes - inflight > 8 * cc_bdp_bytes(cc->env);
}

static void path_round(struct cc *cc, struct tally *s, uint64_t inflight)
{
    const struct tally_params *p = cc->params;
    bool shared = 2 * s->marked_bytes > s->acked_bytes;
    s->quiet = shared ? 0 : s->quiet + 1;
    if (s->quiet == QUIET_ENOUGH)
        s->attempts = 0;
    if (s->hold > 0)
        s->hold--;
    else if (shared && p->paths && path_pays(cc, s, inflight))
        path_change(cc, s);
    else if (p->paths)
        s->path_due = shared;
}

static void scale_round(struct cc *cc, struct tally *s, bool window_limited)
{
    const struct tally_params *p = cc->params;
    double base = (double)cc->env->base_rtt_ps;
    double packet = (double)cc_packet_ps(cc->env);
    double target = p->target * base + s->flows * packet;
    double empty = p->margin * base / 2 + cc->env->hops * packet;
    double delay = (double)s->lowest_rtt_ps - base;
    if (s->lowest_rtt_ps == PS_NEVER)
        return;
    s->settles = !s->settles;
    if (s->settles) // the packets of this round trip left before the last change
        return;
    bool grows = delay < empty && window_limited && !s->lost;
    if (delay > target) {
        double factor = (base + target) / (base + delay);
        s->scale *= factor > 0.5 ? factor : 0.5;
    } else if (grows) {
        s->scale += s->step;
    } else if (window_limited && !s->lost) {
        s->scale += p->growth / 8;
    }
    s->step = grows ? 2 * s->step : p->growth;
    if (s->scale > s->flows)
        s->scale = s->flows;
    if (s->scale < SCALE_LEAST)
        s->scale = SCALE_LEAST;
}

static void tally_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct tally *s = tally_of(cc);
    if (ack->rtt_ps > 0 && ack->rtt_ps < s->lowest_rtt_ps)
        s->lowest_rtt_ps = ack->rtt_ps;
    s->acked_bytes += ack->acked_bytes;
    s->marked_bytes += ack->ce_bytes;
    s->left_bytes -= ack->acked_bytes < s->left_bytes ? ack->acked_bytes : s->left_bytes;
    if (ack->seq < s->round_end)
        return;
    path_round(cc, s, ack->inflight_bytes);
    scale_round(cc, s, ack->window_limited);
    apply(cc, s);
    round_begin(s, ack->snd_nxt);
}

static void tally_on_signal(struct cc *cc, const struct cc_signal *signal)
{
    const struct tally_params *p = cc->params;
    struct tally *s = tally_of(cc);
    if (signal->kind == CC_SIGNAL_TIMEOUT && p->paths)
        path_change(cc, s);
    if (!cc_signal_is_loss(signal->kind) || s->lost)
        return;
    s->lost = true;
    s->scale = s->scale / 2 > SCALE_LEAST ? s->scale / 2 : SCALE_LEAST;
    apply(cc, s);
}

static const char *const tally_observed[] = {"share", "flows", "path", NULL};

static size_t tally_observe(const struct cc *cc, double *out, size_t cap)
{
    const struct tally *s = (const struct tally *)(const void *)cc->priv;
    const double values[] = {share_of(s), s->flows, cc->path};
    return cc_observe_values(values, sizeof values / sizeof *values, out, cap);
}

static const struct cc_basis default_bases[] = {
    {"marking", EVIDENCE_ESTIMATED,
     "chosen: a link of the fabric that is shared has a queue of half a BDP"},
    {"notification", EVIDENCE_DOCUMENTED, "CE echoed on every ACK, as in the ns-3 sources of HPCC"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset tally_presets[] = {
    {.name = "default",
     .doc = "ports between switches mark from half a BDP on",
     .holds_bps = CC_GBPS(800),
     BASES(default_bases),
     .profile =
         {.ecn = true, .kmin_bdp = 0.5, .kmax_bdp = 0.501, .pmax = 1, .spares_last_hop = true},
     .notification = {.cnp = CNP_PER_ACK}},
};

extern const struct cc_ops cc_tally;
static const struct cc_extras extras = {
    CC_EXTRAS,
    .changes_path = true,
};

const struct cc_ops cc_tally = {
    .contract = CC_CONTRACT,
    .name = "tally",
    .doc = "shares from the collective's count of flows, corrected once per round trip",
    .paper = "none: docs/tally.md",
    .needs = CC_NEEDS_ECN | CC_NEEDS_CE_SHARE | CC_NEEDS_GLOBAL_RTT,
    .params = tally_param_table,
    .n_params = sizeof tally_param_table / sizeof *tally_param_table,
    .params_bytes = sizeof(struct tally_params),
    .priv_bytes = sizeof(struct tally),
    .presets = tally_presets,
    .n_presets = sizeof tally_presets / sizeof *tally_presets,
    .init = tally_init,
    .on_post = tally_on_post,
    .on_ack = tally_on_ack,
    .on_signal = tally_on_signal,
    .observe = tally_observe,
    .observed = tally_observed,
    .extras = &extras,
};

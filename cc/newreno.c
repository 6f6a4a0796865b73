// SPDX-License-Identifier: MIT
// NewReno: TCP's classic window, which grows by one segment per round trip and is halved by a loss.
//
// Slow start adds the acknowledged bytes to the window until it reaches the threshold. Congestion
// avoidance adds one segment each time a window of bytes has been acknowledged. A loss or an echoed
// ECN mark, once per window of data, sets threshold and window to half the window, and at least two
// segments. A timeout also reduces the window to one segment. The window grows only while the flow
// uses all of it, and not during recovery.
//
// Division of labour: the transport detects losses, retransmits, and reduces the data in flight
// towards the new window (RFC 6937). The policy sets the new window at once.
// Windows are whole segments, as in Linux, with whose measured runs the results are compared.
// Differs: half of the window, and not of the bytes in flight, as in Linux (RFC 5681, equation 4).
// Idle time: the window is halved for each retransmission timeout of idle time, but not below the
// initial window, if the transport has slow start after idle time.
//
// Preset `ecn`: marks by RED as Alizadeh et al. tuned it for 10G (150 and 450 packets of 1500 B,
// max_p 0.1), scaled to the line; switches here mark by the queue itself, not by its average.
//
// Sources: RFC 5681; RFC 6582; RFC 3465; RFC 2861; RFC 3168 (ECN).
#include "cc/segment_window.h"

struct newreno {
    struct segment_window window;
};

static struct newreno *newreno_of(struct cc *cc) { return (struct newreno *)(void *)cc->priv; }

static void newreno_init(struct cc *cc, ps_t now)
{
    (void)now;
    segment_window_begin(cc, &newreno_of(cc)->window);
}

static void newreno_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct segment_window *w = &newreno_of(cc)->window;
    if (ack->recovering || !ack->window_limited)
        return;
    uint64_t left_bytes = segment_window_slow_start(cc, w, ack->acked_bytes);
    if (left_bytes > 0) // RFC 5681, section 3.1: one segment per window
        segment_window_count(cc, w, w->cwnd, left_bytes);
}

static void newreno_on_signal(struct cc *cc, const struct cc_signal *signal)
{
    struct segment_window *w = &newreno_of(cc)->window;
    if (signal->kind == CC_SIGNAL_TIMEOUT)
        segment_window_timeout(cc, w, w->cwnd / 2, signal->again);
    else if (cc_signal_is_loss(signal->kind) || signal->kind == CC_SIGNAL_ECE)
        segment_window_reduce(cc, w, w->cwnd / 2);
}

static void newreno_on_post(struct cc *cc, const struct cc_post *post)
{
    segment_window_idle(cc, &newreno_of(cc)->window, post->idle_rtos);
}

static const char *const newreno_observed[] = {"ssthresh_bytes", "slow_start", NULL};

static size_t newreno_observe(const struct cc *cc, double *out, size_t cap)
{
    const struct segment_window *w = &((const struct newreno *)(const void *)cc->priv)->window;
    const double values[] = {segment_window_ssthresh_bytes(cc, w), segment_window_slow(w)};
    return cc_observe_values(values, sizeof values / sizeof values[0], out, cap);
}

static const struct cc_basis ecn_bases[] = {
    {"marking", EVIDENCE_ESTIMATED,
     "Alizadeh et al., SIGCOMM 2010: RED from 150 to 450 packets at 10G, scaled to the line here"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset newreno_presets[] = {
    {.name = "default", .doc = "without ECN: only losses reduce the window"},
    {.name = "ecn",
     .doc = "with ECN, marked by RED",
     BASES(ecn_bases),
     .profile = CC_RED(225000, 675000, 0.1, UINT64_C(10000000000), true)},
};

extern const struct cc_ops cc_newreno;
const struct cc_ops cc_newreno = {
    .contract = CC_CONTRACT,
    .name = "newreno",
    .doc = "TCP's window: one segment more per round trip, half after a loss",
    .paper = "RFC 5681; RFC 6582",
    .needs = CC_NEEDS_SLOW_START,
    .priv_bytes = sizeof(struct newreno),
    .presets = newreno_presets,
    .n_presets = sizeof newreno_presets / sizeof newreno_presets[0],
    .init = newreno_init,
    .on_post = newreno_on_post,
    .on_ack = newreno_on_ack,
    .on_signal = newreno_on_signal,
    .observe = newreno_observe,
    .observed = newreno_observed,
};

// SPDX-License-Identifier: MIT
// CUBIC: TCP's window as a cubic function of the time since the last loss.
//
// After a reduction the window grows fast, slows down near W_max, where the loss happened, and then
// accelerates again (cc/cubic_curve.h has the equations). Where Reno would be faster, on short
// round trips and small windows, the window follows a Reno window of the same mean. A loss or an
// echoed ECN mark, once per window of data, sets threshold and window to beta of the window. A
// timeout also reduces the window to one segment and discards W_max. Slow start is that of NewReno
// with HyStart (cc/hystart.h). The window grows only while the flow uses all of it, and not during
// recovery.
//
// The default form `linux` calculates in whole segments and ticks of 4 ms (CONFIG_HZ=250), as the
// kernel does; measured runs of Linux 6.18 agree with it (tests/cc/test_hystart.c, tests/linux).
// Preset `rfc9438` has the real numbers of the RFC and HyStart++. They differ visibly: with a W_max
// of 251 segments the window returns to it after 4.4 s in Linux and after 5.7 s in the RFC.
//
// Division of labour: the transport detects losses, retransmits, and reduces the data in flight
// towards the new window (RFC 6937). The policy sets the new window at once.
// Differs: beta and W_max apply to the window, not to the bytes in flight, as in Linux.
// Form linux: RTT samples of the first second of an epoch are ignored, as in Linux, since the queue
// of the time before may still be there.
// Left out: undoing a reduction that was not necessary.
// Idle time: the window is halved for each retransmission timeout, as in NewReno; the epoch is
// shifted, so that W does not grow meanwhile.
//
// Preset `ecn`: marks by RED as Alizadeh et al. tuned it for 10G (150 and 450 packets of 1500 B,
// max_p 0.1), scaled to the line; switches here mark by the queue itself, not by its average.
//
// Sources: RFC 9438; Ha, Rhee & Xu, Operating Systems Review 42(5), 2008; net/ipv4/tcp_cubic.c of
// Linux 6; RFC 9406.
#include "cc/cubic_curve.h"
#include "cc/hystart.h"
#include "cc/segment_window.h"

struct cubic {
    struct segment_window window;
    struct cubic_curve curve;
    struct hystart hystart;
};

// ---- parameters ----

static const char *const forms[] = {"linux", "rfc9438", NULL};
static const char *const hystarts[] = {"off", "classic", "rfc9406", NULL};

#define FIELD(name) offsetof(struct cubic_params, name)
#define RFC "RFC 9438"
#define LINUX "tcp_cubic.c of Linux 6"

static const struct param cubic_param_table[] = {
    PARAM_ROW("c", RATIO, FIELD(c), .def = "0.4", .min = "0.001", .max = "1000",
              .help = "C: how fast the window grows, segments per second cubed",
              .evidence = EVIDENCE_DOCUMENTED, .source = RFC ", section 5"),
    PARAM_ROW("beta", RATIO, FIELD(beta), .def = "0.7", .min = "0.1", .max = "0.95",
              .help = "share of the window that a loss or a mark leaves, rounded to 1/1024",
              .evidence = EVIDENCE_DOCUMENTED, .source = RFC ", section 4.6; 717/1024 in Linux"),
    PARAM_ROW("fast_convergence", BOOL, FIELD(fast_convergence), .def = "true",
              .help = "a flow whose windows become smaller leaves room for new flows",
              .evidence = EVIDENCE_DOCUMENTED, .source = RFC ", section 4.7"),
    PARAM_ROW("friendly", BOOL, FIELD(friendly), .def = "true",
              .help = "never slower than a Reno window with the same mean",
              .evidence = EVIDENCE_DOCUMENTED, .source = RFC ", section 4.3"),
    PARAM_ROW("form", ENUM, FIELD(form), .def = "linux", .choices = forms,
              .help = "linux: whole segments and clock ticks; rfc9438: real numbers",
              .evidence = EVIDENCE_DOCUMENTED, .source = LINUX "; " RFC),
    PARAM_ROW("tick", TIME, FIELD(tick_ps), .def = "4ms", .min = "1us", .max = "31ms",
              .help = "form linux: resolution of the kernel's clock (1 / CONFIG_HZ)",
              .evidence = EVIDENCE_DOCUMENTED, .source = LINUX " with CONFIG_HZ=250"),
    PARAM_ROW("hystart", ENUM, FIELD(hystart), .def = "classic", .choices = hystarts,
              .help = "end of slow start before a loss: classic: by delay or ACK train; "
                      "rfc9406: HyStart++",
              .evidence = EVIDENCE_DOCUMENTED,
              .source = "Ha & Rhee, Computer Networks 55, 2011; RFC 9406"),
};

static const struct cc_preset_value rfc_values[] = {{"form", "rfc9438"}, {"hystart", "rfc9406"}};

static const struct cc_basis ecn_bases[] = {
    {"marking", EVIDENCE_ESTIMATED,
     "Alizadeh et al., SIGCOMM 2010: RED from 150 to 450 packets at 10G, scaled to the line here"},
};

static const struct cc_basis rfc_bases[] = {
    {"form hystart", EVIDENCE_DOCUMENTED, RFC "; RFC 9406"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset cubic_presets[] = {
    {.name = "default", .doc = "as Linux, without ECN: only losses reduce the window"},
    {.name = "ecn",
     .doc = "as Linux, with ECN, marked by RED",
     BASES(ecn_bases),
     .profile = CC_RED(225000, 675000, 0.1, UINT64_C(10000000000), true)},
    {.name = "rfc9438",
     .doc = "real numbers and HyStart++, without ECN",
     BASES(rfc_bases),
     .values = rfc_values,
     .n_values = sizeof rfc_values / sizeof rfc_values[0]},
};

static struct cubic *cubic_of(struct cc *cc) { return (struct cubic *)(void *)cc->priv; }

// ---- growth ----

#define EPOCH_BEGINNING PS_PER_S

// Report an RTT sample to HyStart and the curve. Returns false if there is none.
static bool sample(struct cubic *s, const struct cubic_params *p, const struct cc_ack *ack)
{
    if (ack->rtt_ps <= 0)
        return false;
    bool begins =
        s->curve.epoch_ps != PS_NEVER && ack->now_ps - s->curve.epoch_ps < EPOCH_BEGINNING;
    if (p->form == CUBIC_LINUX && begins)
        return false;
    cubic_curve_rtt(&s->curve, p, ack->rtt_ps);
    hystart_rtt(&s->hystart, ack->rtt_ps);
    return true;
}

// End slow start, if HyStart finds that it should.
static void slow_start_check(struct cc *cc, struct cubic *s, const struct cc_ack *ack)
{
    const struct cubic_params *p = cc->params;
    struct segment_window *w = &s->window;
    bool first = w->ssthresh == SEGMENTS_UNLIMITED, over = false;
    if (p->hystart == HYSTART_OFF || !segment_window_slow(w) || s->hystart.found)
        return;
    if (p->hystart == HYSTART_CLASSIC)
        over = hystart_classic(&s->hystart, cc->env, ack, w->cwnd);
    else if (first) // RFC 9406, section 4.3
        over = hystart_plus(&s->hystart, ack);
    if (over)
        w->ssthresh = w->cwnd;
}

static void grow(struct cc *cc, struct cubic *s, const struct cc_ack *ack)
{
    const struct cubic_params *p = cc->params;
    struct segment_window *w = &s->window;
    uint64_t bytes = ack->acked_bytes;
    if (p->hystart == HYSTART_RFC9406 && w->ssthresh == SEGMENTS_UNLIMITED)
        bytes = hystart_growth_bytes(&s->hystart, cc->env, ack->acked_bytes);
    bytes = segment_window_slow_start(cc, w, bytes);
    if (bytes == 0)
        return;
    if (p->form == CUBIC_LINUX) {
        uint64_t count = cubic_curve_count(&s->curve, p, w->cwnd, bytes, ack->now_ps);
        segment_window_count(cc, w, count, bytes);
    } else {
        segment_window_set(cc, w, cubic_curve_window(&s->curve, p, w->cwnd, bytes, ack->now_ps));
    }
}

// ---- hooks ----

static void cubic_init(struct cc *cc, ps_t now)
{
    struct cubic *s = cubic_of(cc);
    segment_window_begin(cc, &s->window);
    cubic_curve_begin(&s->curve, cc->params, cc->env->mtu_bytes);
    hystart_begin(&s->hystart, 0, now);
}

static void cubic_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct cubic *s = cubic_of(cc);
    if (sample(s, cc->params, ack))
        slow_start_check(cc, s, ack);
    if (!ack->recovering && ack->window_limited)
        grow(cc, s, ack);
}

// RFC 9438, sections 4.6 and 4.8.
static void cubic_on_signal(struct cc *cc, const struct cc_signal *signal)
{
    struct cubic *s = cubic_of(cc);
    uint32_t less = cubic_curve_beta(&s->curve, s->window.cwnd);
    if (signal->kind == CC_SIGNAL_TIMEOUT) {
        segment_window_timeout(cc, &s->window, less, signal->again);
        cubic_curve_begin(&s->curve, cc->params, cc->env->mtu_bytes);
        hystart_begin(&s->hystart, signal->snd_nxt, signal->now_ps);
    } else if (cc_signal_is_loss(signal->kind) || signal->kind == CC_SIGNAL_ECE) {
        cubic_curve_reduce(&s->curve, cc->params, s->window.cwnd);
        segment_window_reduce(cc, &s->window, less);
    }
}

static void cubic_on_post(struct cc *cc, const struct cc_post *post)
{
    struct cubic *s = cubic_of(cc);
    if (post->idle_ps > 0)
        cubic_curve_idle(&s->curve, post->idle_ps, post->now_ps);
    segment_window_idle(cc, &s->window, post->idle_rtos);
}

static const char *const cubic_observed[] = {"ssthresh_bytes", "slow_start", "w_max_pkts", "k_us",
                                             NULL};

static size_t cubic_observe(const struct cc *cc, double *out, size_t cap)
{
    const struct cubic *s = (const struct cubic *)(const void *)cc->priv;
    const double values[] = {segment_window_ssthresh_bytes(cc, &s->window),
                             segment_window_slow(&s->window), s->curve.w_max, s->curve.k_s * 1e6};
    return cc_observe_values(values, sizeof values / sizeof values[0], out, cap);
}

extern const struct cc_ops cc_cubic;
const struct cc_ops cc_cubic = {
    .contract = CC_CONTRACT,
    .name = "cubic",
    .doc = "TCP's window as a cubic function of the time since the last loss",
    .paper = RFC,
    .needs = CC_NEEDS_SLOW_START,
    .params = cubic_param_table,
    .n_params = sizeof cubic_param_table / sizeof cubic_param_table[0],
    .params_bytes = sizeof(struct cubic_params),
    .priv_bytes = sizeof(struct cubic),
    .presets = cubic_presets,
    .n_presets = sizeof cubic_presets / sizeof cubic_presets[0],
    .init = cubic_init,
    .on_post = cubic_on_post,
    .on_ack = cubic_on_ack,
    .on_signal = cubic_on_signal,
    .observe = cubic_observe,
    .observed = cubic_observed,
};

// SPDX-License-Identifier: MIT
// The growth of CUBIC in congestion avoidance. Source: RFC 9438, section 4; for the form `linux`
// the behaviour of net/ipv4/tcp_cubic.c of Linux 6.
#include "cc/cubic_curve.h"

#define UPDATE_HZ 32  // form linux: how often the curve is calculated while the window is the same
#define COUNT_LEAST 2 // form linux: at most one segment per two acknowledged
#define COUNT_UNKNOWN 20  // form linux: at most, while no W_max is known
#define TARGET_CWNDS 1.5  // form rfc9438, section 4.2
#define PLATEAU_CWNDS 100 // form linux: windows acknowledged per segment at the plateau

static double cubed(double x) { return x * x * x; }

// The cube root of x >= 0 by Newton's method, in operations that give the same bits everywhere.
static double cube_root(double x)
{
    double root = 1;
    if (x <= 0)
        return 0;
    while (cubed(root) < x)
        root *= 2; // from above, where the iteration descends
    for (double next; (next = (2 * root + x / (root * root)) / 3) < root;)
        root = next;
    return root;
}

static double seconds(ps_t ps) { return (double)ps / (double)PS_PER_S; }

void cubic_curve_begin(struct cubic_curve *c, const struct cubic_params *p, uint32_t segment_bytes)
{
    uint32_t beta = (uint32_t)(p->beta * 1024 + 0.5);
    *c = (struct cubic_curve){
        .beta_1024 = beta,
        .reno_eighths = 8 * (1024 + beta) / 3 / (1024 - beta),
        .alpha = 3 * (1 - p->beta) / (1 + p->beta),
        .segment_bytes = segment_bytes,
        .epoch_ps = PS_NEVER,
    };
}

// RFC 6298, section 2, for the smoothed RTT.
void cubic_curve_rtt(struct cubic_curve *c, const struct cubic_params *p, ps_t rtt_ps)
{
    if (c->rtt_ps == 0)
        c->rtt_ps = rtt_ps;
    else if (p->form == CUBIC_RFC9438)
        c->rtt_ps += (rtt_ps - c->rtt_ps) / 8;
    else if (rtt_ps < c->rtt_ps)
        c->rtt_ps = rtt_ps;
}

// ---- reduction ----

// RFC 9438, section 4.6, rounded down.
uint32_t cubic_curve_beta(const struct cubic_curve *c, uint32_t cwnd)
{
    return (uint32_t)((uint64_t)cwnd * c->beta_1024 / 1024);
}

// RFC 9438, section 4.7: with fast convergence a flow whose windows become smaller takes
// W_max (1 + beta) / 2, so that new flows find room.
void cubic_curve_reduce(struct cubic_curve *c, const struct cubic_params *p, uint32_t cwnd)
{
    bool shrinks = p->fast_convergence && cwnd < c->w_max;
    c->epoch_ps = PS_NEVER;
    c->w_max = shrinks ? (uint32_t)((uint64_t)cwnd * (1024 + c->beta_1024) / 2048) : cwnd;
    c->prior = cwnd;
    c->fraction = 0;
}

void cubic_curve_idle(struct cubic_curve *c, ps_t idle_ps, ps_t now)
{
    if (c->epoch_ps != PS_NEVER)
        c->epoch_ps = now - c->epoch_ps > idle_ps ? c->epoch_ps + idle_ps : now;
}

// ---- the cubic function ----

// RFC 9438, section 4.2, equation 2. Without a known W_max, or above it, the epoch begins in the
// convex region (section 4.10).
static void epoch_begin(struct cubic_curve *c, const struct cubic_params *p, uint32_t cwnd,
                        ps_t now)
{
    bool below = cwnd < c->w_max;
    c->epoch_ps = now;
    c->origin = below ? c->w_max : cwnd;
    c->k_s = below ? cube_root((c->w_max - cwnd) / p->c) : 0;
}

// The target of the form `linux`: whole segments, W_max is approached from below and above.
static uint64_t whole_target(const struct cubic_curve *c, const struct cubic_params *p, double t_s)
{
    double distance = p->c * cubed(t_s < c->k_s ? c->k_s - t_s : t_s - c->k_s);
    uint64_t segments = distance < 1e9 ? (uint64_t)distance : 1000000000,
             origin = (uint64_t)c->origin;
    if (t_s >= c->k_s)
        return origin + segments;
    return segments < origin ? origin - segments : 0;
}

// ---- the form `linux` ----

static uint64_t curve_count(const struct cubic_curve *c, const struct cubic_params *p,
                            uint32_t cwnd, ps_t now_tick)
{
    ps_t ahead = (c->rtt_ps + p->tick_ps - 1) / p->tick_ps;
    ps_t ticks = now_tick - c->epoch_ps / p->tick_ps + ahead;
    uint64_t target = whole_target(c, p, seconds(ticks * p->tick_ps));
    uint64_t count = target > cwnd ? cwnd / (target - cwnd) : PLATEAU_CWNDS * (uint64_t)cwnd;
    return c->w_max == 0 && count > COUNT_UNKNOWN ? COUNT_UNKNOWN : count;
}

// RFC 9438, section 4.3: the Reno window grows by one segment for each window / alpha of
// acknowledged data. If it is larger, `count` at most makes up the difference in one window.
static void reno_count(struct cubic_curve *c, uint32_t cwnd)
{
    uint64_t needed = (uint64_t)cwnd * c->reno_eighths / 8 * c->segment_bytes;
    if (needed == 0)
        needed = c->segment_bytes;
    if (c->acked_bytes > needed) {
        uint64_t n = (c->acked_bytes - 1) / needed;
        c->acked_bytes -= n * needed;
        c->reno += (uint32_t)n;
    }
    if (c->reno > cwnd && c->count > cwnd / (c->reno - cwnd))
        c->count = cwnd / (c->reno - cwnd);
}

uint64_t cubic_curve_count(struct cubic_curve *c, const struct cubic_params *p, uint32_t cwnd,
                           uint64_t acked_bytes, ps_t now)
{
    ps_t tick = now / p->tick_ps, hold = PS_PER_S / UPDATE_HZ / p->tick_ps;
    c->acked_bytes += acked_bytes;
    if (c->counted_cwnd == cwnd && tick - c->counted_tick <= hold)
        return c->count;
    if (c->epoch_ps == PS_NEVER || tick != c->counted_tick) {
        c->counted_cwnd = cwnd;
        c->counted_tick = tick;
        if (c->epoch_ps == PS_NEVER) {
            epoch_begin(c, p, cwnd, now);
            c->acked_bytes = acked_bytes;
            c->reno = cwnd;
        }
        c->count = curve_count(c, p, cwnd, tick);
    }
    if (p->friendly)
        reno_count(c, cwnd);
    if (c->count < COUNT_LEAST)
        c->count = COUNT_LEAST;
    return c->count;
}

// ---- the form `rfc9438` ----

// RFC 9438, section 4.3, equation 4, with alpha 1 once the window before the reduction is reached.
static void reno_grow(struct cubic_curve *c, double window, double acked)
{
    c->reno_est += (c->reno_est < c->prior ? c->alpha : 1) * acked / window;
}

uint64_t cubic_curve_window(struct cubic_curve *c, const struct cubic_params *p, uint32_t cwnd,
                            uint64_t acked_bytes, ps_t now)
{
    double window = cwnd + c->fraction, acked = (double)acked_bytes / c->segment_bytes;
    if (c->epoch_ps == PS_NEVER) {
        epoch_begin(c, p, cwnd, now);
        c->reno_est = window;
    }
    double t_s = seconds(now - c->epoch_ps);
    double target = c->origin + p->c * cubed(t_s + seconds(c->rtt_ps) - c->k_s);
    target = target > TARGET_CWNDS * window ? TARGET_CWNDS * window : target;
    reno_grow(c, window, acked);
    bool slower = c->origin + p->c * cubed(t_s - c->k_s) < c->reno_est;
    if (p->friendly && slower)
        window = c->reno_est > window ? c->reno_est : window;
    else if (target > window)
        window += (target - window) / window * acked;
    uint64_t whole = (uint64_t)window;
    c->fraction = window - (double)whole;
    return whole;
}

// SPDX-License-Identifier: MIT
// The trial's script. Its rounds are those of a flow in a network: messages are posted, packets are
// sent, ACKs arrive with round trips between the base RTT and ten times as much, a part of them
// marked; every kind of loss is reported, timers fire, and the flow is idle for a while.
#include "cc/plugin/plugin_trial.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define ROUNDS 60
#define IDLE_ROUND 40
#define TIMERS_PER_ROUND 1000 // further timers of a round are postponed to the next one

static const struct cc_env environments[] = {
    {.line_bps = UINT64_C(100000000000),
     .base_rtt_ps = 8 * PS_PER_US,
     .global_rtt_ps = 12 * PS_PER_US,
     .mtu_bytes = 4096,
     .full_wire_bytes = 4178,
     .hops = 4},
    {.line_bps = UINT64_C(400000000000),
     .base_rtt_ps = 2 * PS_PER_US,
     .global_rtt_ps = 70 * PS_PER_US,
     .mtu_bytes = 1000,
     .full_wire_bytes = 1082,
     .hops = 2,
     .trims = true},
    {.line_bps = UINT64_C(10000000000),
     .base_rtt_ps = 100 * PS_PER_US,
     .global_rtt_ps = 100 * PS_PER_US,
     .mtu_bytes = 1448,
     .full_wire_bytes = 1538,
     .hops = 6,
     .initial_window_bytes = 14480},
};

struct trial {
    struct cc *cc;
    struct cc_env env;
    struct cc_watch watch;
    struct err *err;
    const char *path;
    ps_t now_ps;
    uint64_t una, nxt; // bytes of the flow
    struct int_hop hops[CC_INT_HOPS];
};

static void on_violation(void *ctx, const char *text)
{
    struct trial *t = ctx;
    err_add(t->err, t->path, "refused in a trial: %s", text);
}

/* ---- events ---- */

static void fire_timers(struct trial *t, ps_t until)
{
    struct cc *cc = t->cc;
    for (unsigned n = 0; n < TIMERS_PER_ROUND; n++) {
        unsigned first = cc->timer_at_ps[1] < cc->timer_at_ps[0] ? 1 : 0;
        ps_t at = cc->timer_at_ps[first];
        if (at > until || !cc->ops->on_timer)
            break;
        cc->timer_at_ps[first] = PS_NEVER;
        cc->ops->on_timer(cc, first, at);
    }
    // If a policy sets timers without end, the timers that are due now fire in the next round.
    for (unsigned i = 0; i < CC_TIMERS; i++)
        if (cc->timer_at_ps[i] <= until)
            cc->timer_at_ps[i] = until + CC_TIMER_LEAST_PS;
    t->now_ps = until;
}

static void post(struct trial *t, ps_t idle_ps)
{
    struct cc_post p = {.now_ps = t->now_ps, .bytes = 64 * t->env.mtu_bytes, .idle_ps = idle_ps};
    p.idle_rtos = t->env.initial_window_bytes > 0 ? (uint32_t)(idle_ps / PS_PER_MS) : 0;
    if (t->cc->ops->on_post)
        t->cc->ops->on_post(t->cc, &p);
}

static void send(struct trial *t)
{
    t->nxt += t->env.mtu_bytes;
    if (t->cc->ops->on_send)
        t->cc->ops->on_send(t->cc, t->env.full_wire_bytes, t->now_ps);
}

// Telemetry of links that are busier from hop to hop and from round to round.
static void fill_hops(struct trial *t, unsigned round)
{
    for (unsigned h = 0; h < t->env.hops; h++) {
        struct int_hop *hop = &t->hops[h];
        hop->t_ps = t->now_ps - t->env.base_rtt_ps / 2;
        hop->tx_bytes += (uint64_t)t->env.full_wire_bytes * (1 + h);
        hop->rate_bps = t->env.line_bps;
        hop->queue_bytes = round % 3 * h * 20000;
        hop->port = (1 + h + (round == IDLE_ROUND ? 100 : 0)) & 0xffff; // the path changes once
    }
}

static void acknowledge(struct trial *t, unsigned round, ps_t rtt_ps)
{
    const struct cc_ops *ops = t->cc->ops;
    uint32_t bytes = t->env.mtu_bytes;
    bool marked = round % 4 == 1;
    t->una += bytes;
    fill_hops(t, round);
    struct cc_ack ack = {.now_ps = t->now_ps,
                         .rtt_ps = rtt_ps,
                         .seq = t->una,
                         .snd_una = t->una,
                         .snd_nxt = t->nxt,
                         .acked_bytes = bytes,
                         .inflight_bytes = t->nxt - t->una,
                         .window_limited = true,
                         .ce_bytes = marked ? bytes : 0,
                         .ce = marked && (ops->needs & CC_NEEDS_PACKET_NACKS)};
    if (ops->needs & CC_NEEDS_INT) {
        ack.hops = t->hops;
        ack.n_hops = (uint8_t)t->env.hops;
        ack.pint = (uint8_t)(100 + round);
    }
    if (ops->on_ack)
        ops->on_ack(t->cc, &ack);
}

static void signal_all(struct trial *t, unsigned round)
{
    const struct cc_ops *ops = t->cc->ops;
    for (int kind = CC_SIGNAL_CNP; kind <= CC_SIGNAL_TIMEOUT && ops->on_signal; kind++) {
        if (kind == CC_SIGNAL_CNP && !(ops->needs & CC_NEEDS_CNP))
            continue;
        struct cc_signal s = {.now_ps = t->now_ps,
                              .kind = (enum cc_signal_kind)kind,
                              .snd_nxt = t->nxt,
                              .inflight_bytes = t->nxt - t->una,
                              .again = round % 8 == 7,
                              .bytes = t->env.mtu_bytes,
                              .rtt_ps = t->env.base_rtt_ps,
                              .last_hop = round % 2 == 0};
        ops->on_signal(t->cc, &s);
    }
}

static void look(const struct trial *t)
{
    double values[CC_OBSERVED_MAX];
    if (t->cc->ops->observe)
        t->cc->ops->observe(t->cc, values, sizeof values / sizeof *values);
    if (cc_extras_of(t->cc->ops)->growth)
        cc_extras_of(t->cc->ops)->growth(t->cc);
}

/* ---- the script ---- */

static void play(struct trial *t, const void *params)
{
    const ps_t rtt = t->env.base_rtt_ps;
    cc_begin(t->cc, t->cc->ops, params, &t->env, t->now_ps);
    look(t);
    for (unsigned round = 0; round < ROUNDS && !t->watch.failed; round++) {
        ps_t idle = round == IDLE_ROUND ? 50 * PS_PER_MS : 0;
        fire_timers(t, t->now_ps + idle + rtt);
        if (round % 8 == 0)
            post(t, idle);
        for (unsigned i = 0; i < 8; i++)
            send(t);
        // round trips of the base RTT, then up to ten times as long
        ps_t measured = rtt + rtt * (round % 10) * (round / 10 % 2);
        for (unsigned i = 0; i < 8; i++) {
            fire_timers(t, t->now_ps + measured / 8);
            acknowledge(t, round, measured);
        }
        if (round % 5 == 4)
            signal_all(t, round);
        look(t);
    }
}

static void check_credits(struct trial *t, const void *params)
{
    if (!t->cc->ops->credits)
        return;
    const struct cc_ops *ops = t->cc->ops;
    const struct cc_host *host = cc_extras_of(ops)->host;
    host->enter(host, "credits"); // cc_credits_of() would hide values of 0
    struct cc_credits c = ops->credits(params, &t->env);
    host->leave(host);
    if (c.rate_bps == 0 || c.grant_bytes == 0 || c.max_bytes == 0)
        err_add(t->err, t->path,
                "refused in a trial: credits() of policy %s returned a rate, a grant or a limit "
                "of 0",
                t->cc->ops->name);
}

int trial_run(const struct cc_ops *ops, const char *path, struct err *err)
{
    size_t errors = err->n_errors;
    alignas(max_align_t) unsigned char params[CC_PARAMS_BYTES_MAX];
    struct cc *cc = memory_zeroed(1, cc_bytes(ops));
    for (size_t p = 0; p < ops->n_presets; p++)
        for (size_t e = 0; e < sizeof environments / sizeof *environments; e++) {
            struct trial t = {.cc = cc, .err = err, .path = path, .now_ps = PS_PER_MS};
            t.env = environments[e];
            t.env.helpers = &cc_helpers;
            t.env.watch = &t.watch;
            t.watch = (struct cc_watch){&t, on_violation, false};
            cc->ops = ops;
            memset(params, 0, sizeof params);
            if (err->n_errors > errors || cc_params_init(ops, ops->presets[p].name, params) != 0)
                continue;
            check_credits(&t, params);
            play(&t, params);
        }
    free(cc);
    return err->n_errors == errors ? 0 : -1;
}

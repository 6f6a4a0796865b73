// SPDX-License-Identifier: MIT
// The guarded hooks, and the check after each of them.
#include "cc/plugin/guard.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/units.h"

#define CANARY_BYTES 16 // behind the private state
static const unsigned char canary[CANARY_BYTES] = "end of the state";

// The call of a hook, and the flow as it was before.
struct call {
    struct guarded *g;
    const char *hook;
    ps_t now_ps;
    const struct cc_ops *ops;
    const void *params;
    const struct cc_env *env;
    ps_t timer_at_ps[CC_TIMERS];
};

static struct guarded *guard_of(const struct cc *cc)
{
    return (struct guarded *)(uintptr_t)cc->ops; // ops is the first member
}

/* ---- what is running ---- */

static void enter(struct guarded *g, const char *hook)
{
    struct collwire_activity *a = g->activity;
    if (!a)
        return;
    a->calls++;
    a->policy = g->ops.name;
    a->hook = hook;
    a->file = g->file;
}

static void leave(struct guarded *g)
{
    if (g->activity)
        g->activity->file = NULL;
}

static struct guarded *guard_of_host(const struct cc_host *host)
{
    return (struct guarded *)((uintptr_t)host - offsetof(struct guarded, host));
}

static void on_enter(const struct cc_host *host, const char *hook)
{
    enter(guard_of_host(host), hook);
}

static void on_leave(const struct cc_host *host) { leave(guard_of_host(host)); }

/* ---- violations ---- */

static void report(struct guarded *g, struct cc_watch *watch, const char *hook, ps_t now_ps,
                   const char *what)
{
    char text[512], at[UNIT_TEXT];
    if (!watch || watch->failed)
        return;
    watch->failed = true;
    int n = snprintf(text, sizeof text, "policy %s of plugin %s: %s() %s", g->ops.name, g->file,
                     hook, what);
    if (now_ps >= 0 && n > 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, ", at %s", format_time(now_ps, at));
    watch->violated(watch->ctx, text);
}

static bool failed(const struct cc *cc) { return cc->env->watch && cc->env->watch->failed; }

// Returns a text that says what is wrong with the outputs after the call; NULL = nothing.
static const char *wrong(const struct cc *cc, const struct call *c, char *text, size_t room)
{
    const struct cc_ops *policy = c->g->policy;
    char rate[UNIT_TEXT], line[UNIT_TEXT];
    if (memcmp(cc->priv + policy->priv_bytes, canary, CANARY_BYTES) != 0)
        snprintf(text, room, "wrote beyond its %zu bytes of private state", policy->priv_bytes);
    else if (cc->ops != c->ops || cc->params != c->params || cc->env != c->env)
        snprintf(text, room, "changed a field of struct cc that is no output");
    else if (cc->rate_bps == 0)
        snprintf(text, room, "set a rate of 0");
    else if (cc->rate_bps > cc->env->line_bps)
        snprintf(text, room, "set a rate of %s, and the line has %s",
                 format_rate(cc->rate_bps, rate), format_rate(cc->env->line_bps, line));
    else if (cc->cwnd_bytes < cc->env->mtu_bytes && cc->rate_bps == cc->env->line_bps)
        snprintf(text, room,
                 "set a window of %" PRIu64 " B, less than a packet of %u B, at the line's rate",
                 cc->cwnd_bytes, (unsigned)cc->env->mtu_bytes);
    else
        text = NULL;
    return text;
}

// Returns a text that says what is wrong with a timer that the call has set; NULL = nothing.
static const char *wrong_timer(const struct cc *cc, const struct call *c, char *text, size_t room)
{
    char at[UNIT_TEXT];
    for (unsigned t = 0; t < CC_TIMERS; t++) {
        ps_t due = cc->timer_at_ps[t];
        if (due == PS_NEVER || due == c->timer_at_ps[t])
            continue;
        if (!c->g->policy->on_timer)
            snprintf(text, room, "set timer %u, and the policy has no on_timer()", t);
        else if (strcmp(c->hook, "on_send") == 0)
            snprintf(text, room, "set timer %u, which on_send() may not", t);
        else if (due < 0 || due < c->now_ps + CC_TIMER_LEAST_PS)
            snprintf(text, room, "set timer %u to %s, which is not 1 ns ahead", t,
                     due < 0 ? "a time below 0" : format_time(due, at));
        else
            continue;
        return text;
    }
    return NULL;
}

// Set line rate, no window and no timers.
static void release(struct cc *cc)
{
    cc->rate_bps = cc->env->line_bps;
    cc->cwnd_bytes = CC_UNLIMITED;
    for (unsigned t = 0; t < CC_TIMERS; t++)
        cc->timer_at_ps[t] = PS_NEVER;
}

/* ---- a call ---- */

// Returns false if the policy may no longer be called.
static bool begin(struct call *c, struct cc *cc, const char *hook, ps_t now_ps)
{
    *c = (struct call){guard_of(cc), hook, now_ps, cc->ops, cc->params, cc->env, {0}};
    memcpy(c->timer_at_ps, cc->timer_at_ps, sizeof c->timer_at_ps);
    if (failed(cc)) {
        release(cc);
        return false;
    }
    enter(c->g, hook);
    return true;
}

static void end(const struct call *c, struct cc *cc)
{
    char text[160];
    leave(c->g);
    const char *what = wrong(cc, c, text, sizeof text);
    if (!what)
        what = wrong_timer(cc, c, text, sizeof text);
    if (!what)
        return;
    cc->ops = c->ops;
    cc->params = c->params;
    cc->env = c->env;
    report(c->g, cc->env->watch, c->hook, c->now_ps, what);
    release(cc);
}

/* ---- the hooks ---- */

static void guarded_init(struct cc *cc, ps_t now)
{
    struct call c;
    memcpy(cc->priv + guard_of(cc)->policy->priv_bytes, canary, CANARY_BYTES);
    if (!begin(&c, cc, "init", now))
        return;
    c.g->policy->init(cc, now);
    end(&c, cc);
}

static void guarded_on_post(struct cc *cc, const struct cc_post *post)
{
    struct call c;
    if (!begin(&c, cc, "on_post", post->now_ps))
        return;
    c.g->policy->on_post(cc, post);
    end(&c, cc);
}

static void guarded_on_send(struct cc *cc, uint32_t wire_bytes, ps_t now)
{
    struct call c;
    if (!begin(&c, cc, "on_send", now))
        return;
    c.g->policy->on_send(cc, wire_bytes, now);
    end(&c, cc);
}

static void guarded_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct call c;
    if (!begin(&c, cc, "on_ack", ack->now_ps))
        return;
    c.g->policy->on_ack(cc, ack);
    end(&c, cc);
}

static void guarded_on_signal(struct cc *cc, const struct cc_signal *signal)
{
    struct call c;
    if (!begin(&c, cc, "on_signal", signal->now_ps))
        return;
    c.g->policy->on_signal(cc, signal);
    end(&c, cc);
}

static void guarded_on_timer(struct cc *cc, unsigned timer, ps_t now)
{
    struct call c;
    if (!begin(&c, cc, "on_timer", now))
        return;
    c.g->policy->on_timer(cc, timer, now);
    end(&c, cc);
}

static size_t guarded_observe(const struct cc *cc, double *out, size_t cap)
{
    struct guarded *g = guard_of(cc);
    if (failed(cc))
        return 0;
    enter(g, "observe");
    size_t n = g->policy->observe(cc, out, cap);
    leave(g);
    if (n > cap)
        report(g, cc->env->watch, "observe", -1, "returned more values than there is room for");
    for (size_t i = 0; i < n && i < cap; i++)
        if (!isfinite(out[i])) {
            report(g, cc->env->watch, "observe", -1, "returned a value that is no finite number");
            out[i] = 0;
        }
    return n < cap ? n : cap;
}

static struct cc_growth guarded_growth(const struct cc *cc)
{
    struct guarded *g = guard_of(cc);
    if (failed(cc))
        return (struct cc_growth){0};
    enter(g, "growth");
    struct cc_growth growth = g->policy->extras->growth(cc);
    leave(g);
    if (growth.every_ps < 0)
        report(g, cc->env->watch, "growth", -1, "returned an interval below 0");
    if (growth.every_ps < 0)
        growth = (struct cc_growth){0};
    return growth;
}

void guard_init(struct guarded *g, const struct cc_ops *policy, const char *file,
                struct collwire_activity *activity)
{
    *g = (struct guarded){.ops = *policy, .policy = policy, .file = file, .activity = activity};
    g->host = (struct cc_host){on_enter, on_leave};
    g->extras = *cc_extras_of(policy);
    g->extras.host = &g->host;
    g->ops.extras = &g->extras;
    g->ops.priv_bytes = policy->priv_bytes + CANARY_BYTES;
    g->ops.init = guarded_init;
#define GUARD(hook) g->ops.hook = policy->hook ? guarded_##hook : NULL
    GUARD(on_post);
    GUARD(on_send);
    GUARD(on_ack);
    GUARD(on_signal);
    GUARD(on_timer);
    GUARD(observe);
#undef GUARD
    g->extras.growth = g->extras.growth ? guarded_growth : NULL;
}

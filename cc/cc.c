// SPDX-License-Identifier: MIT
// Functions that all policies share: start of a flow, bandwidth-delay product, presets.
#include "cc/cc.h"

#include <string.h>

__extension__ typedef unsigned __int128 u128;

#define PS_BITS_PER_BYTE (8 * (u128)PS_PER_S)

const struct cc_need_word cc_need_words[] = {
    {CC_NEEDS_ECN, "ECN marks"},
    {CC_NEEDS_CNP, "notifications (CNPs, or CE echoed on ACKs)"},
    {CC_NEEDS_INT, "in-band telemetry"},
    {CC_NEEDS_GLOBAL_RTT, "the largest base RTT of all pairs"},
    {CC_NEEDS_CE_SHARE, "the exact share of marked bytes"},
    {CC_NEEDS_PACING, "paced flows in a lossless class"},
    {CC_NEEDS_SLOW_START, "an initial window (slow start)"},
    {CC_NEEDS_PACKET_NACKS, "reports of single packets (RTT, mark, trimmed)"},
    {CC_NEEDS_CREDITS, "credits of the receiver"},
    {0, NULL},
};

// ---- rows of parameters ----

const struct param cc_cap_params[] = {CC_CAP_PARAMS};
const struct param cc_idle_restart_params[] = {CC_IDLE_RESTART_PARAMS};

// ---- a flow ----

size_t cc_bytes(const struct cc_ops *ops)
{
    size_t bytes = offsetof(struct cc, priv) + ops->priv_bytes, unit = alignof(struct cc);
    return (bytes + unit - 1) / unit * unit;
}

void cc_begin(struct cc *cc, const struct cc_ops *ops, const void *params, const struct cc_env *env,
              ps_t now)
{
    *cc = (struct cc){
        .ops = ops,
        .params = params,
        .env = env,
        .rate_bps = env->line_bps,
        .cwnd_bytes = CC_UNLIMITED,
    };
    memset(cc->priv, 0, ops->priv_bytes);
    for (unsigned i = 0; i < CC_TIMERS; i++)
        cc->timer_at_ps[i] = PS_NEVER;
    ops->init(cc, now);
}

// ceil(a / b), saturating below the value CC_UNLIMITED.
static uint64_t ratio_up(u128 a, u128 b)
{
    u128 up = (a + b - 1) / b;
    return up < CC_UNLIMITED ? (uint64_t)up : CC_UNLIMITED - 1;
}

uint64_t cc_bdp_bytes(const struct cc_env *env)
{
    return ratio_up((u128)env->line_bps * (u128)env->base_rtt_ps, PS_BITS_PER_BYTE) +
           cc_held_bytes(env);
}

uint64_t cc_window_bytes(const struct cc_env *env, double k)
{
    // k in millionths, so that 1.1 is exactly 11/10 and not the nearest double above it.
    u128 millionths = (u128)(k * 1e6 + 0.5);
    return ratio_up(cc_bdp_bytes(env) * millionths, 1000000);
}

uint64_t cc_cap_bytes(const struct cc_env *env, const struct cc_cap *cap, uint64_t rate_bps)
{
    if (cap->bytes == PARAM_AUTO && cap->bdp <= 0)
        return CC_UNLIMITED;
    uint64_t bytes = cap->bytes != PARAM_AUTO ? cap->bytes : cc_window_bytes(env, cap->bdp);
    if (cap->scales)
        bytes = (uint64_t)((u128)bytes * rate_bps / env->line_bps);
    return bytes > 0 ? bytes : 1;
}

uint64_t cc_line_rate_bps(const struct cc_env *env, struct line_rate rate)
{
    uint64_t bps = line_rate_bps(rate, env->line_bps);
    return bps < 1 ? 1 : bps < env->line_bps ? bps : env->line_bps;
}

double cc_payload_share(const struct cc_env *env)
{
    return env->full_wire_bytes > 0 ? (double)env->mtu_bytes / env->full_wire_bytes : 1;
}

uint64_t cc_rate_of(const struct cc_env *env, double bytes, ps_t in_ps)
{
    double bps = bytes * 8e12 / (double)in_ps + 0.5;
    return bps >= (double)env->line_bps ? env->line_bps : bps >= 1 ? (uint64_t)bps : 1;
}

ps_t cc_packet_ps(const struct cc_env *env)
{
    return serialization_ps(env->full_wire_bytes, env->line_bps);
}

const struct cc_helpers cc_helpers = {.bytes = sizeof(struct cc_helpers),
                                      .bdp_bytes = cc_bdp_bytes,
                                      .window_bytes = cc_window_bytes,
                                      .cap_bytes = cc_cap_bytes,
                                      .line_rate_bps = cc_line_rate_bps,
                                      .rate_of = cc_rate_of,
                                      .payload_share = cc_payload_share,
                                      .packet_ps = cc_packet_ps};

const struct cc_extras *cc_extras_of(const struct cc_ops *ops)
{
    static const struct cc_extras none = {CC_EXTRAS};
    return ops->extras != NULL ? ops->extras : &none;
}

static void enter(const struct cc_ops *ops, const char *hook)
{
    const struct cc_host *host = cc_extras_of(ops)->host;
    if (host != NULL)
        host->enter(host, hook);
}

static void leave(const struct cc_ops *ops)
{
    const struct cc_host *host = cc_extras_of(ops)->host;
    if (host != NULL)
        host->leave(host);
}

const char *cc_check_params(const struct cc_ops *ops, const void *params)
{
    if (ops->check == NULL)
        return NULL;
    enter(ops, "check");
    const char *why = ops->check(params);
    leave(ops);
    return why;
}

bool cc_wants_pint(const struct cc_ops *ops, const void *params)
{
    if (ops->wants_pint == NULL)
        return false;
    enter(ops, "wants_pint");
    bool wants = ops->wants_pint(params);
    leave(ops);
    return wants;
}

struct cc_credits cc_credits_of(const struct cc_ops *ops, const void *params,
                                const struct cc_env *env)
{
    enter(ops, "credits");
    struct cc_credits c = ops->credits(params, env);
    leave(ops);
    if (c.rate_bps < 1)
        c.rate_bps = 1;
    if (c.grant_bytes < 1)
        c.grant_bytes = 1;
    return c;
}

// ---- presets ----

const struct cc_preset *cc_preset_find(const struct cc_ops *ops, const char *name)
{
    for (size_t i = 0; i < ops->n_presets; i++) {
        if (name == NULL || strcmp(ops->presets[i].name, name) == 0)
            return &ops->presets[i];
    }
    return NULL;
}

int cc_params_init(const struct cc_ops *ops, const char *preset, void *params)
{
    const struct cc_preset *found = cc_preset_find(ops, preset);
    if (found == NULL)
        return -1;

    params_default(ops->params, ops->n_params, params);
    struct err err = {0};
    for (size_t i = 0; i < found->n_values; i++) {
        const struct cc_preset_value *set = &found->values[i];
        struct param param = param_find(ops->params, ops->n_params, set->param);
        if (param.name == NULL)
            err_add(&err, set->param, "preset %s sets an unknown parameter", found->name);
        else
            param_set(&param, params, set->value, set->param, &err);
    }
    int status = err.n_errors == 0 ? 0 : -1;
    err_free(&err);
    return status;
}

const char *evidence_name(enum evidence evidence)
{
    static const char *const names[] = {[EVIDENCE_UNSTATED] = "",
                                        [EVIDENCE_DOCUMENTED] = "documented",
                                        [EVIDENCE_MEASURED] = "measured",
                                        [EVIDENCE_ESTIMATED] = "estimated"};
    return names[evidence];
}

static bool basis_names(const struct cc_basis *basis, const char *field)
{
    size_t length = strlen(field);
    for (const char *word = basis->fields; *word != '\0'; word += *word == ' ') {
        size_t n = strcspn(word, " ");
        if (n == length && strncmp(word, field, n) == 0)
            return true;
        word += n;
    }
    return false;
}

const struct cc_basis *cc_basis_of(const struct cc_preset *preset, const char *field)
{
    for (size_t i = 0; i < preset->n_bases; i++)
        if (basis_names(&preset->bases[i], field))
            return &preset->bases[i];
    return NULL;
}

struct cc_notification cc_notification_of(const struct cc_preset *preset)
{
    struct cc_notification n = preset->notification;
    if (n.cnp == CNP_AUTO)
        n.cnp = CNP_NP_TIMER;
    if (n.scope == CNP_SCOPE_AUTO)
        n.scope = CNP_SCOPE_QP;
    if (n.interval_ps == 0)
        n.interval_ps = CC_CNP_INTERVAL_PS;
    return n;
}

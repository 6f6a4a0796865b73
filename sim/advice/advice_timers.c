// SPDX-License-Identifier: MIT
// Warnings about timers that are longer than the run takes at least.
#include <string.h>

#include "sim/advice/advice_internal.h"

enum timer_when { WHEN_LOSSES, WHEN_MARKS, WHEN_ALWAYS };

// Settings of transports and policies that are timers, with what they do to a shorter run.
static const struct timer {
    const char *group, *name; // group: an object among the settings, NULL = none
    bool of_policy;
    enum timer_when when;
    const char *effect;
} timers[] = {
    {NULL, "rto", false, WHEN_LOSSES, "a loss that needs it costs more than the run"},
    {NULL, "rto_low", false, WHEN_LOSSES, "a loss that needs it costs more than the run"},
    {NULL, "rto_min", false, WHEN_LOSSES, "a loss that needs it costs more than the run"},
    {"delayed_ack", "timeout", false, WHEN_ALWAYS,
     "an acknowledgement that it holds back costs more than the run"},
    {NULL, "cnp_interval", false, WHEN_MARKS, "a queue pair gets at most one notification"},
    {NULL, "rate_timer", true, WHEN_MARKS, "no rate recovers by it"},
    {NULL, "alpha_timer", true, WHEN_MARKS, "alpha is not updated by it"},
};

// True if packets of the transport may be lost: its class is lossy, or links have faults.
static bool may_lose(const struct fabric *fabric, uint32_t d, uint32_t t)
{
    const struct spec *spec = fabric->spec;
    uint8_t lossless = fabric_lossless(fabric, d);
    if (spec->n_faults > 0)
        return true;
    for (size_t j = 0; j < spec->n_jobs; j++)
        if (spec->jobs[j].transport == t && !(lossless >> fabric_job_class(spec, d, j) & 1))
            return true;
    return false;
}

static bool applies(const struct fabric *fabric, uint32_t d, uint32_t t, const struct timer *timer)
{
    const struct transport_dim *dim = hosts_dim(&fabric->hosts, d, t);
    // RoCE has two sets of timers: `rto` where receivers discard packets that are out of order,
    // rto_low and rto_high where they keep them. Only one set is in use.
    bool two = param_find(dim->ops->params, dim->ops->n_params, "rto_low").name != NULL;
    if (two && strcmp(timer->name, dim->in_order ? "rto_low" : "rto") == 0)
        return false;
    if (timer->when == WHEN_LOSSES)
        return may_lose(fabric, d, t) && dim->retransmits;
    return timer->when == WHEN_ALWAYS || dim->cc->needs & CC_NEEDS_CNP;
}

// Returns the row of a timer, and its struct; no name if the transport or policy has none.
static struct param row_of(const struct transport_dim *dim, const struct timer *timer,
                           const void **base)
{
    *base = timer->of_policy ? dim->cc_params : dim->spec.own;
    if (timer->of_policy)
        return param_find(dim->cc->params, dim->cc->n_params, timer->name);
    if (!timer->group)
        return param_find(dim->ops->params, dim->ops->n_params, timer->name);
    for (size_t i = 0; i < dim->ops->n_groups; i++)
        if (strcmp(dim->ops->groups[i].key, timer->group) == 0)
            return param_find(dim->ops->groups[i].params, dim->ops->groups[i].n_params,
                              timer->name);
    return (struct param){0};
}

static void of_timer(struct advice *a, const struct transport_dim *dim, const struct timer *timer,
                     const char *where, ps_t least_ps)
{
    const void *base;
    struct param row = row_of(dim, timer, &base);
    char time[UNIT_TEXT], least[UNIT_TEXT];
    if (!row.name || row.type != PARAM_TIME)
        return;
    ps_t value_ps;
    memcpy(&value_ps, (const char *)base + row.offset, sizeof value_ps);
    if (value_ps == PARAM_AUTO_TIME || value_ps <= least_ps)
        return;
    advice_warn(a, ADVICE_TIMER, timer->of_policy ? "cc" : "transport",
                text_format("%s%s%s%s is %s, and the run takes %s at least: %s",
                            timer->group ? timer->group : "", timer->group ? "." : "", timer->name,
                            where, human_time(value_ps, time), human_time(least_ps, least),
                            timer->effect));
}

void advise_timers(struct advice *a, const struct fabric *fabric, const struct workload *workload)
{
    ps_t least_ps = advice_least_time(fabric, workload);
    for (uint32_t d = 0; d < fabric->spec->n_dims && least_ps > 0; d++)
        for (uint32_t t = 0; t < fabric->hosts.n_transports; t++) {
            char where[64];
            advice_where(fabric, d, t, where);
            for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
                if (applies(fabric, d, t, &timers[i]))
                    of_timer(a, hosts_dim(&fabric->hosts, d, t), &timers[i], where, least_ps);
        }
}

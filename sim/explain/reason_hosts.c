// SPDX-License-Identifier: MIT
// Causes in hosts: cores that handle TCP's data, memories beside the GPU's own, input of trainings.
#include <stdio.h>
#include <stdlib.h>

#include "sim/explain/explain_internal.h"
#include "workload/tiers/copies.h"

#define SHARE_MIN 0.03 // of the path, from which a part of the host is named
#define HALF 0.5       // of the time in memories: about what twice the rate of the slowest saves
#define TIERS_MOST 4   // that are named, the slowest first
#define SOME 0.9       // of what a stack without costs saves, more cores may save

// ACKs come after the host has handled the data, so the sender's window waits for the host too.
static void explain_stack(const struct fabric *fabric, struct result *r)
{
    const struct host_spec *host = &fabric->spec->host;
    char time[UNIT_TEXT], cores[64] = "each thread has a core";
    if (result_share(r, PATH_STACK) < SHARE_MIN)
        return;
    ps_t saving = critical_sum_ps(&r->last->critical, CAUSE(STACK) | CAUSE(WINDOW));
    if (host->cores > 0)
        snprintf(cores, sizeof cores, "host.cores %llu for %llu rank%s",
                 (unsigned long long)host->cores, (unsigned long long)host->ranks,
                 host->ranks > 1 ? "s" : "");
    human_time(r->last->critical.parts[PATH_STACK], time);
    reason_set(result_cause(
                   r, REASON_HOST, saving,
                   text_format("the network stack of hosts took %s of the path (%s)", time, cores),
                   "without its costs"),
               "host=null");
    if (host->cores > 0)
        reason_set(result_cause(r, REASON_HOST, (ps_t)(SOME * (double)saving),
                                text_format("threads of the network stack share %s", cores),
                                "with a core for each thread (host.cores 0)"),
                   "host.cores=0");
}

// The tier that follows `last` in the order of bandwidth, the slowest first; `last` NULL = the
// slowest. Returns NULL if there is none. Tiers without a limit are left out.
static const struct tier *next_tier(const struct tier_set *set, const struct tier *last)
{
    const struct tier *next = NULL;
    uint64_t past = last ? tier_rate(last, false) : 0;
    for (uint32_t i = 0; i < set->n; i++) {
        const struct tier *one = &set->items[i];
        uint64_t bps = tier_rate(one, false);
        bool after = !last || bps > past || (bps == past && one > last);
        if (bps != PARAM_AUTO && after && (!next || bps < tier_rate(next, false)))
            next = one;
    }
    return next;
}

static void twice(struct reason_result *reason, const char *job, const char *tier, const char *key,
                  uint64_t bps)
{
    if (bps != PARAM_AUTO)
        reason_set(reason, "%s.%s.%s=\"%llubps\"", job, tier, key, 2 * (unsigned long long)bps);
}

// `faster`: its rate, in rates of the slowest tier.
static void explain_tier(const struct fabric *fabric, const struct tier *tier, double faster,
                         struct result *r)
{
    char time[UNIT_TEXT], rate[UNIT_TEXT], change[96];
    ps_t memory = r->last->critical.parts[PATH_MEMORY];
    snprintf(change, sizeof change, "with twice the rate of %.40s", tier->name);
    struct reason_result *reason = result_cause(
        r, REASON_MEMORY, (ps_t)(HALF * (double)memory / faster),
        text_format("copies through memories took %s of the path; %s%s reads at %s",
                    human_time(memory, time), tier->name, faster > 1 ? "" : ", the slowest tier,",
                    human_rate((double)tier_rate(tier, false), rate)),
        change);
    reason->at = text_format("%s", tier->name);
    char *job = job_key(fabric, r->last->job, "tiers");
    twice(reason, job, tier->name, "rate", tier->p.rate_bps);
    twice(reason, job, tier->name, "read_rate", tier->p.read_bps);
    twice(reason, job, tier->name, "write_rate", tier->p.write_bps);
    free(job);
}

static void explain_tiers(const struct explain_facts *facts, struct result *r)
{
    const struct copies *copies = facts->workload->jobs[r->last->job].copies;
    if (!copies || result_share(r, PATH_MEMORY) < SHARE_MIN)
        return;
    const struct tier *slowest = next_tier(copies_tiers(copies), NULL), *tier = slowest;
    for (unsigned i = 0; tier && i < TIERS_MOST; i++) {
        double rates = (double)tier_rate(tier, false) / (double)tier_rate(slowest, false);
        explain_tier(facts->fabric, tier, rates, r);
        tier = next_tier(copies_tiers(copies), tier);
    }
}

void explain_hosts(const struct explain_facts *facts, struct result *r)
{
    if (!result_has_path(r))
        return;
    explain_stack(facts->fabric, r);
    explain_tiers(facts, r);
}

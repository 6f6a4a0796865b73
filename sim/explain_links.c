// SPDX-License-Identifier: MIT
// Sentences about links: what they sent again, lanes that were lost, and links that flapped.
#include <stdio.h>

#include "engine/text.h"
#include "sim/sim_internal.h"

static void explain_retry(struct result *r)
{
    const struct port_result *most = NULL;
    char all[UNIT_TEXT], time[UNIT_TEXT];
    for (size_t i = 0; i < r->n_ports; i++)
        if (r->ports[i].retries > 0 && (!most || r->ports[i].retry_ps > most->retry_ps))
            most = &r->ports[i];
    if (most)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("links sent %llu packets again that faults lost, %llu times in "
                                   "%s; most at %s: %s",
                                   (unsigned long long)r->retried_packets,
                                   (unsigned long long)r->retries, human_time(r->retry_ps, all),
                                   most->at, human_time(most->retry_ps, time)));
}

static void explain_lanes(const struct fault_spec *f, struct result *r)
{
    char from[UNIT_TEXT], to[UNIT_TEXT];
    bool ends = f->rate_end_ps != PS_NEVER;
    if (f->rate_share <= 0 || f->rate_share >= 1 || f->rate_ps > r->sim_time_ps)
        return;
    result_explain(r, EXPLAIN_LOSS,
                   text_format("%s had %g %% of its rate from %s %s%s", f->at, 100 * f->rate_share,
                               human_time(f->rate_ps, from), ends ? "to " : "on",
                               ends ? human_time(f->rate_end_ps, to) : ""));
}

static void explain_flap(const struct fault_spec *f, struct result *r)
{
    char down[UNIT_TEXT];
    if (f->flap_period_ps == 0 || f->flap_ps > r->sim_time_ps)
        return;
    uint64_t times = (uint64_t)((r->sim_time_ps - f->flap_ps) / f->flap_period_ps) + 1;
    times = times < f->flap_count ? times : f->flap_count;
    result_explain(r, EXPLAIN_LOSS,
                   text_format("%s flapped: it was down %llu times, for %s each", f->at,
                               (unsigned long long)times, human_time(f->flap_down_ps, down)));
}

void sim_explain_links(const struct sim *sim, struct result *r)
{
    explain_retry(r);
    for (size_t i = 0; i < sim->spec->n_faults; i++) {
        explain_lanes(&sim->spec->faults[i], r);
        explain_flap(&sim->spec->faults[i], r);
    }
}

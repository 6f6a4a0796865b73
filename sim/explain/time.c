// SPDX-License-Identifier: MIT
// Makes sentences from the critical path of what ended last: where its time went, and which link
// bounds it.
//
// "Up to" is said where a cause is removed: the path would be shorter by its time, but another path
// may then be the longest. Where one job lasts the whole run and nothing is sent again, no saving
// is stated beyond what the busiest link allows: its bytes take their time whatever the policy.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"

#define PART_MIN 0.05 // share of the time from which a cause is named
#define CAUSES_NAMED 3
#define BUSY 0.85 // use of a link from which it bounds the run

/* ---- where the time went ---- */

static void explain_parts(const struct fabric *fabric, struct result *r)
{
    const struct slowest_result *s = r->last;
    const struct job_spec *job = &fabric->spec->jobs[s->job];
    bool said[PATH_CAUSES] = {false};
    bool named_job = fabric->spec->n_jobs > 1 && s->kind == SLOWEST_COLLECTIVE && job->name != NULL;
    char time[UNIT_TEXT];
    struct text text;
    FILE *out = text_open(&text);
    if (s->kind == SLOWEST_FLOW)
        fprintf(out, "the last flow, %s, took %s", s->name, human_time(s->critical.total_ps, time));
    else
        fprintf(out, "%s%s%s took %s", s->name, named_job ? " of job " : "",
                named_job ? job->name : "", human_time(s->critical.total_ps, time));
    for (unsigned i = 0; i < CAUSES_NAMED; i++) {
        enum path_cause cause = critical_largest(&s->critical, said);
        double share = result_share(r, cause);
        if (share < PART_MIN)
            break;
        said[cause] = true;
        const struct critical_place *at = critical_place_of(&s->critical, cause);
        bool named = at &&
                     (cause == PATH_QUEUED || cause == PATH_PAUSED || cause == PATH_CREDIT ||
                      cause == PATH_PACE || cause == PATH_WINDOW || cause == PATH_TIMEOUT ||
                      cause == PATH_ACK_DELAY) &&
                     s->kind != SLOWEST_FLOW;
        fprintf(out, "%s %.0f %% %s%s%s%s", i == 0 ? ":" : ",", 100 * share,
                cause_phrase(fabric, cause), named ? " (most at " : "", named ? at->at : "",
                named ? ")" : "");
    }
    result_explain(r, EXPLAIN_TIME, text_close(out, &text));
}

/* ---- the bottleneck ---- */

static void explain_bottleneck(struct result *r)
{
    const struct port_result *link = result_busiest_link(r);
    char time[UNIT_TEXT], bound[96] = "";
    if (!link || result_use(r, link) < BUSY)
        return;
    if (result_bounded(r))
        snprintf(bound, sizeof bound, "; on these paths no policy can take less than %s",
                 human_time(result_busy_ps(r, link), time));
    result_explain(r, EXPLAIN_TIME - 1 + result_use(r, link),
                   text_format("bottleneck: %s transmitted %.0f %% of the time%s%s", link->at,
                               100 * result_use(r, link),
                               r->retransmitted > 0 ? ", retransmissions included" : "", bound));
}

void explain_time(const struct explain_facts *facts, struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    if (!result_has_path(r))
        return;
    explain_parts(fabric, r);
    explain_stages(fabric, r);
    if (r->last->kind == SLOWEST_TRAINING) {
        explain_straggler(facts, r);
        explain_training_input(fabric, r);
        explain_layers(fabric, r);
    }
    if (r->last->kind == SLOWEST_PROGRAM)
        explain_program(fabric, r);
    if (fabric_is_analytical(fabric))
        return;
    explain_bottleneck(r);
    explain_policy(fabric, r);
    explain_ack_delay(fabric, r);
    explain_timeouts(fabric, r);
}

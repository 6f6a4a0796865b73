// SPDX-License-Identifier: MIT
// Sentences about the stages of the critical path: phases of the collective that ended last, and
// iterations that took longer than others.
#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"

#define PHASES_NAMED 4
#define PHASE_MIN 0.01 // share of the path from which a phase is named
#define LONGER 1.05    // times the shortest from which an iteration is said to have taken longer

static enum path_cause most_of(const ps_t times[PATH_CAUSES])
{
    unsigned most = 0;
    for (unsigned cause = 1; cause < PATH_CAUSES; cause++)
        most = times[cause] > times[most] ? cause : most;
    return (enum path_cause)most;
}

// The phase with the longest time on the path that is below `below_ps`; NULL = none.
static const struct phase_result *longest_phase(const struct collective_result *c, ps_t below_ps)
{
    const struct phase_result *longest = NULL;
    for (uint32_t i = 0; i < c->n_phases; i++) {
        const struct phase_result *p = &c->phases[i];
        if (p->critical.total_ps < below_ps &&
            (!longest || p->critical.total_ps > longest->critical.total_ps))
            longest = p;
    }
    return longest;
}

static const struct collective_result *slowest_collective(const struct result *r)
{
    for (size_t i = 0; i < r->n_collectives; i++)
        if (r->collectives[i].job == r->last->job && r->collectives[i].end_ps == r->last->end_ps)
            return &r->collectives[i];
    return NULL;
}

static void explain_phases(const struct fabric *fabric, struct result *r)
{
    const struct collective_result *c = slowest_collective(r);
    if (!c || c->n_phases < 2 || c->critical.total_ps == 0)
        return;
    struct text text;
    FILE *out = text_open(&text);
    fputs("by phase of the path:", out);
    ps_t below_ps = PS_NEVER;
    for (unsigned i = 0; i < PHASES_NAMED; i++) {
        const struct phase_result *p = longest_phase(c, below_ps);
        if (!p || (double)p->critical.total_ps < PHASE_MIN * (double)c->critical.total_ps)
            break;
        char time[UNIT_TEXT], along[32] = " over all ranks";
        if (p->dim < c->n_dims)
            snprintf(along, sizeof along, " along dimension %u", p->dim);
        below_ps = p->critical.total_ps;
        fputs(i == 0 ? " " : "; ", out);
        fputs(p->op, out);
        fputs(along, out);
        fprintf(out, " %s, mostly %s", human_time(below_ps, time),
                cause_phrase(fabric, most_of(p->critical.parts)));
    }
    result_explain(r, EXPLAIN_LOSS, text_close(out, &text));
}

// The iteration that took longest on the path, against the shortest: and the cause that grew most.
static void explain_iterations(const struct fabric *fabric, struct result *r)
{
    const struct slowest_result *s = r->last;
    if (s->n_iterations < 2)
        return;
    const struct critical_stage *longest = &s->iterations[0], *shortest = longest;
    for (size_t i = 1; i < s->n_iterations; i++) {
        const struct critical_stage *at = &s->iterations[i];
        longest = at->total_ps > longest->total_ps ? at : longest;
        shortest = at->total_ps < shortest->total_ps ? at : shortest;
    }
    if ((double)longest->total_ps < LONGER * (double)shortest->total_ps)
        return;
    ps_t more[PATH_CAUSES];
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        more[cause] = longest->parts[cause] > shortest->parts[cause]
                          ? longest->parts[cause] - shortest->parts[cause]
                          : 0;
    enum path_cause grew = most_of(more);
    char most[UNIT_TEXT], least[UNIT_TEXT], growth[UNIT_TEXT];
    result_explain(r, EXPLAIN_LOSS,
                   text_format("iteration %u took longest of the path, %s, and iteration %u least, "
                               "%s: it was %s longer %s",
                               longest->number, human_time(longest->total_ps, most),
                               shortest->number, human_time(shortest->total_ps, least),
                               human_time(more[grew], growth), cause_phrase(fabric, grew)));
}

void explain_stages(const struct fabric *fabric, struct result *r)
{
    if (r->last->kind == SLOWEST_COLLECTIVE)
        explain_phases(fabric, r);
    explain_iterations(fabric, r);
}

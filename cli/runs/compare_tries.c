// SPDX-License-Identifier: MIT
// Trials of a comparison: the best change of the best row, and the first cause of the worst.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/runs/runs_internal.h"
#include "cli/trials/tried.h"
#include "report/comparison/comparison.h"

// The variant that a row is of; NULL = none, as for a run that left no results.
static const struct variant *variant_of(const struct compare *c, const struct row *row)
{
    for (size_t i = 0; row && i < c->n; i++)
        if (c->list[i].seed == row->seed && strcmp(c->list[i].name, row->name) == 0 &&
            strcmp(c->list[i].of->name, row->scenario) == 0)
            return c->list[i].id[0] ? &c->list[i] : NULL;
    return NULL;
}

// Run the trials of one row: as many as --try says, else one where the row had few packet-hops.
// Returns true if they have replaced its metrics.
static bool try_variant(const struct compare *c, const struct variant *one)
{
    const struct options *o = c->options;
    json_t *metrics = one ? result_set_json(one->dir, "metrics.json") : NULL;
    uint64_t n = metrics ? tries_of_run(metrics, o->quiet) : 0;
    json_decref(metrics);
    if (o->tries > 0)
        n = o->tries;
    else if (n > 0)
        n = 1;
    return one && n > 0 && tried(o, one->dir, n, o->tries == 0) == EXIT_DONE;
}

const struct outcome *worst_outcome(const struct group *g)
{
    const struct outcome *worst = NULL;
    for (size_t i = 0; i < g->n; i++) {
        double center = g->outcomes[i].columns[g->headline].center;
        if (!isnan(center) && (!worst || center > worst->columns[g->headline].center))
            worst = &g->outcomes[i];
    }
    return worst;
}

bool compare_try(const struct compare *c, const struct rows *rows)
{
    struct comparison *comparison = comparison_new(rows, c->baseline);
    bool any = false;
    for (size_t i = 0; i < comparison->n; i++) {
        const struct group *g = &comparison->groups[i];
        const struct outcome *worst = worst_outcome(g);
        if (g->job)
            continue; // rows of jobs are parts of a run
        for (size_t k = 0; k < g->n; k++)
            if (g->outcomes[k].best || &g->outcomes[k] == worst)
                any |= try_variant(c, variant_of(c, typical_run(g, &g->outcomes[k])));
    }
    comparison_free(comparison);
    return any;
}

// SPDX-License-Identifier: MIT
// collwire partition: divides a model among ranks, and writes the scenario.
#include "cli/partition/partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/partition/divided.h"
#include "cli/results/output.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

/* ---- kinds of models ---- */

static void divide(const struct model *m, struct divided *d, struct err *err)
{
    const json_t *job = draft_job(m->draft.json);
    const char *kind = json_string_value(json_object_get(job, "kind"));
    if (json_object_get(m->draft.json, "operators") != NULL)
        divide_operators(m, d, err);
    else if (kind != NULL && strcmp(kind, "cnn") == 0)
        divide_layers(m, d, err);
    else if (json_object_get(job, "dlrm") != NULL)
        divide_tables(m, d, err);
    else if (kind != NULL && strcmp(kind, "llm") == 0)
        err_add(err, "workload",
                "the layers of an llm job are alike and its `pipeline` divides them equally, so "
                "there is no other cut to write: collwire plan finds its degrees");
    else
        err_add(
            err, "workload",
            "partition takes a scenario with one job, of kind cnn or training with a `dlrm`, or "
            "a graph of `operators` and `edges`");
}

/* ---- the command ---- */

static void print_cost(const struct divided *d)
{
    char cost[UNIT_TEXT], equal[UNIT_TEXT];
    text_print(stderr, d->text);
    human_time((ps_t)(d->cost_ps + 0.5), cost);
    if (!isfinite(d->equal_ps)) {
        fprintf(stderr, "In closed form %s; an equal split does not fit.\n", cost);
        return;
    }
    human_time((ps_t)(d->equal_ps + 0.5), equal);
    if (d->cost_ps < d->equal_ps)
        fprintf(stderr, "In closed form %s, %.1f %% less than an equal split (%s).\n", cost,
                100 * (1 - d->cost_ps / d->equal_ps), equal);
    else
        fprintf(stderr, "In closed form %s, as long as an equal split.\n", cost);
}

static int write_scenario(const struct model *m, const struct divided *d, struct err *err)
{
    struct collwire_scenario *made =
        scenario_of_json(m->options, d->scenario, m->draft.folder, err);
    if (made == NULL)
        return EXIT_BAD_USE;
    print_cost(d);
    int code = text_write(m->options->file, collwire_scenario_json(made));
    collwire_scenario_free(made);
    return code;
}

static int partition(const struct options *o, const char *path, struct err *err)
{
    struct divided d = {0};
    struct model m = {.options = o, .parts = (uint32_t)o->parts};
    int code = EXIT_BAD_USE, read = draft_read(&m.draft, path, err);
    if (o->parts == 0)
        err_add(err, "--parts", "is required: a number of ranks");
    if (read == 0 && !json_is_object(m.draft.json))
        err_add(err, path, "must be an object: a scenario, or a graph of operators");
    if (err->n_errors == 0)
        divide(&m, &d, err);
    if (err->n_errors == 0)
        code = write_scenario(&m, &d, err);
    json_decref(d.scenario);
    free(d.text);
    draft_free(&m.draft);
    return code;
}

int command_partition(const struct options *o)
{
    struct err err = {0};
    const char *path = scenario_argument(o);
    if (path == NULL)
        return EXIT_BAD_USE;
    int code = partition(o, path, &err);
    errors_print(&err);
    return code;
}

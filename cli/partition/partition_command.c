// SPDX-License-Identifier: MIT
// collwire partition: divides a model among ranks, and writes the scenario.
#include "cli/partition/partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/partition/divided.h"
#include "cli/results/output.h"
#include "cli/terminal/terminal.h"
#include "config/text/json_file.h"
#include "engine/memory.h"
#include "engine/text.h"
#include "engine/units.h"

struct collwire_scenario *model_parse(const struct model *m, const json_t *scenario,
                                      struct err *err)
{
    char *text = json_dumps(scenario, JSON_REAL_PRECISION(17));
    const struct options *o = m->options;
    struct collwire_scenario *parsed =
        collwire_scenario_parse(text, m->folder, o->sets, o->n_sets, o->policies, messages_of(err));
    free(text);
    return parsed;
}

json_t *model_job(json_t *scenario)
{
    json_t *workload = json_object_get(scenario, "workload");
    if (!json_is_array(workload))
        return workload;
    return json_array_size(workload) == 1 ? json_array_get(workload, 0) : NULL;
}

/* ---- kinds of models ---- */

static void divide(const struct model *m, struct divided *d, struct err *err)
{
    const json_t *job = model_job(m->json);
    const char *kind = json_string_value(json_object_get(job, "kind"));
    if (json_object_get(m->json, "operators") != NULL)
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
    struct collwire_scenario *made = model_parse(m, d->scenario, err);
    if (made == NULL)
        return EXIT_BAD_USE;
    print_cost(d);
    int code = text_write(m->options->file, collwire_scenario_json(made));
    collwire_scenario_free(made);
    return code;
}

static int partition(const struct options *o, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    struct divided d = {0};
    struct model m = {.options = o,
                      .json = json_file_read(path, err),
                      .folder =
                          slash ? text_format("%.*s", (int)(slash - path), path) : memory_text("."),
                      .parts = (uint32_t)o->parts};
    int code = EXIT_BAD_USE;
    if (o->parts == 0)
        err_add(err, "--parts", "is required: a number of ranks");
    if (m.json != NULL && !json_is_object(m.json))
        err_add(err, path, "must be an object: a scenario, or a graph of operators");
    if (err->n_errors == 0)
        divide(&m, &d, err);
    if (err->n_errors == 0)
        code = write_scenario(&m, &d, err);
    json_decref(d.scenario);
    free(d.text);
    json_decref(m.json);
    free(m.folder);
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

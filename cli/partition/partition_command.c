// SPDX-License-Identifier: MIT
// collwire partition: divides a model among ranks, and writes the scenario.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/partition/chain.h"
#include "cli/partition/divided.h"
#include "cli/partition/partition.h"
#include "cli/partition/tables.h"
#include "cli/results/output.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "workload/cnn/cnn_job.h"

/* ---- divide tables ---- */

// Places the embedding tables of a recommendation model (workload/training/dlrm.h) on the ranks.
//
// In closed form an iteration looks rows up once forward and twice backward (read and write), at
// the bandwidth of the rank's memory, and exchanges vectors once in either direction, at the rate
// of its slowest link; with B samples on each of N ranks, d bytes an element, bandwidth M, rate R:
//   3 B N d / M * max lookups + 2 B N d (N - 1) / N / R * max columns
// Memory of a rank: weights, and 4 bytes a row for row-wise AdaGrad.

#define TABLES_MOST 20000
#define STATE_BYTES 4.0

struct dlrm_tables {
    struct table_load *loads;
    struct table_set set;
    uint32_t ranks;
};

static double number(const json_t *dlrm, const char *key)
{
    return json_number_value(json_object_get(dlrm, key));
}

static double own_or(const json_t *table, const json_t *dlrm, const char *key)
{
    return json_object_get(table, key) != NULL ? number(table, key) : number(dlrm, key);
}

static void read_loads(const json_t *dlrm, double element, struct dlrm_tables *t)
{
    const json_t *list = json_object_get(dlrm, "tables");
    t->set.n = (uint32_t)(list != NULL ? (double)json_array_size(list) : number(dlrm, "n_tables"));
    t->loads = memory_zeroed((size_t)t->set.n + 1, sizeof *t->loads);
    for (uint32_t i = 0; i < t->set.n; i++) {
        const json_t *table = json_array_get(list, i);
        double dim = own_or(table, dlrm, "dim"), rows = own_or(table, dlrm, "rows");
        t->loads[i] = (struct table_load){.lookups = dim * own_or(table, dlrm, "pooling"),
                                          .vectors = dim,
                                          .memory_bytes = rows * (dim * element + STATE_BYTES)};
    }
    t->set.tables = t->loads;
}

static uint32_t ranks_of(const struct spec *spec)
{
    return spec->jobs[0].ranks != NULL ? (uint32_t)spec->jobs[0].n_ranks : spec_ranks(spec);
}

static int read_tables(const struct model *m, const struct collwire_scenario *parsed,
                       const json_t *dlrm, struct dlrm_tables *t, struct err *err)
{
    const struct spec *spec = scenario_spec(scenario_of(parsed));
    uint64_t element = 4;
    t->ranks = ranks_of(spec);
    const char *bytes = json_string_value(json_object_get(dlrm, "element"));
    if (strcmp(json_string_value(json_object_get(dlrm, "sharding")), "table") != 0)
        return err_add(err, "workload.dlrm.sharding",
                       "must be table: otherwise a table has no rank of its own");
    if (t->ranks != m->parts)
        return err_add(err, "--parts", "the tables are on the job's %u ranks, not %u", t->ranks,
                       m->parts);
    if (bytes != NULL)
        parse_bytes(bytes, &element);
    read_loads(dlrm, (double)element, t);
    if (t->set.n > TABLES_MOST)
        return err_add(err, "workload.dlrm", "partition takes at most %d tables, not %u",
                       TABLES_MOST, t->set.n);
    double samples = number(dlrm, "batch") * t->ranks, elements = samples * (double)element;
    t->set.lookup_ps = 3 * elements / number(dlrm, "memory_gbs") * 1e3;
    t->set.vector_ps =
        2 * elements * (t->ranks - 1.0) / t->ranks * 8e12 / (double)spec_slowest_bps(spec);
    if (spec->memory.capacity_bytes != PARAM_AUTO)
        t->set.capacity_bytes =
            (double)spec->memory.capacity_bytes - (double)spec->memory.reserve_bytes;
    return 0;
}

static char *divide_tables_describe(const struct dlrm_tables *t, const uint32_t *rank)
{
    struct text text;
    FILE *out = text_open(&text);
    for (uint32_t r = 0; r < t->ranks; r++) {
        struct table_load sum = {0};
        char bytes[UNIT_TEXT];
        uint32_t n = 0;
        for (uint32_t i = 0; i < t->set.n; i++) {
            if (rank[i] != r)
                continue;
            n++;
            sum.lookups += t->loads[i].lookups;
            sum.vectors += t->loads[i].vectors;
            sum.memory_bytes += t->loads[i].memory_bytes;
        }
        human_bytes((uint64_t)sum.memory_bytes, bytes);
        fprintf(out, "rank %u: %u table%s, %.0f columns, %.0f with pooling, %s\n", r, n,
                n == 1 ? "" : "s", sum.vectors, sum.lookups, bytes);
    }
    return text_close(out, &text);
}

static void place_tables(const struct dlrm_tables *t, json_t *dlrm, struct divided *d,
                         struct err *err)
{
    uint32_t *rank = memory_zeroed((size_t)t->set.n + 1, sizeof *rank);
    tables_equal(t->set.n, t->ranks, rank);
    d->equal_ps = tables_cost(&t->set, t->ranks, rank);
    d->cost_ps = tables_place(&t->set, t->ranks, rank);
    if (!isfinite(d->cost_ps))
        err_add(err, "memory.capacity", "no placement of the tables was found that fits");
    json_t *list = json_array();
    for (uint32_t i = 0; i < t->set.n; i++)
        json_array_append_new(list, json_integer(rank[i]));
    json_object_set_new(dlrm, "placement", list);
    d->text = divide_tables_describe(t, rank);
    free(rank);
}

// A scenario with a training job of a dlrm: ranks of its tables.
static void divide_tables(const struct model *m, struct divided *d, struct err *err)
{
    struct dlrm_tables t = {0};
    json_t *scenario = json_deep_copy(m->draft.json);
    json_object_del(json_object_get(draft_job(scenario), "dlrm"), "placement");
    struct collwire_scenario *parsed = scenario_of_json(m->options, scenario, m->draft.folder, err);
    json_decref(scenario);
    if (parsed == NULL)
        return;
    d->scenario = json_loads(collwire_scenario_json(parsed), 0, NULL);
    json_t *dlrm = json_object_get(draft_job(d->scenario), "dlrm");
    if (read_tables(m, parsed, dlrm, &t, err) == 0)
        place_tables(&t, dlrm, d, err);
    free(t.loads);
    collwire_scenario_free(parsed);
}

/* ---- divide layers ---- */

// Cuts the layers of a cnn job into the stages of a pipeline.
//
// The cost that the cut minimises is that of the job's own closed form (workload/cnn), but for one
// term: there the slowest update may be in another stage than the slowest passes, and here the two
// are added up by stage. So the result is compared in the whole closed form with the equal split
// and with the stages that the job has on its own, and the best of the three is written.

#define LAYERS_MOST 4096 // the table of the dynamic programming has layers times parts entries

static double projected_ps(const struct cnn_plan *plan, const uint32_t *stage)
{
    struct cnn_plan p = *plan;
    p.stage = stage;
    struct cnn_cost cost = cnn_project(&p);
    return cost.compute_ps + cost.communication_ps;
}

// The S segments of a batch pass through p stages in p + S - 1 steps, with a message between two
// steps.
static void cut_layers(const struct cnn_plan *p, uint32_t *stage)
{
    const struct cnn_model *m = p->model;
    double batch = (double)p->batch, segments = (double)p->segments,
           steps = p->parts + segments - 1, item = (double)p->item_bytes;
    double *work = memory_zeroed(m->n, sizeof *work),
           *boundary = memory_zeroed(m->n, sizeof *boundary);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct cnn_time *t = &p->times[i];
        double bytes = batch / segments * cnn_outputs(&m->layers[i]) * item;
        work[i] = batch * steps / segments * (t->forward_ps + t->backward_ps) + t->update_ps;
        boundary[i] = 2 * (steps - 1) * (p->alpha_ps + bytes * p->beta_ps);
    }
    struct chain chain = {.n = m->n, .work = work, .boundary = boundary};
    chain_cut(&chain, p->parts, stage);
    free(work);
    free(boundary);
}

// Layers by name where the job's reader finds the same one, otherwise by number.
static json_t *stages_json(const struct cnn_model *m, const uint32_t *stage, uint32_t parts)
{
    json_t *list = json_array();
    for (uint32_t s = 0; s < parts; s++) {
        uint32_t found = s > 0 ? stage[s - 1] + 1 : 0;
        while (strcmp(m->layers[found].name, m->layers[stage[s]].name) != 0)
            found++;
        json_array_append_new(list, found == stage[s] ? json_string(m->layers[found].name)
                                                      : json_integer(stage[s] + 1));
    }
    return list;
}

static void describe(const struct cnn_plan *p, const uint32_t *stage, const uint32_t *equal,
                     struct divided *d)
{
    struct text text;
    FILE *out = text_open(&text);
    d->cost_ps = projected_ps(p, stage);
    d->equal_ps = projected_ps(p, equal);
    for (uint32_t s = 0; s < p->parts; s++) {
        char bytes[UNIT_TEXT], time[UNIT_TEXT];
        double ps = 0;
        for (uint32_t i = stage[s]; i < stage[s + 1]; i++)
            ps += p->times[i].forward_ps + p->times[i].backward_ps;
        human_time((ps_t)(ps * (double)p->batch + 0.5), time);
        uint32_t n = stage[s + 1] - stage[s];
        fprintf(out, "stage %u: %u layer%s from %s, %s an iteration", s, n, n == 1 ? "" : "s",
                p->model->layers[stage[s]].name, time);
        double sent = (double)p->batch * (double)p->item_bytes *
                      cnn_outputs(&p->model->layers[stage[s + 1] - 1]);
        human_bytes((uint64_t)sent, bytes);
        fprintf(out, s + 1 < p->parts ? ", sends %s\n" : "\n", bytes);
    }
    d->text = text_close(out, &text);
}

static int check_job(const struct model *m, const struct cnn_settings *s, struct err *err)
{
    const struct cnn_plan *plan = &s->program.plan;
    if (plan->strategy != CNN_PIPELINE)
        return err_add(err, "workload.strategy", "is pipeline in what partition writes");
    if (plan->parts != m->parts)
        return err_add(err, "--parts",
                       "a pipeline has a stage for each rank, and the job has %u ranks, not %u: "
                       "change its topology, or list its `ranks`",
                       plan->parts, m->parts);
    if (s->model.n > LAYERS_MOST)
        return err_add(err, "workload", "partition takes at most %d layers, not %u", LAYERS_MOST,
                       s->model.n);
    return 0;
}

static const struct cnn_settings *settings_of(const struct collwire_scenario *parsed)
{
    return scenario_spec(scenario_of(parsed))->jobs[0].settings;
}

// A scenario with a cnn job: stages of its pipeline.
static void divide_layers(const struct model *m, struct divided *d, struct err *err)
{
    static const char *const others[] = {"parts", "cut_layers", "stages"};
    json_t *scenario = json_deep_copy(m->draft.json), *job = draft_job(scenario);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        json_object_del(job, others[i]);
    json_object_set_new(job, "strategy", json_string(cnn_strategies[CNN_PIPELINE]));
    struct collwire_scenario *parsed = scenario_of_json(m->options, scenario, m->draft.folder, err);
    json_decref(scenario);
    if (parsed == NULL || check_job(m, settings_of(parsed), err) != 0) {
        collwire_scenario_free(parsed);
        return;
    }
    const struct cnn_plan *plan = &settings_of(parsed)->program.plan;
    size_t ends = (size_t)m->parts + 1;
    uint32_t *cut = memory_zeroed(ends, sizeof *cut), *equal = memory_zeroed(ends, sizeof *equal);
    const uint32_t *best = cut;
    cut_layers(plan, cut);
    chain_equal(plan->model->n, m->parts, equal);
    if (projected_ps(plan, plan->stage) < projected_ps(plan, best))
        best = plan->stage;
    if (projected_ps(plan, equal) < projected_ps(plan, best))
        best = equal;
    describe(plan, best, equal, d);
    d->scenario = json_loads(collwire_scenario_json(parsed), 0, NULL);
    json_object_set_new(draft_job(d->scenario), "stages", stages_json(plan->model, best, m->parts));
    free(cut);
    free(equal);
    collwire_scenario_free(parsed);
}

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

static int command_partition(const struct options *o)
{
    struct err err = {0};
    const char *path = scenario_argument(o);
    if (path == NULL)
        return EXIT_BAD_USE;
    int code = partition(o, path, &err);
    errors_print(&err);
    return code;
}

/* ---- its row ---- */

static const char partition_text[] =
    "Divides a model among ranks by time and bytes, and writes the scenario: the layers of a cnn "
    "job into the stages of a pipeline, by dynamic programming; a graph of operators "
    "({\"operators\": [{\"name\", \"time_ns\", \"memory_bytes\"}], \"edges\": [{\"from\", "
    "\"to\", \"bytes\"}]}) into a program, by METIS; the embedding tables of a training job's dlrm "
    "among its ranks. stderr has the cost in closed form beside that of an equal split, which is "
    "never less.\n\n"
    "Other keys of a graph (topology, cc, transport, ..) are those of the scenario; without a "
    "topology its ranks are on one switch. capacity_bytes is the memory of a rank.\n\n"
    "  collwire partition resnet.json --parts 8 -o pipeline.json\n"
    "  collwire partition graph.json --parts 4 --set cc.kind=dcqcn -o program.json";

const struct command partition_command = {
    .name = "partition",
    .help = "a model divided among ranks by time and bytes, as a scenario",
    .args = "MODEL --parts N",
    .text = partition_text,
    .run = command_partition,
    .completes = COMPLETE_FILES,
};

// SPDX-License-Identifier: MIT
// Places the embedding tables of a recommendation model (workload/training/dlrm.h) on the ranks.
//
// In closed form an iteration looks rows up once forward and twice backward (read and write), at
// the bandwidth of the rank's memory, and exchanges vectors once in either direction, at the rate
// of its slowest link; with B samples on each of N ranks, d bytes an element, bandwidth M, rate R:
//   3 B N d / M * max lookups + 2 B N d (N - 1) / N / R * max columns
// Memory of a rank: weights, and 4 bytes a row for row-wise AdaGrad.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/partition/divided.h"
#include "cli/partition/tables.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

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
    uint32_t ranks = 1;
    if (spec->jobs[0].ranks != NULL)
        return (uint32_t)spec->jobs[0].n_ranks;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        ranks *= spec->dims[d].size;
    return ranks;
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

static char *describe(const struct dlrm_tables *t, const uint32_t *rank)
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
    d->text = describe(t, rank);
    free(rank);
}

void divide_tables(const struct model *m, struct divided *d, struct err *err)
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

// SPDX-License-Identifier: MIT
#include "cli/measured/beside.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/measured/measured_recording.h"
#include "engine/base/memory.h"
#include "workload/collective_job.h"
#include "workload/flows.h"

int beside_table(struct measured_table *t, const char *path, struct err *err)
{
    struct found found = {0};
    bool recording = false;
    int status = found_read(&found, &path, 1, err);
    if (status == 0)
        status = measured_recording_read(t, path, &found, &recording, err);
    if (status == 0 && !recording)
        status = measured_table_read(t, path, err);
    found_free(&found);
    return status;
}

int beside_fit(struct measured_table *t, const char *path, const struct collwire_scenario *scenario,
               struct err *err)
{
    const struct spec *spec = scenario_spec(scenario_of(scenario));
    const struct collective_settings *job = spec->jobs[0].settings;
    return measured_table_fit(t, path, coll_op_name((enum coll_op)job->params.op),
                              job_n_ranks(&spec->jobs[0], spec_ranks(spec)), err);
}

// A collective alone, whose size the file has.
static int collective_fit(struct beside *b, const char *path,
                          const struct collwire_scenario *scenario, struct err *err)
{
    const struct spec *spec = scenario_spec(scenario_of(scenario));
    const struct collective_settings *job = spec->jobs[0].settings;
    if (beside_fit(&b->table, path, scenario, err) != 0)
        return -1;
    return measured_table_need(&b->table, path, job->params.bytes, err);
}

/* ---- a job of messages ---- */

// Whether a message as long as `there` goes back.
static bool goes_back(const struct flow_list *list, const struct raw_flow *there)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->flows[i].bytes == there->bytes && list->flows[i].src == there->dst &&
            list->flows[i].dst == there->src)
            return true;
    return false;
}

// The first message whose size the table has; NULL = there is none.
static const struct raw_flow *listed(const struct measured_table *t, const struct flow_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (measured_table_at(t, list->flows[i].bytes) != NULL)
            return &list->flows[i];
    return NULL;
}

// Check a job of messages: one of them must have a size that the table has.
static int messages_fit(const struct measured_table *t, const char *path, const struct spec *spec,
                        struct err *err)
{
    const struct job_spec *job = &spec->jobs[0];
    const struct flow_list *list = job_flows(job);
    if (t->what == AGAINST_COLLECTIVES)
        return err_add(err, path,
                       "is of a collective, and the job is of kind %s: give a job of kind "
                       "collective, or a table of perftest",
                       job->kind->name);
    if (list->n > spec->report.flows_max)
        return err_add(err, "--against",
                       "the run has %zu messages and keeps no list of them: set "
                       "report.flows_max=%zu",
                       list->n, list->n);
    const struct raw_flow *first = listed(t, list);
    if (first == NULL)
        return measured_table_need(t, path, list->n > 0 ? list->flows[0].bytes : 0, err);
    if (t->what == AGAINST_GOODPUT_BOTH && !goes_back(list, first))
        return err_add(err, path,
                       "is of both directions at once, and no message of %" PRIu64
                       " B goes from rank %u to %u: give the job both",
                       first->bytes, first->dst, first->src);
    return 0;
}

/* ---- all ---- */

// Any other job, beside a recording of as many ranks.
static int job_fit(const struct beside *b, const char *path, const struct spec *spec,
                   struct err *err)
{
    const struct job_spec *job = &spec->jobs[0];
    uint32_t ranks = job_n_ranks(job, spec_ranks(spec));
    if (!b->table.recording && job->kind->raw)
        return messages_fit(&b->table, path, spec, err);
    if (!b->table.recording)
        return err_add(
            err, "--against",
            "a table is of one collective or of messages, and the job is of kind %s: "
            "give a job of kind collective or flows, or a recording of the job (collwire import "
            "says of which kinds)",
            job->kind->name);
    if (ranks == b->table.world)
        return 0;
    return err_add(err, path, "is a recording of %u ranks, and the job has %u", b->table.world,
                   ranks);
}

static void file_make(struct beside *b, const char *path)
{
    const struct measured_table *t = &b->table;
    b->times = memory_zeroed(t->n, sizeof *b->times);
    for (size_t i = 0; i < t->n; i++)
        b->times[i] = (struct against_time){.bytes = t->rows[i].bytes,
                                            .time_ns = t->rows[i].time_us * 1e3,
                                            .op = t->rows[i].op,
                                            .ranks = t->rows[i].ranks};
    b->ranks = memory_zeroed(t->n_ranks + 1, sizeof *b->ranks);
    for (size_t i = 0; i < t->n_ranks; i++)
        b->ranks[i] = (struct against_rank){.rank = t->of_ranks[i].rank,
                                            .measured_ns = t->of_ranks[i].time_us * 1e3,
                                            .measured_compute_ns = t->of_ranks[i].compute_us * 1e3};
    b->file = (struct against_file){.path = path,
                                    .kind = t->kind,
                                    .op = t->op,
                                    .what = t->what,
                                    .from_last = t->recording,
                                    .times = b->times,
                                    .n = t->n,
                                    .ranks = b->ranks,
                                    .n_ranks = t->n_ranks,
                                    .steps = t->steps};
}

int beside_read(struct beside *b, const char *path, const struct collwire_scenario *scenario,
                struct err *err)
{
    const struct spec *spec = scenario_spec(scenario_of(scenario));
    *b = (struct beside){0};
    if (spec->n_jobs != 1)
        return err_add(err, "--against",
                       "measured times are of one job, and the scenario has %zu: run one alone",
                       spec->n_jobs);
    if (beside_table(&b->table, path, err) != 0)
        return -1;
    if ((spec->jobs[0].kind == &collective_kind ? collective_fit(b, path, scenario, err)
                                                : job_fit(b, path, spec, err)) != 0)
        return -1;
    file_make(b, path);
    return 0;
}

void beside_free(struct beside *b)
{
    measured_table_free(&b->table);
    free(b->times);
    free(b->ranks);
    *b = (struct beside){0};
}

// SPDX-License-Identifier: MIT
#include "cli/measured/beside.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "workload/collective_job.h"

int beside_fit(struct measured_table *t, const char *path, const struct collwire_scenario *scenario,
               struct err *err)
{
    const struct spec *spec = scenario_spec(scenario_of(scenario));
    const struct collective_settings *job = spec->jobs[0].settings;
    uint32_t all = 1;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        all *= spec->dims[d].size;
    return measured_table_fit(t, path, coll_op_name((enum coll_op)job->params.op),
                              job_n_ranks(&spec->jobs[0], all), err);
}

static int check_job(const struct spec *spec, struct err *err)
{
    if (spec->n_jobs != 1)
        return err_add(err, "--against",
                       "a table is of one collective, and the scenario has %zu jobs: run one alone",
                       spec->n_jobs);
    if (spec->jobs[0].kind == &collective_kind)
        return 0;
    return err_add(err, "--against",
                   "a table is of one collective, and the job is of kind %s: give a job of kind "
                   "collective; collectives of a recording keep their measured times (collwire "
                   "import)",
                   spec->jobs[0].kind->name);
}

int beside_read(struct beside *b, const char *path, const struct collwire_scenario *scenario,
                struct err *err)
{
    const struct spec *spec = scenario_spec(scenario_of(scenario));
    *b = (struct beside){0};
    if (check_job(spec, err) != 0 || measured_table_read(&b->table, path, err) != 0)
        return -1;
    const struct collective_settings *job = spec->jobs[0].settings;
    if (beside_fit(&b->table, path, scenario, err) != 0 ||
        measured_table_need(&b->table, path, job->params.bytes, err) != 0)
        return -1;
    b->times = memory_zeroed(b->table.n, sizeof *b->times);
    for (size_t i = 0; i < b->table.n; i++)
        b->times[i] = (struct against_time){b->table.rows[i].bytes, b->table.rows[i].time_us * 1e3};
    b->file = (struct against_file){path, b->table.kind, b->times, b->table.n};
    return 0;
}

void beside_free(struct beside *b)
{
    measured_table_free(&b->table);
    free(b->times);
    *b = (struct beside){0};
}

// SPDX-License-Identifier: MIT
// Repeats over the system layer.
#include "workload/collective_job.h"

#include <stdlib.h>

#include "engine/memory.h"

struct collective_job {
    struct job_run *job;
    struct system *system;
    struct system_request request;
    uint64_t *begun; // [rank] repeats
};

// Begin repeats until one has to be waited for (a rank alone never waits).
static void rank_goes_on(struct collective_job *c, uint32_t rank, ps_t now)
{
    uint64_t repeat = c->job->spec->repeat;
    while (c->begun[rank] < repeat) {
        c->begun[rank]++;
        if (system_issue(c->system, rank, &c->request, now))
            return;
    }
    workload_unit_ended(c->job->workload, c->job);
}

static void rank_done(void *ctx, uint32_t rank, uint32_t number, ps_t now)
{
    (void)number;
    rank_goes_on(ctx, rank, now);
}

struct collective_job *collective_job_new(struct job_run *job)
{
    const struct job_spec *spec = job->spec;
    struct collective_job *c = memory_zeroed(1, sizeof *c);
    c->job = job;
    c->system = system_new(job, spec->schedule, rank_done, c);
    c->request = (struct system_request){.op = (enum coll_op)spec->op,
                                         .bytes = spec->bytes,
                                         .dims = (UINT32_C(1) << spec->schedule->n_dims) - 1,
                                         .root = (uint32_t)spec->root,
                                         .pieces = (uint32_t)spec->pieces,
                                         .ranks_per_server = (uint32_t)spec->ranks_per_server,
                                         .name = spec->name};
    c->begun = memory_zeroed(job_n_ranks(spec, job->workload->n_ranks), sizeof *c->begun);
    return c;
}

void collective_job_free(struct collective_job *c)
{
    if (!c)
        return;
    system_free(c->system);
    free(c->begun);
    free(c);
}

const struct coll_schedule *collective_job_schedule(const struct collective_job *c)
{
    return system_schedule(c->system);
}

const struct system_request *collective_job_request(const struct collective_job *c)
{
    return &c->request;
}

void collective_job_start(struct collective_job *c, uint32_t i, ps_t now)
{
    rank_goes_on(c, i, now);
}

void collective_job_delivered(struct collective_job *c, uint64_t token, ps_t now)
{
    system_delivered(c->system, token, now);
}

uint64_t collective_job_bytes(const struct collective_job *c)
{
    return system_bytes(c->system, &c->request) * c->job->spec->repeat;
}

// SPDX-License-Identifier: MIT
// A collective job: the same operation `repeat` times. A rank starts the next one when its own part
// of the one before is done, as kernels on a stream do; no barrier is added between ranks.
#include <stdlib.h>

#include "engine/memory.h"
#include "workload/runner.h"
#include "workload/workload.h"

struct collective_job {
    struct job_run *job;
    struct communicator *comm;
    struct comm_request request;
    uint64_t *begun; // [rank] repeats
    bool *beginning; // [rank] its repeat ends, if it does, on the spot
};

// Begin repeats until one has to be waited for. A rank alone never waits, nor does one that only
// sends, as a root: the end of its part comes while it begins.
static void rank_goes_on(void *self, uint32_t rank, ps_t now)
{
    struct collective_job *c = self;
    uint64_t repeat = c->job->spec->repeat;
    while (c->begun[rank] < repeat) {
        c->begun[rank]++;
        c->beginning[rank] = true;
        bool open = comm_issue(c->comm, rank, &c->request, 0, now) && c->beginning[rank];
        c->beginning[rank] = false;
        if (open)
            return;
    }
    workload_unit_ended(c->job->workload, c->job);
}

static void rank_done(void *ctx, uint32_t rank, uint32_t ticket, ps_t now)
{
    struct collective_job *c = ctx;
    (void)ticket;
    if (c->beginning[rank])
        c->beginning[rank] = false; // the loop above goes on: no stack for a million repeats
    else
        rank_goes_on(ctx, rank, now);
}

static void *collective_new(struct job_run *job)
{
    const struct job_spec *spec = job->spec;
    struct collective_job *c = memory_zeroed(1, sizeof *c);
    c->job = job;
    c->comm = comm_new(&job->comm, spec->ranks, spec->schedule, rank_done, c);
    c->request = (struct comm_request){.op = (enum coll_op)spec->op,
                                       .bytes = spec->bytes,
                                       .dims = (UINT32_C(1) << spec->schedule->n_dims) - 1,
                                       .root = (uint32_t)spec->root,
                                       .pieces = (uint32_t)spec->pieces,
                                       .ranks_per_server = (uint32_t)spec->ranks_per_server,
                                       .name = spec->name};
    uint32_t ranks = job_n_ranks(spec, job->workload->n_ranks);
    c->begun = memory_zeroed(ranks, sizeof *c->begun);
    c->beginning = memory_zeroed(ranks, sizeof *c->beginning);
    return c;
}

static void collective_free(void *self)
{
    struct collective_job *c = self;
    comm_free(c->comm);
    free(c->begun);
    free(c->beginning);
    free(c);
}

static void collective_delivered(void *self, uint64_t token, ps_t now)
{
    comm_delivered(&((struct collective_job *)self)->job->comm, token, now);
}

static uint64_t collective_bytes(const void *self)
{
    const struct collective_job *c = self;
    return comm_bytes(c->comm, &c->request) * c->job->spec->repeat;
}

const struct job_runner collective_runner = {
    .new = collective_new,
    .free = collective_free,
    .start = rank_goes_on,
    .delivered = collective_delivered,
    .bytes = collective_bytes,
};

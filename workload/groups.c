// SPDX-License-Identifier: MIT
// Groups of ranks of a job, and their collectives.
#include <stdlib.h>

#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "workload/runner_internal.h"

static int compare_members(const void *a, const void *b)
{
    const struct group_member *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

uint32_t job_group_member(const struct job_group *group, uint32_t rank)
{
    if (group->ranks == NULL)
        return rank;
    struct group_member key = {.rank = rank};
    const struct group_member *found =
        bsearch(&key, group->members, group->n, sizeof *group->members, compare_members);
    SIM_ASSERT(group->job->workload->engine, rank, found != NULL);
    return found->member;
}

// A collective of the rank begins or ends: see workload/contention.h.
void runner_contention(struct rank_run *r, bool offloaded, int change, ps_t now)
{
    const struct contention_params *c = &r->job->contention;
    uint32_t *open = offloaded ? &r->offloaded : &r->kernels;
    *open += (uint32_t)change;
    timed_steps_beside(&r->timed, r->kernels > 0, r->offloaded > 0 ? c->in_network : 0, now);
}

static void peers_of_collective(void *ctx, const void *note, ps_t now)
{
    const struct job_group *group = ctx;
    const struct comm_ending *ending = comm_ending(group->comm);
    uint32_t last = ending->last_member;
    (void)note, (void)now;
    group->job->peers =
        (struct peers){ending->last_issue_ps, group->ranks != NULL ? group->ranks[last] : last};
}

static void collective_ended(void *ctx, uint32_t member, uint32_t ticket, ps_t now)
{
    const struct job_group *group = ctx;
    struct job_run *job = group->job;
    struct rank_run *r = &job->ranks[group->ranks != NULL ? group->ranks[member] : member];
    const struct program_ops *program = job->spec->kind->program;
    engine_defer(job->workload->engine, peers_of_collective, ctx, NULL, 0);
    runner_contention(r, comm_offloaded(group->comm, comm_ending_op(group->comm)), -1, now);
    if (program->completion_delay_ps == NULL) {
        runner_step_ended(r, ticket, now);
        runner_check_dry(job->workload, now);
        return;
    }
    ps_t delay = program->completion_delay_ps(job->self, r->rank, ticket);
    timed_step_start(&r->timed, TIMED_FIXED, ticket, 0, delay, 0, now);
}

enum comm_issuer job_group_issuer(const void *ctx, uint32_t member, ps_t until_ps, uint32_t *ticket)
{
    const struct job_group *group = ctx;
    const struct job_run *job = group->job;
    const struct program_ops *program = job->spec->kind->program;
    const struct rank_run *r = &job->ranks[group->ranks != NULL ? group->ranks[member] : member];
    *ticket = r->blocking_step;
    if (r->ended)
        return COMM_RESTS;
    if (r->blocked && r->blocking_kind == STEP_COLLECTIVE)
        return job->groups[r->blocking_group] == group ? COMM_AWAITS : COMM_ISSUES;
    if (r->blocked && r->blocking_kind <= STEP_DELAY)
        return timed_step_end_ps(&r->timed, r->blocking_step) >= until_ps ? COMM_RESTS
                                                                          : COMM_ISSUES;
    if (r->blocked || program->awaits == NULL || job->n_groups > 1)
        return COMM_ISSUES;
    *ticket = program->awaits(job->self, r->rank);
    return *ticket != UINT32_MAX ? COMM_AWAITS : COMM_ISSUES;
}

uint32_t job_group_new(struct job_run *job, const uint32_t *ranks,
                       const struct coll_schedule *schedule)
{
    struct job_group *group = memory_zeroed(1, sizeof *group);
    const uint32_t *network_ranks = job->spec->ranks;
    group->job = job;
    if (ranks != NULL) {
        group->n = 1;
        for (uint32_t d = 0; d < schedule->n_dims; d++)
            group->n *= schedule->dim_size[d];
        group->ranks = memory_zeroed(group->n, sizeof *group->ranks);
        group->network_ranks = memory_zeroed(group->n, sizeof *group->network_ranks);
        group->members = memory_zeroed(group->n, sizeof *group->members);
        for (uint32_t m = 0; m < group->n; m++) {
            group->ranks[m] = ranks[m];
            group->network_ranks[m] = job_rank(job->spec, ranks[m]);
            group->members[m] = (struct group_member){ranks[m], m};
        }
        qsort(group->members, group->n, sizeof *group->members, compare_members);
        network_ranks = group->network_ranks;
    }
    group->comm = comm_new(&job->comm, network_ranks, schedule, collective_ended, group);
    job->groups = memory_resize(job->groups, job->n_groups + 1, sizeof(struct job_group *));
    job->groups[job->n_groups] = group;
    return job->n_groups++;
}

struct communicator *job_group_comm(const struct job_run *job, uint32_t group)
{
    return job->groups[group]->comm;
}

void job_group_free(struct job_group *group)
{
    comm_free(group->comm);
    free(group->ranks);
    free(group->network_ranks);
    free(group->members);
    free(group);
}

// SPDX-License-Identifier: MIT
// Makes the results of jobs: their messages, collectives and ends.
#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/collect/collect_internal.h"
#include "workload/training/parameter_server.h"

static void collect_messages(const struct sim *sim, struct result *r, size_t j)
{
    struct job_stats *job = &sim->delivery.records.job_stats[j];
    struct job_result *out = &r->jobs[j];
    out->failed = job->failed;
    out->bytes = job->bytes;
    // A single job has all messages of the run, whose statistics are exact for more of them than a
    // job's are.
    if (sim->spec->n_jobs == 1) {
        out->messages = r->summary.count;
        out->fct_ns = r->summary.fct_ns;
        out->slowdown = r->summary.slowdown;
        out->any_completed = out->messages != out->failed + r->summary.running;
        return;
    }
    out->messages = job->fct_ns.n + job->failed + job->running;
    out->any_completed = job->fct_ns.n > 0;
    out->fct_ns = distribution_stats(&job->fct_ns);
    out->slowdown = distribution_stats(&job->slowdown);
    if (job->slowdown.n > 0)
        out->slowdown.mean = (double)job->slowdown_millionths / 1e6 / (double)job->slowdown.n;
}

// Add the collectives that have ended to the jobs' means; *ends is the end of each job's last one.
static void add_collectives(struct result *r, ps_t *ends)
{
    for (size_t c = 0; c < r->n_collectives; c++) {
        const struct collective_result *one = &r->collectives[c];
        struct job_result *job = &r->jobs[one->job];
        if (one->end_ps < 0)
            continue;
        job->collectives++;
        job->collective_ns += (double)ns_of_ps(one->end_ps - one->start_ps);
        job->busbw_bps += one->busbw_bps;
        job->efficiency += one->efficiency;
        if (one->end_ps > ends[one->job])
            ends[one->job] = one->end_ps;
    }
    for (size_t j = 0; j < r->n_jobs; j++) {
        struct job_result *job = &r->jobs[j];
        double n = job->collectives > 0 ? (double)job->collectives : 1;
        job->collective_ns /= n;
        job->busbw_bps /= n;
        job->efficiency /= n;
    }
}

// The smallest staleness that at least a share of the updates does not exceed.
static double staleness_at(const struct staleness *s, double share)
{
    uint64_t below = 0, needed = (uint64_t)ceil(share * (double)s->n);
    // For a share of 0 the result is the least staleness that occurs, so counts of 0 are skipped.
    for (uint32_t v = 0; v < STALENESS_VALUES; v++)
        if ((below += s->counts[v]) >= needed && below > 0)
            return v;
    // Larger values than the table has are counted in `n` but not one by one.
    return (double)s->most;
}

#define VALUES_LISTED 256

static void list_counts(const struct staleness *s, struct server_result *out)
{
    uint64_t left = s->n;
    out->counts = memory_zeroed(VALUES_LISTED, sizeof *out->counts);
    while (out->n_counts < VALUES_LISTED && left > 0) {
        // The last entry has all updates that are staler, so that the entries sum up to all
        // updates.
        bool last = out->n_counts + 1 == VALUES_LISTED;
        uint64_t n = last ? left : s->counts[out->n_counts];
        out->counts[out->n_counts++] = n;
        left -= n;
    }
}

static void collect_servers(const struct sim *sim, struct job_result *job)
{
    struct staleness *s = memory_zeroed(1, sizeof *s);
    struct server_result *out = job->servers = memory_zeroed(1, sizeof *out);
    server_staleness(&sim->workload.jobs[job->job], s);
    out->updates = s->n;
    out->staleness = (struct stats){.min = staleness_at(s, 0),
                                    .mean = s->n > 0 ? (double)s->sum / (double)s->n : 0,
                                    .p50 = staleness_at(s, 0.5),
                                    .p95 = staleness_at(s, 0.95),
                                    .p99 = staleness_at(s, 0.99),
                                    .max = (double)s->most};
    list_counts(s, out);
    free(s);
}

// Returns the end of a job, -1 = not ended: for training jobs and programs the end of the last
// rank, for jobs with collectives the end of the last collective, else the end of the last message.
static ps_t end_of(const struct sim *sim, const struct result *r, size_t j, ps_t last_collective)
{
    // The times of training jobs and programs count from the start of the job.
    for (size_t t = 0; t < r->n_trainings; t++)
        if (r->trainings[t].job == j)
            return r->trainings[t].total_ps < 0
                       ? -1
                       : sim->spec->jobs[j].start_ps + r->trainings[t].total_ps;
    for (size_t p = 0; p < r->n_programs; p++)
        if (r->programs[p].job == j)
            return r->programs[p].total_ps < 0
                       ? -1
                       : sim->spec->jobs[j].start_ps + r->programs[p].total_ps;
    return last_collective > 0 ? last_collective : sim->delivery.records.job_stats[j].end_ps;
}

void collect_jobs(const struct sim *sim, struct result *r)
{
    const struct workload *w = &sim->workload;
    r->n_jobs = w->n_jobs;
    r->jobs = memory_zeroed(r->n_jobs, sizeof *r->jobs);
    ps_t *ends = memory_zeroed(r->n_jobs, sizeof *ends);
    add_collectives(r, ends);
    for (size_t j = 0; j < r->n_jobs; j++) {
        const struct job_spec *spec = w->jobs[j].spec;
        struct job_result *job = &r->jobs[j];
        bool over = w->jobs[j].units_left == 0;
        job->job = (uint32_t)j;
        job->name = spec->name;
        job->kind = spec->kind->name;
        job->start_ps = spec->start_ps;
        collect_messages(sim, r, j);
        job->status = job->failed > 0 ? JOB_FAILED : over ? JOB_COMPLETED : JOB_RUNNING;
        job->end_ps = over ? end_of(sim, r, j, ends[j]) : -1;
        if (spec->kind == &parameter_server_kind)
            collect_servers(sim, job);
        for (size_t t = 0; t < r->n_trainings && r->n_trainings > 1; t++)
            if (r->trainings[t].job == j)
                job->training = &r->trainings[t];
    }
    free(ends);
}

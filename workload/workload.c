// SPDX-License-Identifier: MIT
// Jobs: who begins when, and when all is done.
#include "workload/workload.h"

#include <stdlib.h>

#include "engine/memory.h"

// A rank's timer of one job: what it posts next.
struct rank_start {
    struct sim_timer timer;
    struct job_run *job;
    uint32_t rank;        // of the job (a runner's) or of the network (flows)
    uint32_t first, last; // flow_order[first..last) is left to post
};

uint32_t job_rank(const struct job_spec *job, uint32_t i) { return job->ranks ? job->ranks[i] : i; }

uint32_t job_n_ranks(const struct job_spec *job, uint32_t n_ranks)
{
    return job->ranks ? (uint32_t)job->n_ranks : n_ranks;
}

void workload_post(struct workload *w, const struct transfer_request *request, ps_t now)
{
    w->messages_open++;
    w->transfer.post(w->transfer.net, request, now);
}

static void stop_if_done(struct workload *w)
{
    if (workload_done(w))
        engine_stop(w->engine);
}

void workload_unit_ended(struct workload *w, struct job_run *job)
{
    if (--job->units_left == 0)
        w->jobs_left--;
    stop_if_done(w);
}

static struct job_run *job_of(struct workload *w, uint64_t token)
{
    return &w->jobs[token >> TOKEN_JOB_SHIFT];
}

static void on_delivered(void *ctx, uint64_t token, ps_t now)
{
    struct job_run *job = job_of(ctx, token);
    if (job->runner)
        job->runner->delivered(job->self, token, now);
}

static void on_sent(void *ctx, uint64_t token, ps_t now)
{
    (void)now;
    struct workload *w = ctx;
    struct job_run *job = job_of(w, token);
    w->messages_open--;
    if (!job->runner)
        workload_unit_ended(w, job);
    else
        stop_if_done(w);
}

static void on_failed(void *ctx, uint64_t token, ps_t now) { on_sent(ctx, token, now); }

struct transfer_client workload_client(struct workload *w)
{
    return (struct transfer_client){
        .delivered = on_delivered, .sent = on_sent, .failed = on_failed, .ctx = w};
}

static void post_flow(struct job_run *job, uint32_t index, ps_t now)
{
    const struct raw_flow *flow = &job->spec->flows[index];
    struct transfer_request request = {.src = job_rank(job->spec, flow->src),
                                       .dst = job_rank(job->spec, flow->dst),
                                       .bytes = flow->bytes,
                                       .job = job->index,
                                       .cls = job->spec->cls,
                                       .own_qp = true,
                                       .token = (uint64_t)job->index << TOKEN_JOB_SHIFT | index};
    workload_post(job->workload, &request, now);
}

static ps_t start_time(const struct job_run *job, uint32_t rank, ps_t after)
{
    const ps_t *late = job->workload->late_ps;
    return job->spec->start_ps + after + (late ? late[rank] : 0);
}

static void on_start(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct rank_start *start = timer->data;
    struct job_run *job = start->job;
    if (job->runner) {
        job->workload->starts_pending--;
        job->runner->start(job->self, start->rank, e->now_ps);
        return;
    }
    while (start->first < start->last) {
        uint32_t flow = job->flow_order[start->first];
        ps_t at = start_time(job, start->rank, job->spec->flows[flow].start_ps);
        if (at > e->now_ps) {
            sim_timer_start(e, timer, at);
            return;
        }
        start->first++;
        post_flow(job, flow, e->now_ps);
    }
    job->workload->starts_pending--;
}

static void arm(struct job_run *job, struct rank_start *start, uint32_t node, ps_t after)
{
    struct engine *engine = job->workload->engine;
    start->job = job;
    sim_timer_init(engine, &start->timer, node, on_start, start);
    sim_timer_start(engine, &start->timer, start_time(job, node, after));
    job->workload->starts_pending++;
}

static void init_runner(struct job_run *job, const struct job_runner *runner)
{
    struct workload *w = job->workload;
    uint32_t n = job_n_ranks(job->spec, w->n_ranks);
    job->runner = runner;
    job->comm = (struct comm_job){.engine = w->engine,
                                  .transfer = &w->transfer,
                                  .bandwidth = w->bandwidth,
                                  .bandwidth_ctx = w->network_ctx,
                                  .recorder = &w->recorder,
                                  .job = job->index,
                                  .cls = job->spec->cls,
                                  .channels = (uint32_t)job->spec->channels,
                                  .token = (uint64_t)job->index << TOKEN_JOB_SHIFT,
                                  .messages = &w->messages_open,
                                  .delays = &w->starts_pending};
    job->self = runner->new (job);
    job->units_left = n;
    job->n_starts = n;
    job->starts = memory_zeroed(n, sizeof *job->starts);
    for (uint32_t i = 0; i < n; i++) {
        job->starts[i].rank = i;
        arm(job, &job->starts[i], job_rank(job->spec, i), 0);
    }
    w->total_bytes += runner->bytes(job->self);
}

struct flow_key {
    uint32_t src, index;
    ps_t start_ps;
};

static int compare_keys(const void *a, const void *b)
{
    const struct flow_key *x = a, *y = b;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void init_flows(struct job_run *job)
{
    const struct job_spec *spec = job->spec;
    struct workload *w = job->workload;
    uint32_t n = (uint32_t)spec->n_flows;
    struct flow_key *keys = memory_zeroed(n, sizeof *keys);
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = (struct flow_key){job_rank(spec, spec->flows[i].src), i, spec->flows[i].start_ps};
        w->total_bytes += spec->flows[i].bytes;
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    job->units_left = n;
    job->flow_order = memory_zeroed(n, sizeof *job->flow_order);
    job->starts = memory_zeroed(w->n_ranks, sizeof *job->starts);
    for (uint32_t i = 0; i < n; i++) {
        job->flow_order[i] = keys[i].index;
        if (i == 0 || keys[i].src != keys[i - 1].src) {
            struct rank_start *start = &job->starts[job->n_starts++];
            start->rank = keys[i].src;
            start->first = i;
            arm(job, start, start->rank, keys[i].start_ps);
        }
        job->starts[job->n_starts - 1].last = i + 1;
    }
    free(keys);
}

void workload_init(struct workload *w, const struct job_spec *jobs, size_t n_jobs)
{
    w->n_jobs = w->jobs_left = n_jobs;
    w->jobs = memory_zeroed(n_jobs, sizeof *w->jobs);
    for (size_t j = 0; j < n_jobs; j++) {
        struct job_run *job = &w->jobs[j];
        *job = (struct job_run){.workload = w, .spec = &jobs[j], .index = (uint32_t)j};
        if (jobs[j].kind == JOB_COLLECTIVE)
            init_runner(job, &collective_runner);
        else if (jobs[j].kind == JOB_TRAINING)
            init_runner(job, &training_runner);
        else
            init_flows(job);
        if (job->units_left == 0)
            w->jobs_left--;
    }
}

void workload_free(struct workload *w)
{
    for (size_t j = 0; j < w->n_jobs; j++) {
        free(w->jobs[j].starts);
        free(w->jobs[j].flow_order);
        if (w->jobs[j].runner)
            w->jobs[j].runner->free(w->jobs[j].self);
        comm_job_free(&w->jobs[j].comm);
    }
    free(w->jobs);
    recorder_free(&w->recorder);
    *w = (struct workload){0};
}

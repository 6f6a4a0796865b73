// SPDX-License-Identifier: MIT
// The runner: gets steps from every rank's program, starts them on transfers, communicators and
// timers, and reports their ends to the program.
#include <stdlib.h>

#include "collective/rendezvous.h"
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/cores/cores.h"
#include "engine/critical_path.h"
#include "workload/runner_internal.h"
#include "workload/tiers/copies.h"
#include "workload/workload.h"

/* ---- rank cores ---- */

// Computations of ranks on the cores of their hosts: they begin and end there, and their speed
// follows what threads leave (engine/cores/cores.h).

// Timed_steps.computing.
static void rank_cores_computing(void *rank_run, bool begins, ps_t now)
{
    const struct rank_run *r = rank_run;
    cores_compute(r->job->workload->cores, r->timed.node, begins, now);
}

static void on_speed(void *ctx, uint32_t rank, double speed, ps_t now)
{
    const struct workload *w = ctx;
    for (struct rank_run *r = w->rank_runs[rank]; r != NULL; r = r->next_of_rank)
        timed_steps_cores(&r->timed, speed, now);
}

static void rank_cores_init(struct workload *w)
{
    w->rank_runs = memory_zeroed(w->n_ranks, sizeof(struct rank_run *));
    cores_watch(w->cores, on_speed, w);
}

static void rank_cores_add(struct workload *w, struct rank_run *r)
{
    r->next_of_rank = w->rank_runs[r->timed.node];
    w->rank_runs[r->timed.node] = r;
}

/* ---- runner ---- */

static void pull(struct rank_run *r, ps_t now);

void runner_step_ended(struct rank_run *r, uint32_t id, ps_t now)
{
    const struct job_run *job = r->job;
    r->open--;
    r->blocked = r->blocked && r->blocking_step != id;
    if (job->spec->kind->program->done != NULL)
        job->spec->kind->program->done(job->self, r->rank, id, now);
    pull(r, now);
}

/* ---- timers ---- */

static void on_start(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct rank_run *r = timer->data;
    const struct job_run *job = r->job;
    struct path_book *book = job->workload->path_book;
    tally_add(&job->workload->starts_pending, -1);
    uint32_t path = path_new(book, 0, job_rank(job->spec, r->rank));
    path_extend(book, path, PATH_SCHEDULED, e->now_ps);
    uint32_t before = path_enter(book, path);
    pull(r, e->now_ps);
    path_leave(book, before);
    runner_check_dry(job->workload, e->now_ps);
}

static void on_timed(void *ctx, uint32_t step, ps_t now)
{
    struct rank_run *r = ctx;
    runner_step_ended(r, step, now);
    runner_check_dry(r->job->workload, now);
}

/* ---- messages ---- */

static struct matching_key key_of(const struct step *step, uint32_t src, uint32_t dst)
{
    return (struct matching_key){src, dst, step->tag,
                                 step->numbered ? step->number : MATCHING_NEXT};
}

static void post(struct rank_run *r, const struct step *step, ps_t now)
{
    struct job_run *job = r->job;
    uint64_t token = (uint64_t)job->index << TOKEN_JOB_SHIFT | TOKEN_OWN;
    if (step->detached)
        token |= TOKEN_DETACHED | step->id;
    else
        token |= matching_send(&job->matching, key_of(step, r->rank, step->peer), step->id, now);
    struct transfer_request request = {.src = job_rank(job->spec, r->rank),
                                       .dst = job_rank(job->spec, step->peer),
                                       .bytes = step->bytes,
                                       .job = job->index,
                                       .cls = (uint32_t)job->spec->cls,
                                       .transport = job->spec->transport,
                                       .own_connection = step->detached && !step->of_pair,
                                       .joined = !step->detached,
                                       .token = token,
                                       .hint = step->hint,
                                       .origin = {.op = step->name != NULL ? "send" : NULL,
                                                  .name = step->name,
                                                  .step = step->tag}};
    struct rendezvous_key key = {.src = request.src, .dst = request.dst, .tag = step->tag};
    rendezvous_send(&job->comm, &key, &request, now);
}

/* ---- steps ---- */

// A resource that ranks share serves one step at a time, in the order in which they start. Returns
// the time from now until it has served this step.
static ps_t shared_take(struct job_run *job, const struct step *step, ps_t now)
{
    if (step->shared > job->n_shared) {
        job->shared_free_ps =
            memory_resize(job->shared_free_ps, step->shared, sizeof *job->shared_free_ps);
        while (job->n_shared < step->shared)
            job->shared_free_ps[job->n_shared++] = 0;
    }
    ps_t *free_ps = &job->shared_free_ps[step->shared - 1];
    *free_ps = (*free_ps > now ? *free_ps : now) + step->takes_ps;
    return *free_ps - now;
}

// Returns the delay that noise of the rank's host adds to its next computation.
static ps_t noise_ps(struct rank_run *r)
{
    const struct workload *w = r->job->workload;
    if (w->noise.mean_ps == 0 || r->job->spec->kind->raw)
        return 0;
    uint64_t key = hash_mix((uint64_t)(r->job->index + 1) << 40 | r->n_computed++);
    return noise_draw_ps(&w->noise, w->seed, job_rank(r->job->spec, r->rank), key);
}

// Start a step. Returns true if it has ended already; done() is then not called.
static bool step_start(struct rank_run *r, const struct step *step, ps_t now)
{
    struct job_run *job = r->job;
    switch (step->kind) {
    case STEP_COMPUTE:
        timed_step_start(&r->timed, TIMED_COMPUTE, step->id, step->label,
                         step->takes_ps + noise_ps(r),
                         step->own_contention ? step->contention : job->contention.share, now);
        return false;
    case STEP_DELAY:
        timed_step_start(&r->timed, TIMED_FIXED, step->id, step->label,
                         step->shared > 0 ? shared_take(job, step, now) : step->takes_ps, 0, now);
        return false;
    case STEP_SEND:
        post(r, step, now);
        return false;
    case STEP_RECV:
        runner_set_peers(job, (struct peers){0, UINT32_MAX});
        rendezvous_receive(&job->comm,
                           &(struct rendezvous_key){.src = job_rank(job->spec, step->peer),
                                                    .dst = job_rank(job->spec, r->rank),
                                                    .tag = step->tag},
                           now);
        return matching_receive(&job->matching, key_of(step, step->peer, r->rank), step->id);
    case STEP_COPY:
        copies_begin(
            job->copies, r->rank,
            &(struct copy_step){step->id, step->from, step->to, step->bytes, step->in_turn}, now);
        return false;
    case STEP_COLLECTIVE:
        break;
    }
    const struct job_group *group = job->groups[step->group];
    uint32_t member = job_group_member(group, r->rank);
    bool offloaded = comm_offloaded(group->comm, step->request->op);
    runner_contention(r, offloaded, 1, now);
    bool open = step->numbered ? comm_issue_numbered(group->comm, step->number, member,
                                                     step->request, step->id, now)
                               : comm_issue(group->comm, member, step->request, step->id, now);
    if (!open)
        runner_contention(r, offloaded, -1, now);
    return !open;
}

// Start steps as long as the program has any. A step that ends while it starts continues this loop
// instead of calling it recursively.
static void pull(struct rank_run *r, ps_t now)
{
    struct job_run *job = r->job;
    if (r->pulling)
        return;
    r->pulling = true;
    while (!r->ended && !r->blocked) {
        struct step step = {.kind = STEP_COMPUTE};
        enum program_state state = job->spec->kind->program->next(job->self, r->rank, now, &step);
        r->ended = state == PROGRAM_END;
        if (state != PROGRAM_STEP)
            break;
        if (step.iteration > 0)
            path_stage_current(job->workload->path_book, step.iteration, now);
        if (step.kind == STEP_SEND && step.detached) {
            job->units_left++;
            post(r, &step, now);
            continue;
        }
        r->open++;
        r->blocked = step.blocks;
        r->blocking_step = step.id;
        r->blocking_kind = step.kind;
        r->blocking_group = step.group;
        if (step_start(r, &step, now))
            runner_step_ended(r, step.id, now);
    }
    r->pulling = false;
    if (r->ended && r->open == 0)
        runner_unit_ended(job, r->rank, now);
}

/* ---- jobs ---- */

ps_t job_start_ps(const struct job_run *job, uint32_t rank)
{
    const ps_t *jitter = job->workload->start_jitter_ps;
    const ps_t *noise = job->workload->start_noise_ps;
    uint32_t at = job_rank(job->spec, rank);
    return job->spec->start_ps + (jitter != NULL ? jitter[at] : 0) +
           (noise != NULL ? noise[at] : 0);
}

static void init_ranks(struct job_run *job)
{
    const struct program_ops *program = job->spec->kind->program;
    struct workload *w = job->workload;
    struct engine *e = w->engine;
    job->ranks = memory_zeroed(job->n_ranks, sizeof *job->ranks);
    for (uint32_t i = 0; i < job->n_ranks; i++) {
        struct rank_run *r = &job->ranks[i];
        ps_t after = program->begins_ps != NULL ? program->begins_ps(job->self, i) : 0;
        *r = (struct rank_run){.job = job,
                               .rank = i,
                               .timed = {.engine = e,
                                         .path_book = job->workload->path_book,
                                         .node = job_rank(job->spec, i),
                                         .pending = &job->workload->starts_pending,
                                         .busy_until_ps = &job->workload->busy_until_ps,
                                         .ended = on_timed,
                                         .computing = w->computes ? rank_cores_computing : NULL,
                                         .ctx = r}};
        if (w->computes)
            rank_cores_add(w, r);
        if (after == PS_NEVER)
            continue;
        sim_timer_init_locked(e, &r->timer, job_rank(job->spec, i), on_start, r);
        ps_t start_ps = job_start_ps(job, i) + after;
        sim_timer_start(e, &r->timer, start_ps);
        if (start_ps > job->workload->busy_until_ps)
            job->workload->busy_until_ps = start_ps;
        tally_add(&w->starts_pending, 1);
        job->units_left++;
    }
}

static void init_job(struct job_run *job)
{
    struct workload *w = job->workload;
    const struct job_spec *spec = job->spec;
    job->n_ranks = job_n_ranks(spec, w->n_ranks);
    job->comm = (struct comm_job){.engine = w->engine,
                                  .path_book = w->path_book,
                                  .transfer = &w->transfer,
                                  .cores = w->cores,
                                  .bandwidth = w->bandwidth,
                                  .reduce = w->reduce,
                                  .bandwidth_ctx = w->network_ctx,
                                  .recorder = &w->recorder,
                                  .noise = w->noise,
                                  .seed = w->seed,
                                  .job = job->index,
                                  .cls = (uint32_t)spec->cls,
                                  .transport = spec->transport,
                                  .token = (uint64_t)job->index << TOKEN_JOB_SHIFT,
                                  .messages = &w->messages_open,
                                  .failure = &w->failure,
                                  .delays = &w->starts_pending,
                                  .takes_order = &w->takes_order,
                                  .server_ranks = &w->server_ranks,
                                  .issuer = job_group_issuer,
                                  .queued = &w->queued};
    job->self = spec->kind->new (job);
    w->reads_ahead = w->reads_ahead || spec->kind->program->read_on != NULL;
    init_ranks(job);
    w->total_bytes += spec->kind->program->bytes(job->self);
    if (job->units_left == 0)
        w->jobs_left--;
}

void workload_share(struct workload *w, uint32_t n_threads)
{
    w->messages_open.n_threads = w->starts_pending.n_threads = w->over.n_threads = n_threads;
    for (size_t j = 0; j < w->n_jobs; j++)
        w->jobs[j].comm.by_rank = true;
}

void workload_settle(const struct workload *w)
{
    for (size_t j = 0; j < w->n_jobs; j++)
        for (uint32_t g = 0; g < w->jobs[j].n_groups; g++)
            comm_settle(w->jobs[j].groups[g]->comm);
    recorder_settle(&w->recorder);
}

void workload_init(struct workload *w, const struct job_spec *jobs, size_t n_jobs)
{
    w->n_jobs = w->jobs_left = n_jobs;
    w->jobs = memory_zeroed(n_jobs, sizeof *w->jobs);
    if (w->computes)
        rank_cores_init(w);
    runner_dry_init(w);
    for (size_t j = 0; j < n_jobs; j++) {
        struct job_run *job = &w->jobs[j];
        *job = (struct job_run){.workload = w, .spec = &jobs[j], .index = (uint32_t)j};
        init_job(job);
    }
}

static void job_run_free(struct job_run *job)
{
    job->spec->kind->program->free(job->self);
    for (uint32_t g = 0; g < job->n_groups; g++)
        job_group_free(job->groups[g]);
    comm_job_free(&job->comm);
    matching_free(&job->matching);
    free(job->shared_free_ps);
    if (job->copies != NULL)
        copies_free(job->copies);
    for (uint32_t i = 0; i < job->n_ranks; i++)
        timed_steps_free(&job->ranks[i].timed);
    free(job->groups);
    free(job->ranks);
}

void workload_free(struct workload *w)
{
    for (size_t j = 0; j < w->n_jobs; j++)
        job_run_free(&w->jobs[j]);
    free(w->rank_runs);
    free(w->jobs);
    recorder_free(&w->recorder);
    free(w->failure);
    *w = (struct workload){0};
}

void workload_waiting(const struct workload *w, unsigned max, void *ctx,
                      void (*each)(void *ctx, char *text))
{
    for (size_t j = 0; j < w->n_jobs; j++) {
        const struct job_run *job = &w->jobs[j];
        const struct program_ops *program = job->spec->kind->program;
        for (uint32_t r = 0; r < job->n_ranks && program->waits != NULL && max > 0; r++) {
            bool over = job->ranks[r].ended && job->ranks[r].open == 0;
            char *text = over ? NULL : program->waits(job->self, r);
            if (text == NULL)
                continue;
            each(ctx, text);
            max--;
        }
    }
}

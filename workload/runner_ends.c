// SPDX-License-Identifier: MIT
// The ends of messages, ranks and jobs: which step ends with a message, and when the run is over.
#include "collective/communicator.h"
#include "engine/critical_path.h"
#include "workload/runner_internal.h"
#include "workload/tiers/copies.h"

/* ---- units ---- */

// While threads run at the same time, some message cannot end (sim/parallel/quiet.c).
static void stop_if_done(struct workload *w)
{
    if (!engine_is_parallel(w->engine) && workload_done(w))
        engine_stop(w->engine);
}

static void note_end(struct workload *w, ps_t ended_ps) { latest_note(&w->over, ended_ps); }

// A rank or a detached message has ended. Ends of messages may become known later, and in another
// order.
struct unit_over {
    uint32_t rank, path;
    ps_t ended_ps;
};

static void unit_over(void *ctx, const void *note, ps_t now)
{
    struct job_run *job = ctx;
    const struct unit_over *over = note;
    struct path_book *book = job->workload->path_book;
    (void)now;
    if (over->ended_ps >= job->end_ps) {
        path_drop(book, job->path);
        job->path = path_hold(book, over->path);
        job->end_ps = over->ended_ps;
        job->end_rank = over->rank;
    }
    path_drop(book, over->path);
    job->workload->jobs_left -= --job->units_left == 0;
    note_end(job->workload, over->ended_ps);
    stop_if_done(job->workload);
}

void runner_unit_ended(struct job_run *job, uint32_t rank, ps_t now)
{
    struct path_book *book = job->workload->path_book;
    ps_t ended_ps = now - path_thread(book)->held_ps;
    struct unit_over over = {rank, path_take(book, ended_ps), ended_ps};
    engine_defer(job->workload->engine, unit_over, job, &over, sizeof over);
}

/* ---- messages ---- */

static void set_peers(void *ctx, const void *note, ps_t now)
{
    struct job_run *job = ctx;
    (void)now;
    job->peers = *(const struct peers *)note;
}

void runner_set_peers(struct job_run *job, struct peers peers)
{
    engine_defer(job->workload->engine, set_peers, job, &peers, sizeof peers);
}

static struct job_run *job_of(struct workload *w, uint64_t token)
{
    return &w->jobs[token >> TOKEN_JOB_SHIFT];
}

static void own_delivered(struct job_run *job, uint64_t token, ps_t now)
{
    uint32_t rank, step;
    if ((token & TOKEN_COPY) != 0)
        copies_delivered(job->copies, token, now);
    else if ((token & TOKEN_DETACHED) == 0 &&
             matching_delivered(&job->matching, (uint32_t)token, &rank, &step)) {
        struct peers peers;
        peers.ready_ps = matching_posted_ps(&job->matching, (uint32_t)token, &peers.rank);
        runner_set_peers(job, peers);
        runner_step_ended(&job->ranks[rank], step, now);
    }
}

// A step of a collective concerns one rank; all else may concern several, and needs the lock.
static bool lock_needed(struct workload *w, uint64_t token)
{
    return (token & TOKEN_OWN) != 0 || !comm_is_by_rank(&job_of(w, token)->comm);
}

static void on_delivered(void *ctx, uint64_t token, uint64_t bytes, ps_t now)
{
    struct workload *w = ctx;
    bool locked = lock_needed(w, token);
    if (locked)
        engine_lock(w->engine);
    if ((token & TOKEN_OWN) == 0)
        comm_delivered(&job_of(w, token)->comm, token, bytes, now);
    else
        own_delivered(job_of(w, token), token, now);
    if (locked)
        engine_unlock(w->engine);
}

// A program that waits for the last ACK has waited for the receiver's timer too.
static void wait_for_ack(struct workload *w, ps_t now)
{
    struct path_book *book = w->path_book;
    if (path_thread(book)->held_ps == 0)
        return;
    path_thread(book)->late = PATH_ACK_DELAY;
    path_thread(book)->held_ps = 0;
    note_end(w, now);
}

// The message is in the send buffer, or at a relay: its send has ended.
static void entered(struct workload *w, uint64_t token, ps_t now)
{
    struct job_run *job = job_of(w, token);
    if ((token & TOKEN_OWN) == 0)
        comm_entered(&job->comm, token, now);
    if ((token & TOKEN_OWN) == 0 || (token & (TOKEN_DETACHED | TOKEN_COPY)) != 0)
        return;
    uint32_t rank, step;
    matching_entered(&job->matching, (uint32_t)token, &rank, &step);
    wait_for_ack(w, now);
    runner_step_ended(&job->ranks[rank], step, now);
    runner_check_dry(w, now);
}

static void on_entered(void *ctx, uint64_t token, ps_t now)
{
    struct workload *w = ctx;
    engine_lock(w->engine);
    entered(w, token, now);
    engine_unlock(w->engine);
}

static void sent(struct workload *w, uint64_t token, ps_t now)
{
    struct job_run *job = job_of(w, token);
    uint32_t rank, step;
    tally_add(&w->messages_open, -1);
    note_end(w, now - path_thread(w->path_book)->held_ps);
    if ((token & TOKEN_OWN) == 0) {
        comm_sent(&job->comm, token, now);
        stop_if_done(w);
    } else if ((token & TOKEN_COPY) != 0) {
        copies_sent(job->copies, token);
        stop_if_done(w);
    } else if ((token & TOKEN_DETACHED) != 0) {
        runner_unit_ended(job, UINT32_MAX, now);
    } else {
        bool ends = matching_sent(&job->matching, (uint32_t)token, &rank, &step);
        if (ends) {
            wait_for_ack(w, now);
            runner_step_ended(&job->ranks[rank], step, now);
        } else {
            stop_if_done(w);
        }
    }
    runner_check_dry(w, now);
}

static void on_sent(void *ctx, uint64_t token, ps_t now)
{
    struct workload *w = ctx;
    bool locked = lock_needed(w, token);
    if (locked)
        engine_lock(w->engine);
    sent(w, token, now);
    if (locked)
        engine_unlock(w->engine);
}

static void on_failed(void *ctx, uint64_t token, ps_t now) { on_sent(ctx, token, now); }

struct transfer_client workload_client(struct workload *w)
{
    return (struct transfer_client){.delivered = on_delivered,
                                    .entered = on_entered,
                                    .sent = on_sent,
                                    .failed = on_failed,
                                    .ctx = w};
}

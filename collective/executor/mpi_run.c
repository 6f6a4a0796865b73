// SPDX-License-Identifier: MIT
// Operations as Open MPI runs them (collective/mpi/mpi.h): a process goes through the steps of the
// operation, and handles what comes, all in one thread.
//
// A process is a thread of a host's cores (engine/cores/cores.h), so processes that share a core
// wait for each other. What comes for it, be it a message or the notice that one has left, waits
// until the process has handled what came before; that is why a request that comes while the
// process still works is answered after the process's own next message. Times: `event` for each
// thing that comes, `step` from the end of a wait, and the rates of copies and additions.
//
// Protocol (pml/ob1 over btl/tcp): a message below the eager limit is sent at once. For a larger
// one the sender posts a request; once the receive is posted, the receiver answers, and the sender
// sends all. Over TCP a message has left its process when its last byte is in the send buffer of
// the connection, over other transports when it is acknowledged.
#include <stdlib.h>

#include "collective/executor/executor_mpi_internal.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"

static const struct executor_env *env_of(const struct mpi_member *m) { return run_env(m->run); }

static const struct mpi_settings *settings_of(const struct mpi_member *m)
{
    return run_spec(m->run)->mpi;
}

/* ---- tasks of processes ---- */

static void on_done(struct core_task *base, ps_t now)
{
    struct mpi_task *task = (struct mpi_task *)base;
    struct mpi_member *m = task->member;
    struct executor_run *run = m->run;
    const struct executor_env *env = run_env(run);
    struct executor *l = run->group->library;
    uint32_t path = path_own(env->path_book, task->path), message = task->message;
    mpi_task_call *call = task->call;
    task->next_free = l->mpi.free_tasks;
    l->mpi.free_tasks = task;
    path_extend(env->path_book, path, PATH_LIBRARY, now);
    uint32_t before = path_enter(env->path_book, path);
    tally_add(env->delays, -1);
    call(m, message, now);
    path_leave(env->path_book, before);
    run->open--;
    run_release(run);
}

// Noise of a host: a delay more of its next task.
static ps_t noise_ps(struct executor *l, uint32_t node)
{
    const struct executor_env *env = &l->env;
    if (env->noise.mean_ps == 0)
        return 0;
    uint64_t key = hash_mix(((uint64_t)env->job << 48) + l->mpi.processes[node]->n_tasks++);
    return noise_draw_ps(&env->noise, env->seed, node, key);
}

void mpi_process_run(struct mpi_member *m, mpi_task_call *call, uint32_t message, ps_t takes_ps,
                     ps_t now)
{
    struct executor *l = m->run->group->library;
    const struct executor_env *env = env_of(m);
    struct mpi_task *task = l->mpi.free_tasks;
    if (task != NULL)
        l->mpi.free_tasks = task->next_free;
    else
        task = mpi_task_new(l);
    uint32_t node = run_node(m->run, m->number);
    struct core_thread *thread = mpi_process_of(l, node);
    task->base.done = on_done;
    task->member = m;
    task->call = call;
    task->message = message;
    task->path = path_take(env->path_book, now);
    tally_add(env->delays, 1);
    m->run->open++;
    core_run(thread, &task->base, takes_ps + noise_ps(l, node), now);
}

/* ---- the steps ---- */

enum {
    AT_COPY,
    AT_RECEIVE,
    AT_AWAIT,
    AT_ADD,
    AT_SEND,
    AT_LEAVE,
    AT_AWAIT_AFTER,
    AT_ADD_AFTER,
    PLACES
};

static void advance(struct mpi_member *m, ps_t now);

static void go_on(struct mpi_member *m, uint32_t message, ps_t now)
{
    (void)message;
    advance(m, now);
}

static bool has_come(const struct mpi_member *m, uint32_t number)
{
    if (number == MPI_ALL)
        return m->receives_open == 0;
    return number == MPI_NONE || m->receives[number].done;
}

// The receive of a step: the sender of a message that has come meanwhile is answered.
static void post_receive(struct mpi_member *m, ps_t now)
{
    struct mpi_receive *r = &m->receives[m->now.receives];
    r->posted = true;
    // An eager message may come before its receive is posted.
    if (r->done) {
        r->counted = true;
        return;
    }
    m->receives_open++;
    r->counted = true;
    if (r->requested)
        mpi_answer(m, m->now.receives, m->now.from, now);
}

// Work of the process that takes time at a rate. Returns true if it has been started.
static bool works(struct mpi_member *m, uint64_t bytes, uint64_t bps, ps_t now)
{
    if (bytes == 0 || bps == 0)
        return false;
    mpi_process_run(m, go_on, 0, serialization_ps(bytes, bps), now);
    return true;
}

static bool copies(struct mpi_member *m, ps_t now)
{
    const struct mpi_shape *s = &m->run->mpi->shape;
    uint64_t bytes = s->op == MPI_ALL_TO_ALL || s->op == MPI_ALL_REDUCE ? s->bytes : 0;
    return m->now.copies && works(m, bytes, settings_of(m)->copy_bps, now);
}

// Do what comes next in the step. Returns false if the process waits.
static bool advance_place(struct mpi_member *m, ps_t now)
{
    const struct mpi_step *s = &m->now;
    switch (m->place++) {
    case AT_COPY:
        return !copies(m, now);
    case AT_RECEIVE:
        if (s->receives != MPI_NONE)
            post_receive(m, now);
        return true;
    case AT_AWAIT:
        m->awaits = s->awaits;
        return has_come(m, s->awaits);
    case AT_ADD:
        return !works(m, s->adds_bytes, settings_of(m)->reduce_bps, now);
    case AT_SEND:
        if (s->sends_to != MPI_NONE)
            mpi_send(m, s->sends_to, s->sends, s->sends_bytes, now);
        return true;
    case AT_LEAVE:
        m->leaves = s->finishes_sends && m->sends_open > 0;
        return !m->leaves;
    case AT_AWAIT_AFTER:
        m->awaits = s->awaits_after;
        return has_come(m, s->awaits_after);
    default:
        return !works(m, s->adds_after_bytes, settings_of(m)->reduce_bps, now);
    }
}

static void advance(struct mpi_member *m, ps_t now)
{
    const struct mpi_shape *shape = &m->run->mpi->shape;
    m->awaits = MPI_NONE;
    m->leaves = false;
    for (;;) {
        while (m->place < PLACES)
            if (!advance_place(m, now))
                return;
        if (++m->step >= m->run->mpi->steps)
            break;
        m->now = mpi_step(shape, m->number, m->step);
        m->place = 0;
    }
    if (m->ended)
        return;
    m->ended = true;
    run_member_ended(m->run, m->number, now);
}

// What the process waited for has happened.
static void wake(struct mpi_member *m, ps_t now)
{
    m->awaits = MPI_NONE;
    m->leaves = false;
    mpi_process_run(m, go_on, 0, settings_of(m)->step_ps, now);
}

/* ---- what comes ---- */

void mpi_on_request(struct mpi_member *m, uint32_t message, ps_t now)
{
    const struct mpi_message *x = mpi_message_at(m->run, message);
    struct mpi_receive *r = &m->receives[x->number];
    uint32_t number = x->number, from = x->src;
    mpi_message_handled(m->run, message);
    r->requested = true;
    if (r->posted)
        mpi_answer(m, number, from, now);
}

void mpi_on_answer(struct mpi_member *m, uint32_t message, ps_t now)
{
    const struct mpi_message x = *mpi_message_at(m->run, message);
    mpi_message_handled(m->run, message);
    mpi_send_data(m, x.src, x.number, x.bytes, now);
    if (m->leaves && m->sends_open == 0) // all of it has fit into the send buffer
        wake(m, now);
}

void mpi_on_data(struct mpi_member *m, uint32_t message, ps_t now)
{
    uint32_t number = mpi_message_at(m->run, message)->number;
    struct mpi_receive *r = &m->receives[number];
    mpi_message_handled(m->run, message);
    r->done = true;
    // A message that came before its receive was posted is not among those that are awaited.
    m->receives_open -= r->counted;
    if (m->awaits == number || (m->awaits == MPI_ALL && m->receives_open == 0))
        wake(m, now);
}

void mpi_on_left(struct mpi_member *m, uint32_t message, ps_t now)
{
    (void)message;
    if (--m->sends_open == 0 && m->leaves)
        wake(m, now);
}

/* ---- runs ---- */

static enum mpi_operation operation_of(const struct executor_request *r)
{
    if (r->exchanges)
        return MPI_ALL_TO_ALL;
    if (r->function == NCCL_BROADCAST)
        return MPI_BROADCAST;
    return r->barrier ? MPI_BARRIER : MPI_ALL_REDUCE;
}

static struct mpi_shape shape_of(const struct executor_group *g, const struct executor_request *r)
{
    return mpi_shape_of(g->spec->mpi, operation_of(r), g->n, r->root, r->bytes);
}

static void run_new(struct executor_run *run)
{
    uint32_t n = run->group->n;
    struct mpi_run *x = run->mpi = memory_zeroed(1, sizeof *x);
    x->shape = shape_of(run->group, &run->request);
    x->steps = mpi_steps(&x->shape);
    uint32_t receives = mpi_receives(&x->shape);
    x->members = memory_zeroed(n, sizeof *x->members);
    x->receives = memory_zeroed((size_t)n * receives, sizeof *x->receives);
    for (uint32_t m = 0; m < n; m++)
        x->members[m] = (struct mpi_member){.run = run,
                                            .number = m,
                                            .receives = &x->receives[(size_t)m * receives],
                                            .awaits = MPI_NONE};
}

static void run_free(struct executor_run *run)
{
    free(run->mpi->members);
    free(run->mpi->receives);
    free(run->mpi);
}

static void begin(struct mpi_member *m, uint32_t message, ps_t now)
{
    (void)message;
    m->now = mpi_step(&m->run->mpi->shape, m->number, 0);
    advance(m, now);
}

static void run_begin(struct executor_run *run, uint32_t member, ps_t now)
{
    struct mpi_member *m = &run->mpi->members[member];
    mpi_process_run(m, begin, 0, settings_of(m)->step_ps, now);
}

static uint64_t run_bytes(const struct executor_group *g, const struct executor_request *request)
{
    struct mpi_shape shape = shape_of(g, request);
    uint64_t sum = 0;
    for (uint32_t m = 0; m < g->n; m++)
        for (uint32_t i = 0; i < mpi_steps(&shape); i++) {
            struct mpi_step s = mpi_step(&shape, m, i);
            if (s.sends_to != MPI_NONE)
                sum += mpi_wire_bytes(g->spec->mpi, s.sends_bytes);
        }
    return sum;
}

static struct executor_choice run_choice(const struct executor_run *run)
{
    const struct mpi_shape *s = &run->mpi->shape;
    struct mpi_step first = mpi_step(s, 0, 0);
    for (uint32_t i = 1; first.sends_to == MPI_NONE && i < run->mpi->steps; i++)
        first = mpi_step(s, 0, i);
    bool eager = mpi_is_eager(run_spec(run)->mpi, first.sends_bytes);
    return (struct executor_choice){.mpi = true,
                                    .algorithm = mpi_algorithm_name(s->algorithm),
                                    .protocol = eager ? "eager" : "rendezvous",
                                    .channels = 1,
                                    .chunk_bytes = first.sends_bytes};
}

const struct executor_run_ops executor_mpi = {
    .new = run_new,
    .free = run_free,
    .begin = run_begin,
    .bytes = run_bytes,
    .choice = run_choice,
    .delivered = mpi_delivered,
    .entered = mpi_entered,
    .sent = mpi_sent,
    .end = mpi_executor_free,
};

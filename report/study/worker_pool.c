// SPDX-License-Identifier: MIT
// Starts workers, collects what they write, and reports their ends.
#define _GNU_SOURCE // pipe2

#include "report/study/worker_pool.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

static const int watched_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
#define N_SIGNALS (sizeof watched_signals / sizeof *watched_signals)

struct worker {
    struct pool *pool;
    size_t task;
    pid_t pid; // 0 = the place is free
    int from;  // read end of its pipe, -1 = closed
    double began_s;
    char *bytes;
    size_t n_bytes, cap;
    ev_child child;
    ev_io pipe;
};

struct pool {
    const struct pool_ops *ops;
    struct ev_loop *ev;
    struct worker *workers; // [jobs]
    size_t jobs, n, next, done, running;
    int interrupted; // number of the signal
    double began_s;
    /* for the estimate: over tasks that have ended */
    double all_s, ended_expected_s, ended_wall_s;
    ev_timer tick;
    ev_signal signals[N_SIGNALS];
    struct sigaction before[N_SIGNALS];
};

/* ---- the estimate ---- */

static double expected(const struct pool *pool, size_t task)
{
    double s = pool->ops->expected_s ? pool->ops->expected_s[task] : 1;
    return s > 1e-3 ? s : 1e-3;
}

// Returns the time left: expected times of the open tasks, scaled by the tasks that have ended.
static double left_s(const struct pool *pool)
{
    double factor = 1, left = pool->all_s - pool->ended_expected_s;
    if (pool->done > 0)
        factor = pool->ended_wall_s / pool->ended_expected_s;
    else if (!pool->ops->expected_s)
        return -1;
    left *= factor;
    for (size_t w = 0; w < pool->jobs; w++) {
        const struct worker *worker = &pool->workers[w];
        if (worker->pid == 0)
            continue;
        double ran = ev_now(pool->ev) - worker->began_s,
               most = factor * expected(pool, worker->task);
        left -= ran < most ? ran : most;
    }
    return left > 0 ? left / (double)pool->jobs : 0;
}

static void show(struct pool *pool)
{
    struct pool_progress p = {.done = pool->done,
                              .total = pool->n,
                              .running = pool->running,
                              .elapsed_s = ev_now(pool->ev) - pool->began_s,
                              .left_s = left_s(pool)};
    if (pool->ops->progress)
        pool->ops->progress(pool->ops->ctx, &p);
}

/* ---- the worker's side ---- */

// Undo in the worker the handlers and pipes that the pool has set up in its parent.
static void forget(struct pool *pool)
{
    for (size_t i = 0; i < N_SIGNALS; i++)
        if (ev_is_active(&pool->signals[i]))
            ev_signal_stop(pool->ev, &pool->signals[i]);
    for (size_t w = 0; w < pool->jobs; w++) {
        struct worker *worker = &pool->workers[w];
        ev_child_stop(pool->ev, &worker->child);
        ev_io_stop(pool->ev, &worker->pipe);
        if (worker->pid != 0 && worker->from >= 0)
            close(worker->from);
    }
    ev_timer_stop(pool->ev, &pool->tick);
    ev_loop_destroy(pool->ev);
    signal(SIGCHLD, SIG_DFL);
    // A terminal sends these to all processes; the pool passes one SIGTERM on instead.
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

// The code of a worker process; returns only if the function has not ended the process.
static void serve(struct pool *pool, size_t task, int to_parent, pid_t parent,
                  const sigset_t *unblocked)
{
    forget(pool);
    prctl(PR_SET_PDEATHSIG, pool->ops->death_signal);
    if (getppid() != parent) // it died before it could have sent a signal
        kill(getpid(), SIGKILL);
    sigprocmask(SIG_SETMASK, unblocked, NULL);
    pool->ops->work(pool->ops->ctx, task, to_parent);
    kill(getpid(), SIGKILL);
}

/* ---- the parent's side ---- */

static void worker_read(struct worker *worker)
{
    for (;;) {
        if (worker->n_bytes + 1 >= worker->cap) {
            worker->cap = worker->cap > 0 ? 2 * worker->cap : 4096;
            worker->bytes = memory_resize(worker->bytes, worker->cap, 1);
        }
        ssize_t got =
            read(worker->from, worker->bytes + worker->n_bytes, worker->cap - worker->n_bytes - 1);
        if (got > 0)
            worker->n_bytes += (size_t)got;
        else if (got == 0 || errno != EINTR)
            break;
    }
    worker->bytes[worker->n_bytes] = '\0';
}

static void on_pipe(struct ev_loop *ev, ev_io *w, int revents)
{
    (void)revents;
    struct worker *worker = w->data;
    size_t before = worker->n_bytes;
    worker_read(worker);
    if (worker->n_bytes == before) // the worker has closed its end
        ev_io_stop(ev, w);
}

// Start no other task and end the workers; a second call kills them.
static void interrupt(struct pool *pool, int number)
{
    for (size_t i = 0; i < pool->jobs; i++)
        if (pool->workers[i].pid > 0)
            kill(pool->workers[i].pid, pool->interrupted ? SIGKILL : SIGTERM);
    pool->interrupted = number;
}

static void start(struct pool *pool, struct worker *worker, size_t task);

static void start_more(struct pool *pool)
{
    for (size_t w = 0; w < pool->jobs; w++)
        while (!pool->interrupted && pool->next < pool->n && pool->workers[w].pid == 0)
            start(pool, &pool->workers[w], pool->next++);
}

static void report(struct pool *pool, const struct pool_end *end)
{
    pool->done++;
    pool->ended_expected_s += expected(pool, end->task);
    pool->ended_wall_s += end->wall_s;
    pool->ops->ended(pool->ops->ctx, end);
    if (pool->ops->stop && *pool->ops->stop && !pool->interrupted)
        interrupt(pool, SIGTERM);
}

static void on_child(struct ev_loop *ev, ev_child *w, int revents)
{
    (void)revents;
    struct worker *worker = w->data;
    struct pool *pool = worker->pool;
    ev_child_stop(ev, w);
    ev_io_stop(ev, &worker->pipe);
    worker_read(worker);
    close(worker->from);
    worker->from = -1;
    worker->pid = 0;
    pool->running--;
    struct pool_end end = {.task = worker->task,
                           .started = true,
                           .code = WIFEXITED(w->rstatus) ? WEXITSTATUS(w->rstatus) : -1,
                           .signal = WIFSIGNALED(w->rstatus) ? WTERMSIG(w->rstatus) : 0,
                           .bytes = worker->bytes,
                           .n_bytes = worker->n_bytes,
                           .wall_s = ev_now(ev) - worker->began_s};
    report(pool, &end);
    free(worker->bytes);
    worker->bytes = NULL;
    start_more(pool);
    if (pool->running == 0)
        ev_break(ev, EVBREAK_ALL);
}

static void not_started(struct pool *pool, size_t task, int reason)
{
    report(pool, &(struct pool_end){.task = task, .code = -1, .reason = reason, .bytes = ""});
}

static void start(struct pool *pool, struct worker *worker, size_t task)
{
    int ends[2];
    sigset_t all, before;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        not_started(pool, task, errno);
        return;
    }
    // Until the worker has handlers of its own, a signal would be handled as the parent's.
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(ends[0]);
        serve(pool, task, ends[1], parent, &before);
    }
    int reason = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        not_started(pool, task, reason);
        return;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *worker = (struct worker){.pool = pool, .task = task, .pid = pid, .from = ends[0]};
    ev_now_update(pool->ev);
    worker->began_s = ev_now(pool->ev);
    ev_child_init(&worker->child, on_child, pid, 0);
    ev_io_init(&worker->pipe, on_pipe, ends[0], EV_READ);
    worker->child.data = worker->pipe.data = worker;
    ev_child_start(pool->ev, &worker->child);
    ev_io_start(pool->ev, &worker->pipe);
    pool->running++;
}

/* ---- signals ---- */

static void on_signal(struct ev_loop *ev, ev_signal *w, int revents)
{
    (void)ev, (void)revents;
    struct pool *pool = w->data;
    if (w->signum == SIGUSR1) {
        show(pool);
        return;
    }
    interrupt(pool, w->signum);
}

static void on_tick(struct ev_loop *ev, ev_timer *w, int revents)
{
    (void)ev, (void)revents;
    show(w->data);
}

static void signals_watch(struct pool *pool)
{
    for (size_t i = 0; i < N_SIGNALS; i++) {
        sigaction(watched_signals[i], NULL, &pool->before[i]);
        ev_signal_init(&pool->signals[i], on_signal, watched_signals[i]);
        pool->signals[i].data = pool;
        if (pool->before[i].sa_handler != SIG_IGN)
            ev_signal_start(pool->ev, &pool->signals[i]);
    }
}

// Signals are blocked in between, because libev restores the default action, which would end the
// program.
static void signals_restore(struct pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    for (size_t i = 0; i < N_SIGNALS; i++) {
        ev_signal_stop(pool->ev, &pool->signals[i]);
        sigaction(watched_signals[i], &pool->before[i], NULL);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- the pool ---- */

// An allocator with the signature that libev expects, like realloc().
static void *pool_memory(void *old, long size)
{
    if (size > 0)
        return memory_resize(old, (size_t)size, 1);
    free(old);
    return NULL;
}

int pool_run(const struct pool_ops *ops, size_t n, size_t jobs)
{
    struct pool pool = {.ops = ops, .jobs = jobs < n ? jobs : n, .n = n};
    if (n == 0)
        return 0;
    pool.workers = memory_zeroed(pool.jobs, sizeof *pool.workers);
    for (size_t task = 0; task < n; task++)
        pool.all_s += expected(&pool, task);
    ev_set_allocator(pool_memory);
    pool.ev = ev_default_loop(0);
    ev_now_update(pool.ev);
    pool.began_s = ev_now(pool.ev);
    signals_watch(&pool);
    ev_timer_init(&pool.tick, on_tick, ops->progress_s, ops->progress_s);
    pool.tick.data = &pool;
    if (ops->progress_s > 0)
        ev_timer_start(pool.ev, &pool.tick);
    start_more(&pool);
    if (pool.running > 0)
        ev_run(pool.ev, 0);
    ev_timer_stop(pool.ev, &pool.tick);
    signals_restore(&pool);
    free(pool.workers);
    return pool.interrupted;
}

char *pool_failure(const struct pool_end *end)
{
    if (!end->started)
        return text_format("could not be started: %s", strerror(end->reason));
    if (end->signal != 0)
        return text_format("killed by signal %d (%s)", end->signal, strsignal(end->signal));
    return NULL;
}

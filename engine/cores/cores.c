// SPDX-License-Identifier: MIT
// Threads that wait for a core are in a list of their host. A running thread has its timer set to
// the end of its task.
#include "engine/cores/cores.h"

#include <stdlib.h>

#include "engine/base/memory.h"

struct core_host {
    struct cores *all;
    struct core_thread *first, *last; // list of threads that wait for a core
    uint32_t number;
    uint32_t running;   // number of threads that have a core
    uint32_t computing; // number of ranks that compute
    double speed;       // of these computations, at most 1
    ps_t busy_ps;       // sum over the tasks that have ended
};

struct cores {
    struct engine *engine;
    struct core_host *hosts;
    uint32_t n_hosts, n_ranks, per_host;
    uint32_t cores; // of a host; 0 = one for each thread
    core_speed *speed;
    void *speed_ctx;
};

struct cores *cores_new(struct engine *engine, uint32_t n_ranks, uint32_t ranks_per_host,
                        uint32_t cores)
{
    struct cores *c = memory_zeroed(1, sizeof *c);
    uint32_t n = (n_ranks + ranks_per_host - 1) / ranks_per_host;
    *c = (struct cores){.engine = engine,
                        .n_hosts = n,
                        .n_ranks = n_ranks,
                        .per_host = ranks_per_host,
                        .cores = cores};
    c->hosts = memory_zeroed(n, sizeof *c->hosts);
    for (uint32_t h = 0; h < n; h++)
        c->hosts[h] = (struct core_host){.all = c, .number = h, .speed = 1};
    return c;
}

void cores_free(struct cores *c)
{
    if (c == NULL)
        return;
    free(c->hosts);
    free(c);
}

/* ---- computations ---- */

static double speed_of(const struct core_host *h)
{
    uint32_t cores = h->all->cores;
    if (cores == 0 || h->computing == 0)
        return 1;
    uint32_t left = h->running < cores ? cores - h->running : 0;
    return left < h->computing ? (double)left / (double)h->computing : 1;
}

static void update_speed(struct core_host *h, ps_t now)
{
    const struct cores *c = h->all;
    double speed = speed_of(h);
    if (c->speed == NULL || (speed >= h->speed && speed <= h->speed))
        return;
    h->speed = speed;
    uint32_t first = h->number * c->per_host, end = first + c->per_host;
    for (uint32_t rank = first; rank < end && rank < c->n_ranks; rank++)
        c->speed(c->speed_ctx, rank, speed, now);
}

void cores_watch(struct cores *c, core_speed *speed, void *ctx)
{
    c->speed = speed;
    c->speed_ctx = ctx;
}

void cores_compute(struct cores *c, uint32_t rank, bool begins, ps_t now)
{
    struct core_host *h = &c->hosts[rank / c->per_host];
    h->computing = begins ? h->computing + 1 : h->computing - 1;
    update_speed(h, now);
}

double cores_speed(const struct cores *c, uint32_t rank)
{
    return c->hosts[rank / c->per_host].speed;
}

/* ---- threads ---- */

static void start(struct core_thread *t, ps_t now)
{
    struct core_host *h = t->host;
    t->running = true;
    h->running++;
    if (t->first->begin != NULL)
        t->first->takes_ps = t->first->begin(t->first, now);
    sim_timer_start(h->all->engine, &t->timer, now + t->first->takes_ps);
}

static void wait_for_core(struct core_thread *t)
{
    struct core_host *h = t->host;
    t->waiting = true;
    t->next = NULL;
    if (h->last != NULL)
        h->last->next = t;
    else
        h->first = t;
    h->last = t;
}

static void start_waiting(struct core_host *h, ps_t now)
{
    while (h->first != NULL && h->running < h->all->cores) {
        struct core_thread *t = h->first;
        h->first = t->next;
        if (h->first == NULL)
            h->last = NULL;
        t->waiting = false;
        start(t, now);
    }
}

// Run a thread that has tasks, or let it wait.
static void schedule(struct core_thread *t, ps_t now)
{
    if (t->host->all->cores == 0)
        start(t, now);
    else
        wait_for_core(t);
}

static void on_end(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct core_thread *t = timer->data;
    struct core_host *h = t->host;
    struct core_task *task = t->first;
    t->first = task->next;
    if (t->first == NULL)
        t->last = NULL;
    t->running = false;
    h->running -= !t->keeps;
    h->busy_ps += task->takes_ps;
    if (t->first != NULL && !t->keeps)
        schedule(t, e->now_ps);
    t->ending = true; // tasks that done() adds to this thread are started below
    task->done(task, e->now_ps);
    t->ending = false;
    h->running -= t->keeps; // the thread kept its core until here, so done() could not use it
    if (t->first != NULL && !t->running && !t->waiting) {
        if (t->keeps)
            start(t, e->now_ps);
        else
            schedule(t, e->now_ps);
    }
    start_waiting(h, e->now_ps);
    update_speed(h, e->now_ps);
}

void core_thread_init(struct core_thread *t, struct cores *c, uint32_t rank)
{
    *t = (struct core_thread){.host = &c->hosts[rank / c->per_host]};
    sim_timer_init_locked(c->engine, &t->timer, rank, on_end, t);
}

void core_thread_end(struct core_thread *t)
{
    if (t->host != NULL)
        sim_timer_end(t->host->all->engine, &t->timer);
}

void core_run(struct core_thread *t, struct core_task *task, ps_t takes_ps, ps_t now)
{
    task->takes_ps = takes_ps;
    task->next = NULL;
    bool idle = t->first == NULL;
    if (idle)
        t->first = task;
    else
        t->last->next = task;
    t->last = task;
    if (!idle || t->running || t->waiting || t->ending)
        return;
    schedule(t, now);
    start_waiting(t->host, now);
    update_speed(t->host, now);
}

/* ---- results ---- */

ps_t cores_busy_ps(const struct cores *c, uint32_t host) { return c->hosts[host].busy_ps; }

uint32_t cores_hosts(const struct cores *c) { return c->n_hosts; }

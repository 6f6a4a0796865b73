// SPDX-License-Identifier: MIT
// The windows of a partition, and the threads that process them.
//
// The first part runs on the thread of the caller. A window has two halves: all parts process their
// events, then all read their mail. The threads meet after each half, spinning, because a window takes
// microseconds; between windows they spin for a while, and then sleep.
#define _GNU_SOURCE
#include "engine/partition.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/memory.h"
#include "engine/timer.h"

#define SPINS 2000         // before a thread lets others run
#define SPINS_ASLEEP 20000 // before a thread that waits for the next window sleeps

struct thread {
    struct partition *p;
    uint32_t part;
    pthread_t id;
    double cpu_s;              // when it has ended
    alignas(64) double wait_s; // in the present window
    uint64_t events;
};

struct threads {
    struct thread *of; // [part]
    ps_t until_ps;
    atomic_uint window;            // number of the window that may begin
    alignas(64) atomic_uint met;   // threads that have reached the end of a half, over all windows
    alignas(64) atomic_flag taken; // the lock of what parts share
    alignas(64) atomic_uint asleep;
    pthread_mutex_t mutex; // of those asleep
    pthread_cond_t wake;
    bool quit;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void relax(unsigned spins)
{
    if (spins % SPINS == SPINS - 1)
        sched_yield(); // there may be more threads than free cores
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* ---- the lock ---- */

void engine_lock_parts(struct engine *e)
{
    struct partition *p = e->partition;
    if (!p->parallel || e->lock_depth++ > 0)
        return;
    for (unsigned spins = 0;
         atomic_flag_test_and_set_explicit(&p->threads->taken, memory_order_acquire); spins++)
        relax(spins);
    p->current = e;
}

void engine_unlock_parts(struct engine *e)
{
    struct partition *p = e->partition;
    if (p->parallel && --e->lock_depth == 0)
        atomic_flag_clear_explicit(&p->threads->taken, memory_order_release);
}

/* ---- what is deferred ---- */

struct deferral {
    event_order order;
    engine_deferred done;
    void *ctx;
    const void *note;
};

// What a letter of a log begins with.
struct deferral_head {
    struct event event;
    engine_deferred done;
    void *ctx;
};

void engine_defer_parts(struct engine *e, engine_deferred done, void *ctx, const void *note,
                        size_t bytes)
{
    struct partition *p = e->partition;
    const struct engine *current = p->current;
    if (!p->parallel) {
        done(ctx, note, current->now_ps);
        return;
    }
    uint32_t part = p->part_of[event_node(current->now_key)];
    struct deferral_head *head = mailbox_put(&p->logs[part], sizeof *head + bytes);
    *head = (struct deferral_head){{current->now_ps, current->now_key}, done, ctx};
    if (bytes > 0)
        memcpy(head + 1, note, bytes);
}

static int by_order(const void *a, const void *b)
{
    const struct deferral *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->note > y->note) - (x->note < y->note); // of one event, and so in one log
}

// Do what has been deferred, in the order of events.
static void catch_up(struct partition *p)
{
    size_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        size_t at = 0;
        for (const struct deferral_head *head; (head = mailbox_next(&p->logs[i], &at)) != NULL;) {
            if (n == p->cap_deferred)
                p->deferred = memory_grow(p->deferred, &p->cap_deferred, sizeof *p->deferred);
            p->deferred[n++] =
                (struct deferral){event_order_of(head->event), head->done, head->ctx, head + 1};
        }
    }
    if (n == 0)
        return;
    qsort(p->deferred, n, sizeof *p->deferred, by_order);
    for (size_t i = 0; i < n; i++) {
        const struct deferral *d = &p->deferred[i];
        d->done(d->ctx, d->note, (ps_t)(d->order >> 64));
    }
    for (uint32_t i = 0; i < p->n; i++)
        mailbox_clear(&p->logs[i]);
}

struct engine *engine_current_part(const struct engine *e) { return e->partition->current; }

/* ---- windows of several threads ---- */

static void drain(struct engine *e, ps_t until_ps)
{
    e->horizon_ps = until_ps - 1;
    engine_drain(e, SIZE_MAX);
}

// Wait until all threads have come here `times` times.
static void meet(struct partition *p, unsigned times)
{
    struct threads *t = p->threads;
    atomic_fetch_add_explicit(&t->met, 1, memory_order_acq_rel);
    for (unsigned spins = 0;
         atomic_load_explicit(&t->met, memory_order_acquire) - times * p->n > UINT32_MAX / 2;
         spins++)
        relax(spins);
}

static void process(struct partition *p, uint32_t part, unsigned window)
{
    struct thread *thread = &p->threads->of[part];
    struct engine *e = p->engines[part];
    uint64_t before = e->events;
    drain(e, p->threads->until_ps);
    p->hooks.send(p->hooks.ctx, part, p->threads->until_ps);
    thread->events = e->events - before;
    double done_s = seconds();
    meet(p, 2 * window - 1);
    thread->wait_s = seconds() - done_s;
    p->next_ps[part] = p->hooks.receive(p->hooks.ctx, part);
    meet(p, 2 * window);
}

// Wait for a window after number `last`.
static unsigned next_window(struct threads *t, unsigned last)
{
    unsigned now;
    for (unsigned spins = 0; spins < SPINS_ASLEEP; spins++) {
        now = atomic_load_explicit(&t->window, memory_order_acquire);
        if (now != last)
            return now;
        relax(spins);
    }
    pthread_mutex_lock(&t->mutex);
    atomic_fetch_add(&t->asleep, 1);
    while ((now = atomic_load(&t->window)) == last)
        pthread_cond_wait(&t->wake, &t->mutex);
    atomic_fetch_sub(&t->asleep, 1);
    pthread_mutex_unlock(&t->mutex);
    return now;
}

static void *work(void *arg)
{
    struct thread *thread = arg;
    struct threads *t = thread->p->threads;
    for (unsigned window = 0;;) {
        window = next_window(t, window);
        if (t->quit)
            break;
        process(thread->p, thread->part, window);
    }
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    thread->cpu_s = (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
    return NULL;
}

static unsigned begin_window(struct threads *t)
{
    unsigned window = atomic_fetch_add(&t->window, 1) + 1;
    if (atomic_load(&t->asleep) > 0) {
        pthread_mutex_lock(&t->mutex);
        pthread_cond_broadcast(&t->wake);
        pthread_mutex_unlock(&t->mutex);
    }
    return window;
}

static void threads_start(struct partition *p)
{
    struct threads *t = p->threads = memory_zeroed_lines(1, sizeof *p->threads);
    t->of = memory_zeroed_lines(p->n, sizeof *t->of);
    atomic_flag_clear(&t->taken);
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->wake, NULL);
    for (uint32_t i = 0; i < p->n; i++)
        t->of[i] = (struct thread){.p = p, .part = i};
    for (uint32_t i = 1; i < p->n; i++)
        while (pthread_create(&t->of[i].id, NULL, work, &t->of[i]) != 0)
            memory_short(1 << 20);
}

void partition_rest(struct partition *p)
{
    struct threads *t = p->threads;
    if (!t)
        return;
    t->quit = true;
    begin_window(t);
    for (uint32_t i = 1; i < p->n; i++) {
        pthread_join(t->of[i].id, NULL);
        p->counts.cpu_s += t->of[i].cpu_s;
    }
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->mutex);
    free(t->of);
    free(t);
    p->threads = NULL;
}

static void together(struct partition *p, ps_t until_ps)
{
    struct partition_counts *c = &p->counts;
    double began_s = seconds();
    uint64_t most = 0, all = 0;
    p->threads->until_ps = until_ps;
    p->parallel = true;
    process(p, 0, begin_window(p->threads));
    p->parallel = false;
    catch_up(p);
    for (uint32_t i = 0; i < p->n; i++) {
        const struct thread *t = &p->threads->of[i];
        c->wait_s += t->wait_s;
        all += t->events;
        most = t->events > most ? t->events : most;
    }
    c->together_events += all;
    c->largest_sum += most;
    c->together_s += seconds() - began_s;
}

/* ---- windows of one thread ---- */

static void exchange(struct partition *p, ps_t until_ps)
{
    for (uint32_t i = 0; i < p->n && until_ps > 0; i++)
        p->hooks.send(p->hooks.ctx, i, until_ps);
    for (uint32_t i = 0; i < p->n; i++)
        p->next_ps[i] = p->hooks.receive(p->hooks.ctx, i);
}

static void one_event(struct partition *p, struct engine *e, ps_t at_ps)
{
    p->engines[p->n]->now_ps = at_ps;
    p->current = e;
    e->horizon_ps = at_ps;
    engine_drain(e, 1);
}

// Returns the part with the first event, and the event.
static uint32_t first_part(const struct partition *p, struct event *first)
{
    uint32_t part = 0;
    *first = event_queue_first(&p->engines[0]->queue);
    for (uint32_t i = 1; i < p->n; i++) {
        struct event e = event_queue_first(&p->engines[i]->queue);
        if (event_before(e, *first)) {
            *first = e;
            part = i;
        }
    }
    return part;
}

// An event may create others at its own instant in any part, and in the common engine, whose events are
// the last of an instant. If `max` events end the window early, what has been sent without an event waits, and
// the result is false.
static bool alone(struct partition *p, ps_t until_ps, size_t max)
{
    const struct engine *common = p->engines[p->n];
    struct event first;
    for (;;) {
        uint32_t part = first_part(p, &first);
        if (first.at_ps >= until_ps || (common->stopped && first.at_ps > common->now_ps) ||
            event_queue_first(&p->engines[p->n]->queue).at_ps < first.at_ps)
            break;
        if (max == 0)
            break;
        one_event(p, p->engines[part], first.at_ps);
        max--;
    }
    if (max == 0)
        until_ps = 0;
    exchange(p, common->stopped && common->now_ps < until_ps ? common->now_ps + 1 : until_ps);
    return until_ps > 0;
}

/* ---- steps ---- */

// Count what the parts have processed as processed by the common engine.
static void sum_up(struct partition *p)
{
    struct engine *common = p->engines[p->n];
    for (uint32_t i = 0; i < p->n; i++) {
        struct engine *e = p->engines[i];
        if (e->events > 0 && e->now_ps > common->now_ps)
            common->now_ps = e->now_ps;
        p->counts.events += e->events;
        common->events += e->events;
        common->internal += e->internal;
        e->events = e->internal = 0;
    }
}

// Whether several threads are faster than one depends on how many events a window has, how many packets cross,
// and the machine. So a trial gives some windows to each, in turn, and the faster one has the next ones. The
// first windows of all, in which flows are opened, do not count.
#define TRIAL_FROM 64
#define TRIAL_TO 320
#define TRIAL_TURN 16 // windows, of which one thread has the last
#define TRIAL_AGAIN 8192

static double pace_of(const struct pace *pace)
{
    return pace->events > 0 ? pace->s / (double)pace->events : 0;
}

static bool in_trial(const struct partition *p)
{
    return p->trial >= TRIAL_FROM && p->trial < TRIAL_TO;
}

static bool wants_alone(const struct partition *p)
{
    if (p->no_trials)
        return false;
    return in_trial(p) ? p->trial % TRIAL_TURN == TRIAL_TURN - 1 : p->alone_is_faster;
}

static uint64_t events_of(const struct partition *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        n += p->engines[i]->events;
    return n;
}

static void note_pace(struct partition *p, bool together, double s)
{
    struct pace *pace = &p->paces[together];
    if (in_trial(p)) {
        pace->s += s;
        pace->events += events_of(p); // those of earlier windows have been counted (sum_up)
    }
    if (++p->trial == TRIAL_TO)
        p->alone_is_faster = pace_of(&p->paces[0]) < pace_of(&p->paces[1]);
    if (p->trial < TRIAL_AGAIN)
        return;
    p->trial = TRIAL_FROM;
    p->paces[0] = p->paces[1] = (struct pace){0, 0};
}

static void window(struct partition *p, ps_t until_ps, size_t max)
{
    struct partition_counts *c = &p->counts;
    bool must = p->engines[p->n]->stopped || p->hooks.alone(p->hooks.ctx, until_ps);
    bool chosen = !must && wants_alone(p), whole = true;
    double began_s = seconds();
    if (must || chosen)
        whole = alone(p, until_ps, max);
    else
        together(p, until_ps);
    c->windows += whole;
    c->alone += whole && (must || chosen);
    c->chosen += whole && chosen;
    if (!must)
        note_pace(p, !chosen, seconds() - began_s);
}

bool partition_step(struct partition *p, size_t max)
{
    struct engine *common = p->engines[p->n];
    struct event first, shared = event_queue_first(&common->queue);
    first_part(p, &first);
    for (uint32_t i = 0; i < p->n; i++)
        first.at_ps = p->next_ps[i] < first.at_ps ? p->next_ps[i] : first.at_ps;
    ps_t at_ps = first.at_ps < shared.at_ps ? first.at_ps : shared.at_ps;
    if (at_ps == PS_NEVER || at_ps > common->horizon_ps ||
        (common->stopped && at_ps > common->now_ps))
        return false;
    if (shared.at_ps < first.at_ps) {
        for (uint32_t i = 0; i < p->n; i++)
            p->engines[i]->now_ps = shared.at_ps;
        p->current = common;
        engine_drain(common, 1);
        exchange(p, shared.at_ps + 1);
        return true;
    }
    ps_t until_ps = at_ps + p->lookahead_ps;
    if (shared.at_ps < until_ps) // the common event is the last of its instant
        until_ps = shared.at_ps + 1;
    if (common->horizon_ps < until_ps)
        until_ps = common->horizon_ps + 1;
    window(p, until_ps, max);
    sum_up(p);
    p->current = common;
    return true;
}

size_t partition_pending(const struct partition *p)
{
    size_t n = 0;
    for (uint32_t i = 0; i <= p->n; i++)
        n += p->engines[i]->queue.n;
    return n;
}

/* ---- life ---- */

static void distribute(struct partition *p)
{
    struct engine *common = p->engines[p->n];
    struct event_queue all = common->queue, *kept = &common->queue;
    *kept = (struct event_queue){0};
    event_queue_shape(kept, all.shift);
    struct event e;
    while (event_queue_pop(&all, &e))
        event_queue_push(&partition_engine(p, event_node(e.key))->queue, e);
    event_queue_free(&all);
}

struct partition *partition_new(struct engine *common, uint32_t n, uint16_t *part_of,
                                uint32_t n_nodes, ps_t lookahead_ps,
                                const struct partition_hooks *hooks)
{
    struct partition *p = memory_zeroed(1, sizeof *p);
    p->n = n;
    p->part_of = part_of;
    p->lookahead_ps = lookahead_ps;
    p->hooks = *hooks;
    p->engines = memory_zeroed(n + 1, sizeof(struct engine *));
    p->boxes = memory_zeroed((size_t)n * n, sizeof *p->boxes);
    p->logs = memory_zeroed(n, sizeof *p->logs);
    p->next_ps = memory_zeroed(n, sizeof *p->next_ps);
    for (uint32_t i = 0; i < n; i++)
        p->next_ps[i] = PS_NEVER;
    engine_reserve_timers(common, n_nodes + 1);
    for (uint32_t i = 0; i < n; i++) {
        struct engine *e = p->engines[i] = memory_zeroed_lines(1, sizeof *e);
        engine_init(e, common->seed);
        e->now_ps = common->now_ps;
        e->timers = common->timers;
        e->n_timer_nodes = common->n_timer_nodes;
        e->partition = p;
        event_queue_shape(&e->queue, common->queue.shift);
    }
    p->engines[n] = p->current = common;
    common->partition = p;
    distribute(p);
    threads_start(p);
    return p;
}

void partition_free(struct partition *p)
{
    if (!p)
        return;
    partition_rest(p);
    for (uint32_t i = 0; i < p->n; i++) {
        struct engine *e = p->engines[i];
        e->timers = NULL; // the common engine's
        e->n_timer_nodes = 0;
        engine_free(e);
        free(e);
    }
    for (uint32_t i = 0; i < p->n * p->n; i++)
        mailbox_free(&p->boxes[i]);
    for (uint32_t i = 0; i < p->n; i++)
        mailbox_free(&p->logs[i]);
    p->engines[p->n]->partition = NULL;
    free(p->deferred);
    free(p->logs);
    free(p->next_ps);
    free(p->boxes);
    free(p->engines);
    free((void *)(uintptr_t)p->part_of);
    free(p);
}

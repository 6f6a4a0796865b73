// SPDX-License-Identifier: MIT
// The threads of the shards, and the lock on the state that they share.
//
// The first shard runs on the thread of the caller. A window has two halves: all shards process
// their events, then all read their mail. The threads meet after each half, spinning, because a
// window takes microseconds; between windows they spin for a while, and then sleep.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/shards_internal.h"

#define SPINS 200         // before a thread lets others run
#define SPINS_ASLEEP 8000 // before a thread that waits for the next window sleeps

struct thread {
    struct shards *p;
    uint32_t shard;
    pthread_t id;
    double cpu_s;              // when it has ended
    alignas(64) double wait_s; // in the present window
    uint64_t events;
};

struct threads {
    struct thread *of; // [shard]
    ps_t began_ps, until_ps;
    atomic_uint window;            // number of the window that may begin
    alignas(64) atomic_uint met;   // threads that have reached the end of a half, over all windows
    alignas(64) atomic_flag taken; // the lock on state that shards share
    alignas(64) atomic_uint asleep;
    pthread_mutex_t mutex; // for threads that sleep
    pthread_cond_t wake;
    bool quit;
};

static inline void relax(unsigned spins)
{
    if (spins % SPINS == SPINS - 1)
        sched_yield(); // there may be more threads than free cores
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* ---- the lock ---- */

void engine_lock_shards(struct engine *e)
{
    struct shards *p = e->shards;
    if (!p->parallel)
        return;
    struct engine *here = engine_current_shard(e);
    SIM_ASSERT(here, -1, e == here || e == p->engines[p->n]); // no event reaches into another shard
    if (here->lock_depth++ > 0)
        return;
    for (unsigned spins = 0;
         !p->in_turn && atomic_flag_test_and_set_explicit(&p->threads->taken, memory_order_acquire);
         spins++)
        relax(spins);
}

void engine_unlock_shards(struct engine *e)
{
    struct shards *p = e->shards;
    if (p->parallel && --engine_current_shard(e)->lock_depth == 0 && !p->in_turn)
        atomic_flag_clear_explicit(&p->threads->taken, memory_order_release);
}

/* ---- windows of several threads ---- */

// Wait until all threads have come here `times` times.
static void meet(struct shards *p, unsigned times)
{
    struct threads *t = p->threads;
    atomic_fetch_add_explicit(&t->met, 1, memory_order_acq_rel);
    for (unsigned spins = 0;
         atomic_load_explicit(&t->met, memory_order_acquire) - times * p->n_own > UINT32_MAX / 2;
         spins++)
        relax(spins);
}

static void process(struct shards *p, uint32_t shard, unsigned window)
{
    struct thread *thread = &p->threads->of[shard];
    struct engine *e = p->engines[shard];
    uint64_t before = e->events;
    tiles_window(p, shard, p->threads->began_ps, p->threads->until_ps);
    p->next_ps[shard] = p->hooks.send(p->hooks.ctx, shard, p->threads->until_ps);
    thread->events = e->events - before;
    double done_s = monotonic_s();
    meet(p, 2 * window - 1);
    thread->wait_s = monotonic_s() - done_s;
    p->hooks.receive(p->hooks.ctx, shard);
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
    engine_set_thread(thread->shard);
    for (unsigned window = 0;;) {
        window = next_window(t, window);
        if (t->quit)
            break;
        process(thread->p, thread->shard, window);
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

void threads_start(struct shards *p)
{
    struct threads *t = p->threads = memory_zeroed_lines(1, sizeof *p->threads);
    t->of = memory_zeroed_lines(p->n_own, sizeof *t->of);
    atomic_flag_clear(&t->taken);
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->wake, NULL);
    for (uint32_t i = 0; i < p->n_own; i++)
        t->of[i] = (struct thread){.p = p, .shard = i};
    for (uint32_t i = 1; i < p->n_own; i++)
        while (pthread_create(&t->of[i].id, NULL, work, &t->of[i]) != 0)
            memory_short(1 << 20);
}

void shards_rest(struct shards *p)
{
    struct threads *t = p->threads;
    if (!t)
        return;
    t->quit = true;
    begin_window(t);
    for (uint32_t i = 1; i < p->n_own; i++) {
        pthread_join(t->of[i].id, NULL);
        p->counts.cpu_s += t->of[i].cpu_s;
    }
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->mutex);
    free(t->of);
    free(t);
    p->threads = NULL;
}

void threads_window(struct shards *p, ps_t began_ps, ps_t until_ps)
{
    struct shards_counts *c = &p->counts;
    double began_s = monotonic_s();
    uint64_t most = 0, all = 0;
    p->threads->began_ps = began_ps;
    p->threads->until_ps = until_ps;
    p->parallel = true;
    process(p, 0, begin_window(p->threads));
    p->parallel = false;
    if (!p->processes) // with processes the deferred work follows the exchange
        deferral_catch_up(p);
    for (uint32_t i = 0; i < p->n_own; i++) {
        const struct thread *t = &p->threads->of[i];
        c->wait_s += t->wait_s;
        all += t->events;
        most = t->events > most ? t->events : most;
    }
    c->together_events += all;
    c->largest_sum += most;
    c->together_s += monotonic_s() - began_s;
}

void threads_window_alone(struct shards *p, ps_t began_ps, ps_t until_ps)
{
    p->parallel = p->in_turn = true;
    for (uint32_t i = 0; i < p->n_own; i++) {
        p->current = p->engines[i];
        tiles_window(p, i, began_ps, until_ps);
        p->next_ps[i] = p->hooks.send(p->hooks.ctx, i, until_ps);
    }
    p->parallel = p->in_turn = false;
    for (uint32_t i = 0; i < p->n_own; i++)
        p->hooks.receive(p->hooks.ctx, i);
    if (!p->processes)
        deferral_catch_up(p);
}

// SPDX-License-Identifier: MIT
// An exchange has two halves: all show what they send, and all copy what is for them.
#include "tests/support/processes_in_threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

struct shared {
    const struct processes_in_threads *given;
    pthread_mutex_t lock;
    pthread_cond_t met;
    uint64_t arrivals; // at the end of a half, over all
    bool silenced;
    const struct collwire_bytes **out; // [n] what each shows
};

struct process {
    struct shared *shared;
    struct collwire_processes processes;
    pthread_t thread;
    uint64_t calls;
    void **copies; // [n] what came from each
};

// Wait until all have come to the end of this half. Returns false if one is silent.
static bool meet(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t all = (s->arrivals / s->given->n + 1) * s->given->n;
    if (++s->arrivals == all)
        pthread_cond_broadcast(&s->met);
    while (s->arrivals < all && !s->silenced)
        pthread_cond_wait(&s->met, &s->lock);
    bool good = s->arrivals >= all;
    pthread_mutex_unlock(&s->lock);
    return good;
}

static uint32_t exchange(void *ctx, const struct collwire_bytes *out, struct collwire_bytes *in)
{
    struct process *p = ctx;
    struct shared *s = p->shared;
    uint32_t rank = p->processes.rank, n = p->processes.n;
    if (rank == s->given->silent && p->calls == s->given->silent_after) {
        pthread_mutex_lock(&s->lock);
        s->silenced = true;
        pthread_cond_broadcast(&s->met);
        pthread_mutex_unlock(&s->lock);
        return 1 + (rank + 1) % n;
    }
    p->calls++;
    s->out[rank] = out;
    if (!meet(s))
        return 1 + s->given->silent;
    for (uint32_t q = 0; q < n; q++) {
        if (q == rank)
            continue;
        const struct collwire_bytes *theirs = &s->out[q][rank];
        p->copies[q] = memory_resize(p->copies[q], theirs->n + 1, 1);
        if (theirs->n > 0)
            memcpy(p->copies[q], theirs->data, theirs->n);
        in[q] = (struct collwire_bytes){p->copies[q], theirs->n};
    }
    return meet(s) ? 0 : 1 + s->given->silent;
}

static void *run(void *arg)
{
    struct process *p = arg;
    p->shared->given->run(p->shared->given->ctx, &p->processes);
    return NULL;
}

void processes_in_threads(const struct processes_in_threads *given)
{
    struct shared shared = {.given = given};
    struct process *all = memory_zeroed(given->n, sizeof *all);
    pthread_mutex_init(&shared.lock, NULL);
    pthread_cond_init(&shared.met, NULL);
    shared.out = memory_zeroed(given->n, sizeof *shared.out);
    for (uint32_t q = 0; q < given->n; q++) {
        all[q].shared = &shared;
        all[q].copies = memory_zeroed(given->n, sizeof *all[q].copies);
        all[q].processes = (struct collwire_processes){
            .n = given->n, .rank = q, .exchange = exchange, .ctx = &all[q]};
        if (pthread_create(&all[q].thread, NULL, run, &all[q]) != 0)
            abort();
    }
    for (uint32_t q = 0; q < given->n; q++)
        pthread_join(all[q].thread, NULL);
    for (uint32_t q = 0; q < given->n; q++) {
        for (uint32_t from = 0; from < given->n; from++)
            free(all[q].copies[from]);
        free(all[q].copies);
    }
    pthread_cond_destroy(&shared.met);
    pthread_mutex_destroy(&shared.lock);
    free(shared.out);
    free(all);
}

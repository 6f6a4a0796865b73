// SPDX-License-Identifier: MIT
// A hash table holds the keys whose receivers' messages and posted messages differ in number.
#include "collective/rendezvous.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/base/slots.h"
#include "engine/critical_path.h"
#include "engine/timer.h"

struct held { // a message that waits for its receiver, or leaves at the end of this instant
    struct sim_timer timer;
    struct rendezvous *r;
    struct transfer_request request;
    struct held *next, *made;
    uint32_t path;
};

struct meeting {
    struct rendezvous_key key;
    uint64_t ready; // receivers' messages that have arrived before the messages were posted
    struct held *first, *last;
    struct meeting *next; // in its bucket, or in the list of free ones
};

struct rendezvous {
    struct comm_job *job;
    struct meeting **buckets; // [n_buckets] a power of two
    size_t n_buckets, n_meetings;
    struct meeting *free_meetings;
    struct held *free_held, *made;
    struct rendezvous_key *ready; // of receivers' messages on their way
    struct slots numbers;
};

void rendezvous_begin(struct comm_job *job)
{
    struct rendezvous *r = memory_zeroed(1, sizeof *r);
    r->job = job;
    r->n_buckets = 64;
    r->buckets = memory_zeroed(r->n_buckets, sizeof(struct meeting *));
    // Ranks of all shards meet in one table, so the run stays on one thread.
    if (job->takes_order != NULL)
        *job->takes_order = true;
    job->rendezvous = r;
}

static void meetings_free(struct meeting *list)
{
    while (list != NULL) {
        struct meeting *next = list->next;
        free(list);
        list = next;
    }
}

void rendezvous_free(struct rendezvous *r)
{
    if (r == NULL)
        return;
    for (size_t b = 0; b < r->n_buckets; b++)
        meetings_free(r->buckets[b]);
    meetings_free(r->free_meetings);
    // The list has all entries that were ever made, those in use and free ones.
    while (r->made != NULL) {
        struct held *held = r->made;
        r->made = held->made;
        sim_timer_end(r->job->engine, &held->timer);
        free(held);
    }
    free(r->buckets);
    free(r->ready);
    slots_free(&r->numbers);
    free(r);
}

/* ---- meetings ---- */

static uint64_t hash_of(const struct rendezvous_key *key)
{
    uint64_t hash = hash_mix((uint64_t)key->src << 32 | key->dst);
    hash = hash_mix(hash ^ ((uint64_t)key->comm << 32 | key->tag));
    return hash_mix(hash ^ key->number);
}

static bool equal(const struct rendezvous_key *a, const struct rendezvous_key *b)
{
    return a->src == b->src && a->dst == b->dst && a->comm == b->comm && a->tag == b->tag &&
           a->number == b->number;
}

static struct meeting **place_of(const struct rendezvous *r, const struct rendezvous_key *key)
{
    struct meeting **place = &r->buckets[hash_of(key) & (r->n_buckets - 1)];
    while (*place != NULL && !equal(&(*place)->key, key))
        place = &(*place)->next;
    return place;
}

static void buckets_grow(struct rendezvous *r)
{
    struct meeting **old = r->buckets;
    size_t n = r->n_buckets;
    r->n_buckets *= 2;
    r->buckets = memory_zeroed(r->n_buckets, sizeof(struct meeting *));
    for (size_t b = 0; b < n; b++)
        for (struct meeting *m = old[b], *next; m != NULL; m = next) {
            struct meeting **place = &r->buckets[hash_of(&m->key) & (r->n_buckets - 1)];
            next = m->next;
            m->next = *place;
            *place = m;
        }
    free(old);
}

static struct meeting *meeting_add(struct rendezvous *r, const struct rendezvous_key *key)
{
    if (r->n_meetings++ == r->n_buckets)
        buckets_grow(r);
    struct meeting *m = r->free_meetings;
    if (m != NULL)
        r->free_meetings = m->next;
    else
        m = memory_zeroed(1, sizeof *m);
    struct meeting **place = &r->buckets[hash_of(key) & (r->n_buckets - 1)];
    *m = (struct meeting){.key = *key, .next = *place};
    *place = m;
    return m;
}

static void meeting_remove(struct rendezvous *r, struct meeting **place)
{
    struct meeting *m = *place;
    *place = m->next;
    m->next = r->free_meetings;
    r->free_meetings = m;
    r->n_meetings--;
}

/* ---- messages ---- */

static struct held *held_take(struct rendezvous *r, const struct transfer_request *request)
{
    struct held *held = r->free_held;
    if (held != NULL) {
        r->free_held = held->next;
    } else {
        held = memory_zeroed(1, sizeof *held);
        held->made = r->made;
        held->r = r;
        r->made = held;
    }
    held->request = *request;
    held->next = NULL;
    return held;
}

static void post(const struct comm_job *job, const struct transfer_request *request, ps_t now)
{
    tally_add(job->messages, 1);
    job->transfer->post(job->transfer->net, request, now);
}

static void held_post(struct held *held, ps_t now)
{
    struct rendezvous *r = held->r;
    struct transfer_request request = held->request;
    held->next = r->free_held;
    r->free_held = held;
    post(r->job, &request, now);
}

static void on_timer(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct held *held = timer->data;
    const struct comm_job *job = held->r->job;
    uint32_t path = path_own(job->path_book, held->path);
    path_extend(job->path_book, path, PATH_SCHEDULED, e->now_ps);
    uint32_t before = path_enter(job->path_book, path);
    sim_timer_end(e, timer);
    tally_add(job->delays, -1);
    held_post(held, e->now_ps);
    path_leave(job->path_book, before);
}

void rendezvous_receive(const struct comm_job *job, const struct rendezvous_key *key, ps_t now)
{
    struct rendezvous *r = job->rendezvous;
    if (r == NULL)
        return;
    uint32_t at = slots_take(&r->numbers, r->ready);
    r->ready[at] = *key;
    struct transfer_request request = {.src = key->dst,
                                       .dst = key->src,
                                       .bytes = RENDEZVOUS_BYTES,
                                       .job = job->job,
                                       .cls = job->cls,
                                       .transport = job->transport,
                                       .joined = true,
                                       .token = job->token | RENDEZVOUS_TOKEN | at,
                                       .origin = {.op = "ready", .step = key->tag}};
    post(job, &request, now);
}

void rendezvous_send(const struct comm_job *job, const struct rendezvous_key *key,
                     const struct transfer_request *request, ps_t now)
{
    struct rendezvous *r = job->rendezvous;
    if (r == NULL) {
        post(job, request, now);
        return;
    }
    struct held *held = held_take(r, request);
    struct meeting **place = place_of(r, key), *m = *place;
    // The receiver's message has arrived, so the message leaves in this instant, but behind the
    // other events of the instant.
    if (m != NULL && m->ready > 0) {
        if (--m->ready == 0)
            meeting_remove(r, place);
        held->path = path_take(job->path_book, now);
        tally_add(job->delays, 1);
        sim_timer_init_locked(job->engine, &held->timer, key->src, on_timer, held);
        sim_timer_start(job->engine, &held->timer, now);
        return;
    }
    if (m == NULL)
        m = meeting_add(r, key);
    *(m->first == NULL ? &m->first : &m->last->next) = held;
    m->last = held;
}

void rendezvous_delivered(struct rendezvous *r, uint64_t token, ps_t now)
{
    uint32_t at = (uint32_t)token;
    struct rendezvous_key key = r->ready[at];
    slots_give(&r->numbers, at);
    struct meeting **place = place_of(r, &key), *m = *place;
    struct held *held = m != NULL ? m->first : NULL;
    if (held == NULL) {
        if (m == NULL)
            m = meeting_add(r, &key);
        m->ready++;
        return;
    }
    m->first = held->next;
    if (m->first == NULL)
        meeting_remove(r, place);
    held_post(held, now);
}

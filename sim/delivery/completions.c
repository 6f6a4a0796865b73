// SPDX-License-Identifier: MIT
// The queues of completions: one for each rank and dimension, by the time when they are due.
#include "sim/delivery/completions.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

struct completion_queue {
    struct delivery *delivery;
    struct completion *items; // a ring
    uint32_t first, n, cap;   // cap is a power of two, or 0
    struct sim_timer timer;   // expires when the first item is due
};

// Records of messages that have ended at their NICs, in the order of the times at which
// records_put() gets them: items [first, n).
struct held_records {
    struct flow_record *items;
    size_t first, n, cap;
};

struct completions {
    struct transfer_client client;
    struct held_records held;
    struct completion_queue
        *queues; // [rank or aggregator * n_dims + dimension]; NULL = completions take no time
    uint64_t n;  // in all queues
};

static void tell(struct delivery *delivery, const struct completion *c, ps_t now)
{
    struct path_book *book = &delivery->path_book;
    const struct transfer_client *client = &delivery->completions->client;
    if (c->kind == COMPLETION_FAILED) {
        client->failed(client->ctx, c->token, now);
        return;
    }
    uint32_t before = path_enter(book, c->path);
    path_thread(book)->late = c->late;
    path_thread(book)->held_ps = c->held_ps;
    if (c->kind == COMPLETION_DELIVERED)
        client->delivered(client->ctx, c->token, c->bytes, now);
    else
        client->sent(client->ctx, c->token, now);
    path_thread(book)->held_ps = 0;
    path_leave(book, before);
}

void completions_entered(struct delivery *delivery, uint64_t token, uint32_t path, ps_t now)
{
    struct path_book *book = &delivery->path_book;
    const struct transfer_client *client = &delivery->completions->client;
    if (!client->entered) {
        path_drop(book, path);
        return;
    }
    uint32_t before = path_enter(book, path);
    enum path_cause late = path_thread(book)->late;
    path_thread(book)->late = PATH_WINDOW;
    client->entered(client->ctx, token, now);
    path_thread(book)->late = late; // restored for the poster: a message may enter within its post
    path_leave(book, before);
}

/* ---- records ---- */

static ps_t end_of(const struct flow_record *r) { return r->start_ps + r->fct_ps; }

// Keep the records of messages that have ended by now.
static void keep_due(void *ctx, const void *note, ps_t now)
{
    struct delivery *delivery = ctx;
    struct held_records *held = &delivery->completions->held;
    (void)note;
    for (; held->first < held->n && end_of(&held->items[held->first]) <= now; held->first++)
        records_put(delivery, &held->items[held->first]);
    // Items are moved only when they are fewer than those that have gone, so the cost of moving is
    // constant per record.
    if (held->first > held->n / 2) { // so that the array does not grow with the run
        held->n -= held->first;
        memmove(held->items, held->items + held->first, held->n * sizeof *held->items);
        held->first = 0;
    }
}

static void hold_record(void *ctx, const void *note, ps_t now)
{
    struct delivery *delivery = ctx;
    const struct flow_record *record = note;
    struct held_records *held = &delivery->completions->held;
    // The sender learns of the end of a message when its completion is due, which is later than the
    // ACK that made this record.
    if (record->status != MESSAGE_DONE || end_of(record) <= now) {
        records_put(delivery, record);
        return;
    }
    if (held->n == held->cap)
        held->items = memory_grow(held->items, &held->cap, sizeof *held->items);
    size_t at = held->n++; // most end after all others
    for (; at > held->first && end_of(&held->items[at - 1]) > end_of(record); at--)
        held->items[at] = held->items[at - 1];
    held->items[at] = *record;
}

// With more messages than `report.flows_max` the order of the records decides which are kept, so
// they are handed over in the order of events.
void completions_record(struct delivery *delivery, const struct flow_record *record)
{
    engine_defer(&delivery->fabric->engine, hold_record, delivery, record, sizeof *record);
}

void completions_running(struct delivery *delivery)
{
    ps_t now = delivery->fabric->engine.now_ps;
    struct held_records *held = delivery->completions ? &delivery->completions->held : NULL;
    if (!held)
        return;
    keep_due(delivery, NULL, now);
    // Messages whose completion is due after the end of the run are still running.
    for (; held->first < held->n; held->first++) {
        struct flow_record r = held->items[held->first];
        r.status = MESSAGE_RUNNING;
        r.fct_ps = -1;
        // The data may have arrived before the end of the run. Otherwise the record has no
        // delivery, and no account of where the time went.
        if (r.start_ps + r.delivered_ps > now) {
            r.delivered_ps = -1;
            memset(r.life_ps, 0, sizeof r.life_ps);
        }
        records_put(delivery, &r);
    }
}

void completions_renumber(struct delivery *delivery, const struct flow_numbers *numbers)
{
    struct held_records *held = delivery->completions ? &delivery->completions->held : NULL;
    for (size_t i = held ? held->first : 0; held && i < held->n; i++)
        record_renumber(&held->items[i], numbers);
}

/* ---- queues ---- */

static void on_due(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct completion_queue *q = timer->data;
    struct path_book *book = &q->delivery->path_book;
    // The records of the same messages are due now as well. Shards share their list.
    engine_defer(&q->delivery->fabric->engine, keep_due, q->delivery, NULL, 0);
    while (q->n > 0 && q->items[q->first].due_ps <= e->now_ps) {
        struct completion c = q->items[q->first];
        q->first = (q->first + 1) & (q->cap - 1);
        q->n--;
        q->delivery->completions->n--;
        // The time from the end at the NIC to the completion is accounted to the host.
        if (c.path > 0)
            path_extend(book, c.path, PATH_HOST, e->now_ps - c.held_ps);
        tell(q->delivery, &c, e->now_ps);
    }
    if (q->n > 0)
        sim_timer_start(e, timer, q->items[q->first].due_ps);
}

static void grow(struct completion_queue *q)
{
    uint32_t cap = q->cap > 0 ? 2 * q->cap : 16;
    struct completion *items = memory_zeroed(cap, sizeof *items);
    for (uint32_t i = 0; i < q->n; i++)
        items[i] = q->items[(q->first + i) & (q->cap - 1)];
    free(q->items);
    q->items = items;
    q->cap = cap;
    q->first = 0;
}

ps_t completion_due_ps(const struct delivery *delivery, uint32_t rank, uint32_t dim, ps_t now)
{
    const struct nic_spec *nic = fabric_nic(delivery->fabric, rank, dim);
    return nic ? now + nic->completion_ps : now;
}

// Insert in the order of due times; most completions are due after all others.
static void insert(struct completion_queue *q, const struct completion *c)
{
    if (q->n == q->cap)
        grow(q);
    uint32_t at = q->n++, mask = q->cap - 1;
    for (; at > 0 && q->items[(q->first + at - 1) & mask].due_ps > c->due_ps; at--)
        q->items[(q->first + at) & mask] = q->items[(q->first + at - 1) & mask];
    q->items[(q->first + at) & mask] = *c;
}

void completions_add(struct delivery *delivery, uint32_t rank, uint32_t dim, struct completion c,
                     ps_t now)
{
    // An ideal NIC reports at once, without an event.
    if (c.due_ps == now) {
        tell(delivery, &c, now);
        return;
    }
    if (c.path > 0) {
        c.path = path_own(&delivery->path_book, c.path);
        path_extend(&delivery->path_book, c.path, c.late, now - c.held_ps);
        c.late = PATH_OTHERS;
    }
    struct completion_queue *q =
        &delivery->completions->queues[rank * delivery->fabric->spec->n_dims + dim];
    insert(q, &c);
    delivery->completions->n++;
    // The new completion may be due before all others.
    sim_timer_start(&delivery->fabric->engine, &q->timer, q->items[q->first].due_ps);
}

bool completions_take_time(const struct delivery *delivery)
{
    return delivery->completions->queues != NULL;
}

bool completions_pending(const struct delivery *delivery)
{
    return delivery->completions && delivery->completions->n > 0;
}

void completions_init(struct delivery *delivery, struct transfer_client client)
{
    struct completions *all = delivery->completions = memory_zeroed(1, sizeof *all);
    uint32_t n_dims = delivery->fabric->spec->n_dims, n = delivery->fabric->graph.n_ends * n_dims;
    all->client = client;
    bool any = false;
    // Without a NIC whose completions take time there are no queues, and no timers.
    for (uint32_t d = 0; d < n_dims; d++)
        for (uint32_t k = 0; k <= delivery->fabric->spec->dims[d].nics.more; k++)
            any |= delivery->fabric->spec->dims[d].nics.list[k].completion_ps > 0;
    if (!any)
        return;
    all->queues = memory_zeroed(n, sizeof *all->queues);
    for (uint32_t i = 0; i < n; i++) {
        all->queues[i].delivery = delivery;
        sim_timer_init_locked(&delivery->fabric->engine, &all->queues[i].timer, i / n_dims, on_due,
                              &all->queues[i]);
    }
}

void completions_free(struct delivery *delivery)
{
    struct completions *all = delivery->completions;
    for (uint32_t i = 0;
         all && all->queues && i < delivery->fabric->graph.n_ends * delivery->fabric->spec->n_dims;
         i++)
        free(all->queues[i].items);
    if (all) {
        free(all->queues);
        free(all->held.items);
    }
    free(all);
}

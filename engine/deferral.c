// SPDX-License-Identifier: MIT
// Work that events defer to the end of a window in which shards run at the same time: each shard
// has a log, and the logs are merged in the order of events.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/shards_internal.h"

struct deferral {
    event_order order;
    engine_deferred done;
    void *ctx;
    const void *note;
};

// Head of a letter of a log; the note follows.
struct deferral_head {
    struct event event; // with the key of its order (engine_order_key)
    engine_deferred done;
    void *ctx;
};

void engine_defer_shards(struct engine *e, engine_deferred done, void *ctx, const void *note,
                         size_t bytes)
{
    struct shards *p = e->shards;
    const struct engine *current = engine_current_shard(e);
    if (!p->parallel) {
        done(ctx, note, current->now_ps);
        return;
    }
    uint32_t shard = p->shard_of[event_node(current->now_key)];
    struct deferral_head *head = mailbox_put(&p->logs[shard], sizeof *head + bytes);
    *head = (struct deferral_head){{current->now_ps, engine_order_key(current)}, done, ctx};
    if (bytes > 0)
        memcpy(head + 1, note, bytes);
}

static int by_order(const void *a, const void *b)
{
    const struct deferral *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->note > y->note) - (x->note < y->note); // the order within one log
}

void deferral_catch_up(struct shards *p)
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

// SPDX-License-Identifier: MIT
// Partitions, on a toy model: tokens walk over nodes by arrivals, at random delays of at least the
// lookahead between tiles; each visit is logged through engine_defer. The log must be the same for
// any number of shards and tiles.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/shards.h"
#include "engine/timer.h"

#define NODES 12
#define TOKENS 40
#define HOPS 60
#define LOOKAHEAD 1000
#define LOG_MAX (TOKENS * HOPS + 1000)

struct letter {
    ps_t at_ps;
    uint64_t key;
};

struct visit {
    ps_t at_ps;
    uint32_t node, token, sum, zero; // sum: of what the node has seen so far
};

struct world {
    struct engine engine;
    struct shards *shards;          // NULL = one shard
    struct mailbox arrivals[NODES]; // [tile] from its own shard
    uint32_t hops[TOKENS];
    uint32_t seen[NODES];
    struct visit log[LOG_MAX];
    size_t n;
    struct sim_timer common; // fires now and then
    uint32_t commons, n_alone;
    bool always_alone;
};

struct handler { // of a shard's engine
    struct world *world;
    uint32_t shard;
};

static struct handler handlers[SHARDS_MAX];

static void log_visit(void *ctx, const void *note, ps_t now)
{
    struct world *w = ctx;
    const struct visit *v = note;
    assert_int_equal(v->at_ps, now);
    assert_true(w->n < LOG_MAX);
    w->log[w->n++] = *v;
}

// The token's next place and time, which depend on its history alone.
static void move(struct handler *h, uint32_t node, uint32_t token, ps_t now)
{
    struct world *w = h->world;
    struct rng rng = rng_init(7, 0, token * HOPS + w->hops[token]);
    uint32_t next = (uint32_t)rng_below(&rng, NODES);
    ps_t at_ps = now + LOOKAHEAD + (ps_t)rng_below(&rng, 3) * 500;
    uint64_t key = event_key(next, EVENT_ARRIVAL, token, token);
    uint32_t to = w->shards ? w->shards->shard_of[next] : 0;
    (void)node;
    if (w->hops[token]++ == HOPS)
        return;
    if (!w->shards) {
        engine_push(&w->engine, at_ps, key);
    } else if (to == h->shard) {
        struct letter *letter = mailbox_put(&w->arrivals[w->shards->tile_of[next]], sizeof *letter);
        *letter = (struct letter){at_ps, key};
        shards_note_next(w->shards, w->shards->tile_of[next], at_ps);
    } else {
        struct letter *letter = mailbox_put(shards_box(w->shards, h->shard, to), sizeof *letter);
        *letter = (struct letter){at_ps, key};
    }
}

static void on_arrival(void *ctx, uint64_t key)
{
    struct handler *h = ctx;
    struct world *w = h->world;
    uint32_t node = event_node(key), token = event_payload(key);
    struct engine *e = w->shards ? w->shards->engines[h->shard] : &w->engine;
    w->seen[node] += token;
    engine_lock(e);
    engine_lock(e); // calls may be nested
    struct visit v = {engine_current(&w->engine)->now_ps, node, token, w->seen[node], 0};
    engine_defer(&w->engine, log_visit, w, &v, sizeof v);
    engine_unlock(e);
    engine_unlock(e);
    move(h, node, token, v.at_ps);
}

// Sees the state after all events of its instant.
static void on_common(struct engine *e, struct sim_timer *timer, int revents)
{
    struct world *w = timer->data;
    (void)revents;
    struct visit v = {e->now_ps, NODES, 0, 0, 0};
    for (uint32_t node = 0; node < NODES; node++)
        v.sum += w->seen[node];
    w->log[w->n++] = v;
    if (++w->commons < 20)
        sim_timer_start(e, timer, e->now_ps + 3 * LOOKAHEAD + 500);
}

static ps_t hook_send(void *ctx, uint32_t shard, ps_t until_ps)
{
    (void)ctx, (void)shard, (void)until_ps;
    return PS_NEVER;
}

static void hook_receive(void *ctx, uint32_t shard)
{
    const struct world *w = ctx;
    for (uint32_t from = 0; from < w->shards->n; from++) {
        struct mailbox *box = shards_box(w->shards, from, shard);
        size_t at = 0;
        for (const struct letter *l; (l = mailbox_next(box, &at)) != NULL;) {
            assert_true(l->at_ps > w->shards->engines[shard]->now_ps);
            engine_push(w->shards->engines[shard], l->at_ps, l->key);
        }
        mailbox_clear(box);
    }
}

// A tile's mail is in a mailbox of its own.
static void hook_enter(void *ctx, uint32_t tile)
{
    struct world *w = ctx;
    size_t at = 0;
    for (const struct letter *l; (l = mailbox_next(&w->arrivals[tile], &at)) != NULL;)
        engine_push(w->shards->engines[w->shards->tiles[tile].shard], l->at_ps, l->key);
    mailbox_clear(&w->arrivals[tile]);
}

static enum shards_order hook_order(void *ctx, ps_t until_ps)
{
    struct world *w = ctx;
    (void)until_ps;
    return w->always_alone || w->n_alone++ % 5 == 4 ? ORDER_EVENTS : ORDER_NONE;
}

static struct shards_cut cut_of(uint32_t shards, uint32_t tiles)
{
    struct shards_cut cut = {.shards = shards,
                             .tiles = tiles,
                             .shard_of = memory_zeroed(NODES + 1, sizeof *cut.shard_of),
                             .tile_of = memory_zeroed(NODES + 1, sizeof *cut.tile_of),
                             .lookahead_ps = LOOKAHEAD};
    for (uint32_t node = 0; node < NODES; node++) {
        cut.tile_of[node] = (uint16_t)(node * tiles / NODES);
        cut.shard_of[node] = (uint16_t)(cut.tile_of[node] * shards / tiles);
    }
    cut.shard_of[NODES] = (uint16_t)shards;
    cut.tile_of[NODES] = (uint16_t)tiles;
    return cut;
}

static void begin(struct world *w)
{
    *w = (struct world){0};
    engine_init(&w->engine, 1);
    engine_shape(&w->engine, 64, 4 * LOOKAHEAD);
    for (uint32_t token = 0; token < TOKENS; token++)
        engine_push(&w->engine, 500 * (token % 4),
                    event_key(token % NODES, EVENT_ARRIVAL, token, token));
    sim_timer_init(&w->engine, &w->common, NODES, on_common, w);
    sim_timer_start(&w->engine, &w->common, 2 * LOOKAHEAD);
}

static void run(struct world *w, uint32_t shards, uint32_t tiles, bool alone)
{
    begin(w);
    w->always_alone = alone;
    handlers[0] = (struct handler){w, 0};
    w->engine.handlers[EVENT_ARRIVAL] = on_arrival;
    w->engine.handler_ctx = &handlers[0];
    if (shards == 0) {
        engine_drain(&w->engine, SIZE_MAX);
        engine_free(&w->engine);
        return;
    }
    struct shards_cut cut = cut_of(shards, tiles);
    struct shards_hooks hooks = {.enter = hook_enter,
                                 .send = hook_send,
                                 .receive = hook_receive,
                                 .order = hook_order,
                                 .ctx = w};
    w->shards = shards_new(&w->engine, &cut, NODES, &hooks);
    for (uint32_t i = 0; i < shards; i++) {
        handlers[i] = (struct handler){w, i};
        w->shards->engines[i]->handlers[EVENT_ARRIVAL] = on_arrival;
        w->shards->engines[i]->handler_ctx = &handlers[i];
    }
    while (shards_step(w->shards, 1 + w->n % 7))
        continue;
    assert_int_equal(shards_pending(w->shards), 0);
    shards_rest(w->shards);
    shards_free(w->shards);
    engine_free(&w->engine);
    for (uint32_t i = 0; i < NODES; i++)
        mailbox_free(&w->arrivals[i]);
}

static void test_same_log(void **state)
{
    struct world *one = malloc(sizeof *one), *more = malloc(sizeof *more);
    (void)state;
    run(one, 0, 0, false);
    assert_int_equal(one->n, TOKENS * (HOPS + 1) + 20);
    for (uint32_t shards = 1; shards <= 6; shards++)
        for (uint32_t mode = 0; mode < 4; mode++) {
            run(more, shards, mode < 2 ? shards : NODES, mode % 2);
            assert_int_equal(more->n, one->n);
            for (size_t i = 0; i < one->n; i++)
                assert_memory_equal(&one->log[i], &more->log[i], sizeof one->log[i]);
            assert_int_equal(one->engine.events, more->engine.events);
        }
    free(one);
    free(more);
}

static void test_counts(void **state)
{
    struct world *w = malloc(sizeof *w);
    (void)state;
    begin(w);
    struct shards_cut cut = cut_of(1, 1);
    struct shards_hooks hooks = {.enter = hook_enter,
                                 .send = hook_send,
                                 .receive = hook_receive,
                                 .order = hook_order,
                                 .ctx = w};
    handlers[0] = (struct handler){w, 0};
    struct shards *p = w->shards = shards_new(&w->engine, &cut, NODES, &hooks);
    p->engines[0]->handlers[EVENT_ARRIVAL] = on_arrival;
    p->engines[0]->handler_ctx = &handlers[0];
    w->engine.horizon_ps = 5 * LOOKAHEAD; // an event at the horizon is processed, later ones stay
    while (shards_step(p, SIZE_MAX))
        continue;
    assert_true(w->engine.now_ps <= 5 * LOOKAHEAD);
    assert_true(shards_pending(p) > 0);
    assert_int_equal(p->counts.events + w->commons, w->engine.events);
    assert_true(p->counts.alone < p->counts.windows);
    shards_free(p);
    engine_free(&w->engine);
    mailbox_free(&w->arrivals[0]);
    free(w);
}

static void test_mailbox(void **state)
{
    struct mailbox box = {0};
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 1; i < 100; i++)
            memset(mailbox_put(&box, i), (int)i, i);
        size_t at = 0;
        const unsigned char *letter;
        for (unsigned i = 1; i < 100; i++) {
            letter = mailbox_next(&box, &at);
            assert_non_null(letter);
            assert_int_equal((uintptr_t)letter % 8, 0);
            for (unsigned k = 0; k < i; k++)
                assert_int_equal(letter[k], i);
        }
        assert_null(mailbox_next(&box, &at));
        mailbox_clear(&box);
    }
    assert_int_equal(box.letters, 3 * 99);
    mailbox_free(&box);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_log),
                                       cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_mailbox)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

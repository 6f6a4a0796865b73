// SPDX-License-Identifier: MIT
// Tests of rings over the shared pool against arrays: order, size of rings, reuse of blocks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/packet_ring.h"
#include "tests/support/packet_fifos.h"

static void assert_head(const struct ring_pool *pool, const struct ring *f, uint32_t n)
{
    assert_packet(ring_head(pool, f), n);
}

static void push(struct ring_pool *pool, struct ring *f, uint32_t n)
{
    *ring_push(pool, f) = packet_numbered(n);
}

static void test_one_packet(void **state)
{
    (void)state;
    struct ring_pool pool;
    struct ring f = ring_empty();
    ring_pool_init(&pool);
    assert_int_equal(pool.used_slots, 0);
    for (int i = 0; i < 100; i++) {
        push(&pool, &f, 5);
        assert_int_equal(f.count, 1);
        assert_int_equal(f.cap, RING_UNIT);
        assert_head(&pool, &f, 5);
        const struct packet *place = ring_head(&pool, &f);
        ring_drop_head(&pool, &f);
        assert_int_equal(f.count, 0);
        assert_ptr_equal(place, pool.packets); // an empty ring starts at its first slot
    }
    ring_pool_free(&pool);
}

static uint32_t power_above(uint32_t n)
{
    uint32_t cap = RING_UNIT;
    while (cap < n)
        cap *= 2;
    return cap;
}

// n in, n out, for every n, from every offset of the ring. The ring is as large as needed, and a
// large block is freed when the ring is empty.
static void test_every_size(void **state)
{
    (void)state;
    struct ring_pool pool;
    ring_pool_init(&pool);
    for (uint32_t n = 1; n <= 4 * RING_KEEP_SLOTS + 1; n++) {
        struct ring f = ring_empty();
        push(&pool, &f, 0);
        for (uint32_t turn = 0; turn < n % 8; turn++) { // advance the head without emptying the
                                                        // ring
            push(&pool, &f, 0);
            ring_drop_head(&pool, &f);
        }
        for (uint32_t i = 1; i < n; i++)
            push(&pool, &f, i);
        assert_int_equal(f.count, n);
        assert_int_equal(f.cap, power_above(n));
        assert_int_equal(pool.used_slots, f.cap);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(ring_at(&pool, &f, i)->entropy, i);
        for (uint32_t i = 0; i < n; i++) {
            assert_head(&pool, &f, i);
            ring_drop_head(&pool, &f);
        }
        assert_true(f.cap <= RING_KEEP_SLOTS);
        assert_int_equal(pool.used_slots, f.cap);
        ring_free_block(&pool, &f);
        assert_int_equal(pool.used_slots, 0);
    }
    assert_true(pool.n_units * RING_UNIT <= 16 * RING_KEEP_SLOTS); // one block of each size
    ring_pool_free(&pool);
}

// Endless pushes and drops of a short ring stay in one block.
static void test_sliding_window(void **state)
{
    (void)state;
    struct ring_pool pool;
    struct ring f = ring_empty();
    ring_pool_init(&pool);
    for (uint32_t i = 0; i < 100000; i++) {
        push(&pool, &f, i);
        if (f.count > 20) {
            assert_head(&pool, &f, i - 20);
            ring_drop_head(&pool, &f);
        }
        assert_true(f.head < f.cap && f.cap <= 32 && pool.used_slots <= 32);
    }
    while (f.count > 0)
        ring_drop_head(&pool, &f);
    ring_pool_free(&pool);
}

struct world {
    struct ring_pool pool;
    struct ring f[PACKET_FIFOS];
};

static struct packet *world_push(void *ctx, size_t i)
{
    struct world *w = ctx;
    return ring_push(&w->pool, &w->f[i]);
}
static const struct packet *world_head(void *ctx, size_t i)
{
    const struct world *w = ctx;
    return ring_head(&w->pool, &w->f[i]);
}
static void world_drop(void *ctx, size_t i)
{
    struct world *w = ctx;
    ring_drop_head(&w->pool, &w->f[i]);
}
static uint32_t world_count(void *ctx, size_t i)
{
    const struct world *w = ctx;
    return w->f[i].count;
}
static uint64_t world_held(void *ctx)
{
    const struct world *w = ctx;
    return w->pool.used_slots;
}

static void test_random_against_arrays(void **state)
{
    (void)state;
    struct world w;
    const struct packet_fifos fifos = {world_push,  world_head, world_drop,
                                       world_count, world_held, &w};
    ring_pool_init(&w.pool);
    for (size_t i = 0; i < PACKET_FIFOS; i++)
        w.f[i] = ring_empty();
    assert_true(packet_fifos_walk(&fifos) > 1000); // several FIFOs were large at the same time
    assert_true(w.pool.used_slots <= PACKET_FIFOS * RING_KEEP_SLOTS);
    ring_pool_free(&w.pool);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_packet),
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_sliding_window),
        cmocka_unit_test(test_random_against_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

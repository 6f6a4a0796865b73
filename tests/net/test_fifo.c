// SPDX-License-Identifier: MIT
// Tests of FIFOs over the shared pool against arrays: order, reuse of chunks, no leaks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/fifo.h"
#include "tests/support/packet_fifos.h"

static void assert_head(const struct fifo_pool *pool, const struct fifo *f, uint32_t n)
{
    assert_packet(fifo_head(pool, f), n);
}

static void test_one_packet(void **state)
{
    (void)state;
    struct fifo_pool pool;
    struct fifo f = fifo_empty();
    struct packet p = packet_numbered(5);
    fifo_pool_init(&pool);
    assert_int_equal(fifo_pool_used(&pool), 0);
    for (int i = 0; i < 100; i++) {
        *fifo_push(&pool, &f) = p;
        assert_int_equal(f.count, 1);
        assert_int_equal(fifo_pool_used(&pool), 1);
        assert_head(&pool, &f, 5);
        fifo_drop_head(&pool, &f);
        assert_int_equal(f.count, 0);
        assert_int_equal(fifo_pool_used(&pool), 0);
    }
    fifo_pool_free(&pool);
}

// At the ends of chunks: n in, n out, for every n. No more chunks are held than needed.
static void test_chunk_boundaries(void **state)
{
    (void)state;
    struct fifo_pool pool;
    fifo_pool_init(&pool);
    for (uint32_t n = 1; n <= 4 * FIFO_CHUNK + 1; n++) {
        struct fifo f = fifo_empty();
        for (uint32_t i = 0; i < n; i++) {
            struct packet p = packet_numbered(i);
            *fifo_push(&pool, &f) = p;
        }
        assert_int_equal(fifo_pool_used(&pool), (n + FIFO_CHUNK - 1) / FIFO_CHUNK);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(f.count, n - i);
            assert_head(&pool, &f, i);
            fifo_drop_head(&pool, &f);
        }
        assert_int_equal(fifo_pool_used(&pool), 0);
    }
    fifo_pool_free(&pool);
}

// Endless pushes and drops of a short FIFO use a bounded number of chunks.
static void test_sliding_window_reuses_chunks(void **state)
{
    (void)state;
    struct fifo_pool pool;
    struct fifo f = fifo_empty();
    fifo_pool_init(&pool);
    for (uint32_t i = 0; i < 100000; i++) {
        struct packet p = packet_numbered(i);
        *fifo_push(&pool, &f) = p;
        if (f.count > 20) {
            assert_head(&pool, &f, i - 20);
            fifo_drop_head(&pool, &f);
        }
        assert_true(fifo_pool_used(&pool) <= 20 / FIFO_CHUNK + 2);
    }
    assert_true(pool.n_chunks <= 256); // the pool grew once
    while (f.count > 0)
        fifo_drop_head(&pool, &f);
    assert_int_equal(fifo_pool_used(&pool), 0);
    fifo_pool_free(&pool);
}

struct world {
    struct fifo_pool pool;
    struct fifo f[PACKET_FIFOS];
};

static struct packet *world_push(void *ctx, size_t i)
{
    struct world *w = ctx;
    return fifo_push(&w->pool, &w->f[i]);
}
static const struct packet *world_head(void *ctx, size_t i)
{
    const struct world *w = ctx;
    return fifo_head(&w->pool, &w->f[i]);
}
static void world_drop(void *ctx, size_t i)
{
    struct world *w = ctx;
    fifo_drop_head(&w->pool, &w->f[i]);
}
static uint32_t world_count(void *ctx, size_t i)
{
    const struct world *w = ctx;
    return w->f[i].count;
}
static uint64_t world_held(void *ctx)
{
    const struct world *w = ctx;
    return fifo_pool_used(&w->pool);
}

static void test_random_against_arrays(void **state)
{
    (void)state;
    struct world w;
    const struct packet_fifos fifos = {world_push,  world_head, world_drop,
                                       world_count, world_held, &w};
    fifo_pool_init(&w.pool);
    for (size_t i = 0; i < PACKET_FIFOS; i++)
        w.f[i] = fifo_empty();
    // The pool has grown while FIFOs held packets.
    assert_true(packet_fifos_walk(&fifos) > 128);
    assert_int_equal(fifo_pool_used(&w.pool), 0);
    fifo_pool_free(&w.pool);
    assert_int_equal(fifo_pool_used(&w.pool), 0);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_packet),
        cmocka_unit_test(test_chunk_boundaries),
        cmocka_unit_test(test_sliding_window_reuses_chunks),
        cmocka_unit_test(test_random_against_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

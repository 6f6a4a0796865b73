// SPDX-License-Identifier: MIT
// FIFOs over the shared pool against arrays: order, reuse of chunks, nothing left behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/rng.h"
#include "net/fifo.h"

#define FIFOS 7
#define HELD_MAX 600

// A packet whose every field tells its number.
static struct packet numbered(uint32_t n)
{
    return (struct packet){.psn = n, .flow = ~n, .arrives_ps = (ps_t)n << 20, .flags = (uint8_t)n};
}

static void assert_head(const struct fifo_pool *pool, const struct fifo *f, uint32_t n)
{
    struct packet want = numbered(n);
    assert_memory_equal(fifo_head(pool, f), &want, sizeof want);
}

static void test_one_packet(void **state)
{
    (void)state;
    struct fifo_pool pool;
    struct fifo f = fifo_empty();
    struct packet p = numbered(5);
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

// Around the ends of chunks: n in, n out, for every n; the chunks held are no more than needed.
static void test_chunk_boundaries(void **state)
{
    (void)state;
    struct fifo_pool pool;
    fifo_pool_init(&pool);
    for (uint32_t n = 1; n <= 4 * FIFO_CHUNK + 1; n++) {
        struct fifo f = fifo_empty();
        for (uint32_t i = 0; i < n; i++) {
            struct packet p = numbered(i);
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

// A window that slides for ever holds a bounded number of chunks.
static void test_sliding_window_reuses_chunks(void **state)
{
    (void)state;
    struct fifo_pool pool;
    struct fifo f = fifo_empty();
    fifo_pool_init(&pool);
    for (uint32_t i = 0; i < 100000; i++) {
        struct packet p = numbered(i);
        *fifo_push(&pool, &f) = p;
        if (f.count > 20) {
            assert_head(&pool, &f, i - 20);
            fifo_drop_head(&pool, &f);
        }
        assert_true(fifo_pool_used(&pool) <= 20 / FIFO_CHUNK + 2);
    }
    assert_true(pool.n_chunks <= 256); // one growth
    while (f.count > 0)
        fifo_drop_head(&pool, &f);
    assert_int_equal(fifo_pool_used(&pool), 0);
    fifo_pool_free(&pool);
}

struct model {
    uint32_t held[HELD_MAX]; // ring
    size_t first, n;
};

static void test_random_against_arrays(void **state)
{
    (void)state;
    static struct model model[FIFOS];
    struct fifo f[FIFOS];
    struct fifo_pool pool;
    struct rng rng = rng_init(4, RNG_WORKLOAD, 0);
    uint32_t next = 0;
    size_t most = 0;
    fifo_pool_init(&pool);
    for (size_t i = 0; i < FIFOS; i++)
        f[i] = fifo_empty();
    for (uint32_t round = 0; round < 300000; round++) {
        size_t i = rng_below(&rng, FIFOS);
        struct model *m = &model[i];
        bool fill = (round / 9000) % 2 == 0;
        if (rng_below(&rng, 10) < (fill ? 7 : 3) && m->n < HELD_MAX) {
            struct packet p = numbered(next);
            m->held[(m->first + m->n++) % HELD_MAX] = next++;
            *fifo_push(&pool, &f[i]) = p;
        } else if (m->n > 0) {
            assert_head(&pool, &f[i], m->held[m->first]);
            fifo_drop_head(&pool, &f[i]);
            m->first = (m->first + 1) % HELD_MAX;
            m->n--;
        }
        assert_int_equal(f[i].count, m->n);
        if (m->n > 0)
            assert_head(&pool, &f[i], m->held[m->first]);
        most = fifo_pool_used(&pool) > most ? fifo_pool_used(&pool) : most;
    }
    assert_true(most > 128); // the pool has grown while FIFOs held packets
    assert_true(next > 100000);
    for (size_t i = 0; i < FIFOS; i++)
        for (; model[i].n > 0; model[i].n--) {
            assert_head(&pool, &f[i], model[i].held[model[i].first]);
            model[i].first = (model[i].first + 1) % HELD_MAX;
            fifo_drop_head(&pool, &f[i]);
        }
    assert_int_equal(fifo_pool_used(&pool), 0);
    fifo_pool_free(&pool);
    assert_int_equal(fifo_pool_used(&pool), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_packet),
        cmocka_unit_test(test_chunk_boundaries),
        cmocka_unit_test(test_sliding_window_reuses_chunks),
        cmocka_unit_test(test_random_against_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Rings over the shared pool against arrays: order, size of rings, reuse of blocks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/rng.h"
#include "net/ring.h"

#define RINGS 7
#define HELD_MAX 600

// A packet whose every field tells its number.
static struct packet numbered(uint32_t n)
{
    return (struct packet){.psn = n, .flow = ~n, .arrives_ps = (ps_t)n << 20, .flags = (uint8_t)n};
}

static void assert_head(const struct ring_pool *pool, const struct ring *f, uint32_t n)
{
    struct packet want = numbered(n);
    assert_memory_equal(ring_head(pool, f), &want, sizeof want);
}

static void push(struct ring_pool *pool, struct ring *f, uint32_t n)
{
    *ring_push(pool, f) = numbered(n);
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
        assert_ptr_equal(place, pool.packets); // an empty one begins anew
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

// n in, n out, for every n, from every offset of the ring: it is as large as needed, and what is large
// goes back when it is empty.
static void test_every_size(void **state)
{
    (void)state;
    struct ring_pool pool;
    ring_pool_init(&pool);
    for (uint32_t n = 1; n <= 4 * RING_KEEP_SLOTS + 1; n++) {
        struct ring f = ring_empty();
        push(&pool, &f, 0);
        for (uint32_t turn = 0; turn < n % 8; turn++) { // go round a little, never empty
            push(&pool, &f, 0);
            ring_drop_head(&pool, &f);
        }
        for (uint32_t i = 1; i < n; i++)
            push(&pool, &f, i);
        assert_int_equal(f.count, n);
        assert_int_equal(f.cap, power_above(n));
        assert_int_equal(pool.used_slots, f.cap);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(ring_at(&pool, &f, i)->psn, i);
        for (uint32_t i = 0; i < n; i++) {
            assert_head(&pool, &f, i);
            ring_drop_head(&pool, &f);
        }
        assert_true(f.cap <= RING_KEEP_SLOTS);
        assert_int_equal(pool.used_slots, f.cap);
        ring_give_block(&pool, &f);
        assert_int_equal(pool.used_slots, 0);
    }
    assert_true(pool.n_units * RING_UNIT <= 16 * RING_KEEP_SLOTS); // one block of each size
    ring_pool_free(&pool);
}

// A window that slides for ever stays in its ring.
static void test_sliding_window(void **state)
{
    (void)state;
    struct ring_pool pool;
    struct ring f = ring_empty();
    ring_pool_init(&pool);
    f.head = UINT32_MAX - 1000; // the number of the first slot wraps
    for (uint32_t i = 0; i < 100000; i++) {
        push(&pool, &f, i);
        if (f.count > 20) {
            assert_head(&pool, &f, i - 20);
            ring_drop_head(&pool, &f);
        }
        assert_true(f.cap <= 32 && pool.used_slots <= 32);
    }
    while (f.count > 0)
        ring_drop_head(&pool, &f);
    ring_pool_free(&pool);
}

struct model {
    uint32_t held[HELD_MAX]; // ring
    size_t first, n;
};

static void test_random_against_arrays(void **state)
{
    (void)state;
    static struct model model[RINGS];
    struct ring f[RINGS];
    struct ring_pool pool;
    struct rng rng = rng_init(4, RNG_WORKLOAD, 0);
    uint32_t next = 0;
    uint64_t most = 0;
    ring_pool_init(&pool);
    for (size_t i = 0; i < RINGS; i++)
        f[i] = ring_empty();
    for (uint32_t round = 0; round < 300000; round++) {
        size_t i = rng_below(&rng, RINGS);
        struct model *m = &model[i];
        bool fill = (round / 9000) % 2 == 0;
        if (rng_below(&rng, 10) < (fill ? 7 : 3) && m->n < HELD_MAX) {
            push(&pool, &f[i], next);
            m->held[(m->first + m->n++) % HELD_MAX] = next++;
        } else if (m->n > 0) {
            assert_head(&pool, &f[i], m->held[m->first]);
            ring_drop_head(&pool, &f[i]);
            m->first = (m->first + 1) % HELD_MAX;
            m->n--;
        }
        assert_int_equal(f[i].count, m->n);
        if (m->n > 0)
            assert_head(&pool, &f[i], m->held[m->first]);
        most = pool.used_slots > most ? pool.used_slots : most;
    }
    assert_true(most > 1000); // several were large at a time
    assert_true(next > 100000);
    for (size_t i = 0; i < RINGS; i++)
        for (; model[i].n > 0; model[i].n--) {
            assert_head(&pool, &f[i], model[i].held[model[i].first]);
            model[i].first = (model[i].first + 1) % HELD_MAX;
            ring_drop_head(&pool, &f[i]);
        }
    assert_true(pool.used_slots <= RINGS * RING_KEEP_SLOTS);
    ring_pool_free(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_packet),
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_sliding_window),
        cmocka_unit_test(test_random_against_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

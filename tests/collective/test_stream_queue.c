// SPDX-License-Identifier: MIT
// Queues and inboxes of streams: their order against a reference, and a cost that grows with the
// number of streams and not with its square.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "collective/stream_internal.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"

// The highest priority first, and in the order of entry among equal ones, whatever is added in
// between.
static void test_order(void **state)
{
    (void)state;
    enum { N = 500 };
    for (uint32_t seed = 1; seed <= 50; seed++) {
        struct rng rng = rng_init(seed, RNG_JITTER, 0);
        struct stream *streams = calloc(N, sizeof *streams);
        bool waits[N] = {false};
        struct stream_queue q = {0};
        for (uint32_t added = 0, taken = 0; taken < N;) {
            if (added < N && rng_below(&rng, 3) > 0) {
                streams[added].priority = (int64_t)rng_below(&rng, 4) - 2;
                waits[added] = true;
                stream_queue_add(&q, &streams[added++]);
                continue;
            }
            struct stream *s = stream_queue_take(&q), *want = NULL;
            for (uint32_t i = 0; i < added; i++)
                if (waits[i] && (!want || streams[i].priority > want->priority))
                    want = &streams[i];
            assert_ptr_equal(s, want);
            if (!s)
                continue;
            waits[s - streams] = false;
            taken++;
        }
        assert_null(stream_queue_take(&q));
        free(q.waiting);
        free(streams);
    }
}

static double queue_s(uint32_t n)
{
    static struct stream s; // one for all, since only the queue is measured
    struct stream_queue q = {0};
    clock_t from = clock();
    for (uint32_t i = 0; i < n; i++)
        stream_queue_add(&q, &s);
    while (stream_queue_take(&q)) {
    }
    double time = (double)(clock() - from) / CLOCKS_PER_SEC;
    free(q.waiting);
    return time;
}

static double inbox_s(uint32_t n)
{
    struct communicator c = {.n_ranks = 1};
    clock_t from = clock();
    for (uint32_t i = 0; i < n; i++)
        inbox_of(&c, 0, i);
    for (uint32_t i = 0; i < n; i++)
        inbox_end(&c, 0, i);
    double s = (double)(clock() - from) / CLOCKS_PER_SEC;
    assert_int_equal(c.inboxes[0].n, 0);
    inboxes_free(&c);
    return s;
}

// Eight times as many streams take eight times as long, or little more; a linear search takes 64
// times.
static void check_growth(double (*cost)(uint32_t n))
{
    const uint32_t n = 10000;
    double few = 1e300, many = 1e300;
    for (int i = 0; i < 5; i++) {
        double a = cost(n), b = cost(8 * n);
        few = a < few ? a : few;
        many = b < many ? b : many;
    }
    print_message("%g s, %g s\n", few, many);
    assert_true(many <= 24 * (few + 1e-4));
}

static void test_growth(void **state)
{
    (void)state;
    check_growth(queue_s);
    check_growth(inbox_s);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_growth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

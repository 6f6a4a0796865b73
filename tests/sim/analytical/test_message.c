// SPDX-License-Identifier: MIT
// Tests of message times against the rule T = trunc(hops * latency + bytes / bandwidth), and of
// deliveries.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/critical_path.h"
#include "tests/sim/analytical/networks.h"

static void test_hops(void **state)
{
    (void)state;
    struct analytical a = {0};
    network_add(&a, SHAPE_RING, 8, 500, GB);
    network_add(&a, SHAPE_SWITCH, 4, 500, GB);
    network_add(&a, SHAPE_FULLY_CONNECTED, 2, 500, GB);
    const struct {
        uint32_t src, dst, hops;
    } cases[] = {
        {0, 1, 1},  {0, 4, 4},          {0, 5, 3}, {7, 0, 1}, {3, 7, 4}, // ring
        {0, 8, 2},  {9, 25, 2},                                          // switch
        {0, 32, 1},                                                      // one link
        {0, 9, 3},  {0, 32 + 8 + 5, 6}, {6, 6, 0},                       // several dimensions, none
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(analytical_hops(&a, cases[i].src, cases[i].dst), cases[i].hops);
}

static void test_times(void **state)
{
    (void)state;
    struct analytical a = {0};
    network_add(&a, SHAPE_RING, 8, 500, 100 * GB); // two links of 50 GB/s
    network_add(&a, SHAPE_SWITCH, 8, 500, 50 * GB);
    // 4 MiB: 4194304 / 107.3741824 = 39062.5 ns, plus 500; the half nanosecond is truncated
    assert_int_equal(analytical_message_ps(&a, 0, 1, 4 << 20), 39562 * PS_PER_NS);
    assert_int_equal(analytical_message_ps(&a, 0, 4, 4 << 20), 41062 * PS_PER_NS);
    // 2 MiB over a switch: 39062.5 ns and two links
    assert_int_equal(analytical_message_ps(&a, 0, 8, 2 << 20), 40062 * PS_PER_NS);
    // headers only; no path; along both dimensions at the lower bandwidth
    assert_int_equal(analytical_message_ps(&a, 0, 8, 0), 1000 * PS_PER_NS);
    assert_int_equal(analytical_message_ps(&a, 3, 3, 1 << 20), 0);
    assert_int_equal(analytical_message_ps(&a, 0, 9, 2 << 20), 40562 * PS_PER_NS);
    // never beyond the range of time
    a.dims[0].bytes_per_ns = 1e-9;
    assert_true(analytical_message_ps(&a, 0, 1, UINT64_MAX) < PS_NEVER / 2);
}

// What a rank sends in a dimension: over a fully connected one by its links to all others at once.
static void test_bandwidth(void **state)
{
    (void)state;
    struct analytical a = {0};
    network_add(&a, SHAPE_FULLY_CONNECTED, 8, 500, 25);
    network_add(&a, SHAPE_SWITCH, 4, 500, 175);
    network_add(&a, SHAPE_RING, 4, 500, 50);
    assert_true(analytical_bandwidth(&a, 0, 5) == 7 * 25);
    assert_true(analytical_bandwidth(&a, 0, 8) == 175);
    assert_true(analytical_bandwidth(&a, 0, 32) == 50);
    assert_true(analytical_bandwidth(&a, 3, 3) == 0);
}

struct seen {
    struct analytical *a;
    uint64_t tokens[16];
    ps_t at[16];
    unsigned n, n_sent, n_ended, again;
};

static void on_delivered(void *ctx, uint64_t token, uint64_t bytes, ps_t now)
{
    (void)bytes;
    struct seen *seen = ctx;
    seen->tokens[seen->n] = token;
    seen->at[seen->n++] = now;
    if (seen->again > 0) { // posts from the callback
        seen->again--;
        struct transfer_request next = {.src = 1, .dst = 0, .token = token + 100};
        analytical_post(seen->a, &next, now);
    }
}

static void on_sent(void *ctx, uint64_t token, ps_t now)
{
    struct seen *seen = ctx;
    assert_int_equal(seen->n_sent, seen->n_ended - 1);
    assert_true(now > 0 && token > 0);
    seen->n_sent++;
}

static void on_ended(void *ctx, const struct analytical_message *m)
{
    struct seen *seen = ctx;
    assert_int_equal(m->posted_ps + m->takes_ps, seen->a->engine->now_ps);
    seen->n_ended++;
}

// Two large messages to one rank do not affect each other, and a small one overtakes them.
static void test_deliveries(void **state)
{
    (void)state;
    struct engine engine;
    struct seen seen = {.again = 1};
    struct path_book book;
    path_book_init(&book, 4);
    struct analytical a = {
        .engine = &engine, .path_book = &book, .ended = on_ended, .ended_ctx = &seen};
    a.client = (struct transfer_client){.delivered = on_delivered, .sent = on_sent, .ctx = &seen};
    seen.a = &a;
    engine_init(&engine, 1);
    engine.horizon_ps = PS_NEVER;
    network_add(&a, SHAPE_SWITCH, 4, 500, 1);
    const struct transfer transfer = analytical_transfer(&a);
    struct transfer_request posts[] = {{.src = 0, .dst = 3, .bytes = 1000, .token = 1},
                                       {.src = 1, .dst = 3, .bytes = 1000, .token = 2},
                                       {.src = 0, .dst = 3, .bytes = 10, .token = 3}};
    for (size_t i = 0; i < 3; i++)
        transfer.post(transfer.net, &posts[i], 0);
    assert_int_equal(a.n_running, 3);
    engine_drain(&engine, 100);
    const uint64_t tokens[] = {3, 1, 2, 103};
    const ps_t at_ns[] = {1010, 2000, 2000, 2010};
    assert_int_equal(seen.n, 4);
    assert_int_equal(seen.n_sent, 4);
    for (size_t i = 0; i < 4; i++) {
        unsigned found = 0;
        for (size_t k = 0; k < 4; k++)
            found += seen.tokens[k] == tokens[i] && seen.at[k] == at_ns[i] * PS_PER_NS;
        assert_int_equal(found, 1);
    }
    assert_int_equal(a.n_running, 0);
    assert_int_equal(a.n_messages, 4);
    assert_int_equal(a.delivered_bytes, 2010);
    assert_int_equal(a.n_blocks, 1);
    analytical_free(&a);
    path_book_free(&book);
    engine_free(&engine);
}

// Slots are reused: there are as many blocks as needed for the messages in flight at once.
static void test_pool(void **state)
{
    (void)state;
    struct engine engine;
    struct seen seen = {0};
    struct path_book book;
    path_book_init(&book, 4);
    struct analytical a = {.engine = &engine, .path_book = &book};
    a.client = (struct transfer_client){.delivered = on_delivered, .sent = on_sent, .ctx = &seen};
    seen.a = &a;
    engine_init(&engine, 1);
    engine.horizon_ps = PS_NEVER;
    network_add(&a, SHAPE_SWITCH, 4, 500, 1);
    for (unsigned round = 0; round < 10; round++) {
        for (uint64_t i = 0; i < ANALYTICAL_BLOCK + 1; i++) {
            struct transfer_request request = {.src = 0, .dst = 1, .bytes = i, .token = 1};
            analytical_post(&a, &request, engine.now_ps);
        }
        while (a.n_running > 0) {
            seen = (struct seen){.a = &a, .n_ended = 1};
            assert_int_equal(engine_drain(&engine, 1), 1);
        }
    }
    assert_int_equal(a.n_blocks, 2);
    analytical_free(&a);
    path_book_free(&book);
    engine_free(&engine);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hops), cmocka_unit_test(test_times), cmocka_unit_test(test_bandwidth),
        cmocka_unit_test(test_deliveries), cmocka_unit_test(test_pool)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

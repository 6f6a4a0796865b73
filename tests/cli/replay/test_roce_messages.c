// SPDX-License-Identifier: MIT
// Messages of a queue pair, from random orders of their packets with losses and copies.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/replay/roce_messages.h"
#include "engine/base/rng.h"

#define MESSAGES 40
#define PACKETS_MAX 12
#define MTU 1000

struct sent {
    struct bth bth;
    int64_t ns;
};

struct stream {
    struct sent packets[MESSAGES * PACKETS_MAX];
    size_t n;
    uint64_t bytes[MESSAGES];
    int64_t start_ns[MESSAGES], end_ns[MESSAGES];
};

// Messages one after the other, a packet each ns; half of them state their size.
static void stream_make(struct stream *s, uint64_t seed)
{
    uint32_t psn = 0xfffff0; // wraps soon
    s->n = 0;
    for (unsigned m = 0; m < MESSAGES; m++) {
        uint64_t draw = hash_mix(seed * MESSAGES + m);
        uint32_t packets = 1 + (uint32_t)(draw % PACKETS_MAX),
                 rest = 1 + (uint32_t)(draw >> 32) % MTU;
        s->bytes[m] = (uint64_t)(packets - 1) * MTU + rest;
        s->start_ns[m] = (int64_t)s->n;
        for (uint32_t i = 0; i < packets; i++) {
            struct bth bth = {.operation = m % 2 ? BTH_WRITE : BTH_SEND,
                              .first = i == 0,
                              .last = i == packets - 1,
                              .psn = psn++ & 0xffffff,
                              .payload = i == packets - 1 ? rest : MTU};
            bth.sized = m % 2 && i == 0;
            bth.message_bytes = bth.sized ? (uint32_t)s->bytes[m] : 0;
            s->packets[s->n] = (struct sent){bth, (int64_t)s->n};
            s->end_ns[m] = (int64_t)s->n++;
        }
    }
}

static int by_start(const void *a, const void *b)
{
    const struct flow_row *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void expect_all(const struct stream *s, struct flow_rows *rows)
{
    assert_int_equal(rows->n_rows, MESSAGES);
    qsort(rows->rows, rows->n_rows, sizeof *rows->rows, by_start);
    for (unsigned m = 0; m < MESSAGES; m++) {
        assert_int_equal(rows->rows[m].bytes, s->bytes[m]);
        assert_int_equal(rows->rows[m].start_ns, s->start_ns[m]);
        assert_int_equal(rows->rows[m].span_ns, s->end_ns[m] - s->start_ns[m]);
        assert_int_equal(rows->rows[m].src, 3);
        assert_int_equal(rows->rows[m].dst, 4);
    }
    for (unsigned i = 0; i < LEFT_REASONS; i++)
        assert_int_equal(rows->left[i], 0);
    assert_int_equal(rows->unended, 0);
}

static void sent_again(struct stream *s, size_t packet, int64_t ns)
{
    unsigned m = MESSAGES - 1;
    while (s->start_ns[m] > (int64_t)packet)
        m--;
    s->end_ns[m] = ns > s->end_ns[m] ? ns : s->end_ns[m];
}

// A message whose last packet is missing has a size, if it is stated, and no end.
static void test_no_end(void **state)
{
    (void)state;
    struct flow_rows rows = {0};
    struct roce_messages m = {.src = 3, .dst = 4};
    struct bth first = {
        .operation = BTH_WRITE, .first = true, .psn = 7, .payload = MTU, .sized = true};
    struct bth only = {.operation = BTH_SEND, .first = true, .last = true, .psn = 2, .payload = 9};
    first.message_bytes = 3 * MTU;
    assert_true(roce_messages_add(&m, &only, 5, &rows));
    assert_true(roce_messages_add(&m, &first, 10, &rows));
    roce_messages_finish(&m, &rows);
    assert_int_equal(rows.n_rows, 2);
    assert_int_equal(rows.rows[0].span_ns, 0);
    assert_int_equal(rows.rows[1].span_ns, -1);
    assert_int_equal(rows.unended, 1);
    flow_rows_free(&rows);
}

static void test_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct stream s;
        struct flow_rows rows = {0};
        struct roce_messages m = {.src = 3, .dst = 4};
        stream_make(&s, seed);
        for (size_t i = 0; i < s.n; i++) {
            assert_true(roce_messages_add(&m, &s.packets[i].bth, s.packets[i].ns, &rows));
            assert_true(m.n_marks <= 1);
            // go-back-N from a few packets before: messages last until then
            for (size_t k = i < 9 ? 0 : i - 9; i % 17 == 0 && k <= i; k++) {
                assert_false(roce_messages_add(&m, &s.packets[k].bth, (int64_t)i, &rows));
                sent_again(&s, k, (int64_t)i);
            }
        }
        roce_messages_finish(&m, &rows);
        expect_all(&s, &rows);
        flow_rows_free(&rows);
    }
}

// Packets that overtake others by up to 20 places keep their times, so the starts are exact.
static void test_disorder(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct stream s;
        struct flow_rows rows = {0};
        struct roce_messages m = {.src = 3, .dst = 4};
        stream_make(&s, seed);
        for (size_t i = 0; i < s.n; i++) {
            size_t k = i + hash_mix(seed << 32 | i) % 20;
            struct sent swap = s.packets[i];
            k = k < s.n ? k : s.n - 1;
            s.packets[i] = s.packets[k];
            s.packets[k] = swap;
        }
        for (size_t i = 0; i < s.n; i++)
            assert_true(roce_messages_add(&m, &s.packets[i].bth, s.packets[i].ns, &rows));
        roce_messages_finish(&m, &rows);
        expect_all(&s, &rows);
        flow_rows_free(&rows);
    }
}

// Packets in the middle that the capture has missed change nothing.
static void test_missed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct stream s;
        struct flow_rows rows = {0};
        struct roce_messages m = {.src = 3, .dst = 4};
        stream_make(&s, seed);
        for (size_t i = 0; i < s.n; i++)
            if (s.packets[i].bth.first || s.packets[i].bth.last || hash_mix(seed + i) % 3 > 0)
                assert_true(roce_messages_add(&m, &s.packets[i].bth, s.packets[i].ns, &rows));
        roce_messages_finish(&m, &rows);
        expect_all(&s, &rows);
        flow_rows_free(&rows);
    }
}

// However packets are lost, marks and rows stay within their bounds.
static void test_bounds(void **state)
{
    struct flow_rows rows = {0};
    struct roce_messages m = {0};
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t draw = hash_mix(i);
        struct bth bth = {.operation = (enum bth_operation)(draw % 4),
                          .first = draw >> 8 & 1,
                          .last = draw >> 9 & 1,
                          .sized = draw >> 10 & 1,
                          .message_bytes = (uint32_t)(draw >> 32),
                          .psn = (uint32_t)(draw >> 12) & (i % 1000 == 0 ? 0xffffff : 0xffff),
                          .payload = 1 + (uint32_t)(draw % 4096)};
        roce_messages_add(&m, &bth, (int64_t)i, &rows);
        assert_true(m.n_marks <= MARKS_MAX);
        for (uint32_t k = 1; k < m.seen.n; k++)
            assert_true(m.seen.ranges[k].begin > m.seen.ranges[k - 1].end);
    }
    roce_messages_finish(&m, &rows);
    assert_true(rows.n_rows > 0 && rows.left[LEFT_BEGIN] > 0 && rows.left[LEFT_END] > 0);
    flow_rows_free(&rows);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_end),   cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_disorder), cmocka_unit_test(test_missed),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

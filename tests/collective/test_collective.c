// SPDX-License-Identifier: MIT
// Executes every algorithm and operation on real vectors, messages arriving in random order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collective/collective.h"

#define RANKS_MAX 17
#define BYTES_MAX 700
#define CELLS (BYTES_MAX + RANKS_MAX * RANKS_MAX) // an all-to-all may receive a little more
#define STEPS_MAX 40
#define MESSAGES_MAX 1024

// One cell per byte of the vector, 64 bits wide so that every contribution shows.
typedef uint64_t cell_t;

struct message {
    struct coll_send send;
    cell_t cells[BYTES_MAX];
};

struct machine {
    const struct coll_algorithm *algorithm;
    struct coll_shape shape;
    cell_t vector[RANKS_MAX][CELLS];  // read by sends
    cell_t receive[RANKS_MAX][CELLS]; // written by an all-to-all only
    uint32_t step[RANKS_MAX], arrived[RANKS_MAX];
    struct message *flying[MESSAGES_MAX];
    size_t n_flying;
    uint64_t random;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

// What rank r holds at byte i before the operation.
static cell_t source(uint32_t rank, uint64_t i) { return mix(UINT64_C(1000003) * (rank + 1) + i); }

static uint64_t segment_bytes(const struct coll_shape *shape, uint32_t i)
{
    return coll_segment(shape, i + 1) - coll_segment(shape, i);
}

static void issue_sends(struct machine *m, uint32_t rank)
{
    uint32_t n = m->algorithm->n_sends(&m->shape, rank, m->step[rank]);
    for (uint32_t k = 0; k < n; k++) {
        struct message *message = malloc(sizeof *message);
        assert_non_null(message);
        message->send = m->algorithm->send(&m->shape, rank, m->step[rank], k);
        const struct coll_send *send = &message->send;
        assert_true(send->peer < m->shape.ranks && send->peer != rank);
        assert_true(send->src_offset + send->bytes <= m->shape.bytes);
        assert_true(send->dst_offset + send->bytes <= CELLS);
        memcpy(message->cells, &m->vector[rank][send->src_offset], send->bytes * sizeof(cell_t));
        assert_true(m->n_flying < MESSAGES_MAX);
        m->flying[m->n_flying++] = message;
    }
}

// Walk over steps whose receives are all there (or that await none).
static void advance(struct machine *m, uint32_t rank, uint32_t steps)
{
    while (m->step[rank] < steps &&
           m->arrived[rank] == m->algorithm->n_recvs(&m->shape, rank, m->step[rank])) {
        m->arrived[rank] = 0;
        if (++m->step[rank] < steps)
            issue_sends(m, rank);
    }
}

static void apply(struct machine *m, const struct message *message)
{
    const struct coll_send *send = &message->send;
    bool exchange = m->shape.op == COLL_ALL_TO_ALL;
    cell_t *to = exchange ? m->receive[send->peer] : m->vector[send->peer];
    for (uint64_t i = 0; i < send->bytes; i++) {
        cell_t *cell = &to[send->dst_offset + i];
        *cell = send->reduce ? *cell + message->cells[i] : message->cells[i];
    }
    m->arrived[send->peer]++;
}

// Deliver in random order; a message that is early waits until its peer enters the step.
static void run(struct machine *m)
{
    uint32_t steps = m->algorithm->steps(&m->shape);
    assert_true(steps <= STEPS_MAX);
    for (uint32_t rank = 0; rank < m->shape.ranks && steps > 0; rank++)
        issue_sends(m, rank);
    for (uint32_t rank = 0; rank < m->shape.ranks; rank++)
        advance(m, rank, steps);
    for (size_t refused = 0; m->n_flying > 0;) {
        m->random = mix(m->random + 1);
        size_t start = m->random % m->n_flying;
        size_t i = (start + refused) % m->n_flying;
        struct message *message = m->flying[i];
        uint32_t peer = message->send.peer;
        assert_true(m->step[peer] <= message->send.peer_step); // else it was never awaited
        if (m->step[peer] < message->send.peer_step) {
            assert_true(++refused < 100000); // a deadlock
            continue;
        }
        refused = 0;
        m->flying[i] = m->flying[--m->n_flying];
        apply(m, message);
        free(message);
        advance(m, peer, steps);
    }
    for (uint32_t rank = 0; rank < m->shape.ranks; rank++)
        assert_int_equal(m->step[rank], steps);
}

// The rank whose segment holds byte i.
static uint32_t owner(const struct coll_shape *shape, uint64_t i)
{
    uint32_t rank = 0;
    while (coll_segment(shape, rank + 1) <= i)
        rank++;
    return rank;
}

static void fill(struct machine *m)
{
    for (uint32_t rank = 0; rank < m->shape.ranks; rank++) {
        for (uint64_t i = 0; i < m->shape.bytes; i++) {
            bool known = m->shape.op != COLL_ALL_GATHER || owner(&m->shape, i) == rank;
            m->vector[rank][i] = known ? source(rank, i) : UINT64_C(0xdeadbeef);
            m->receive[rank][i] = UINT64_C(0xdeadbeef);
        }
    }
}

static void check_exchange(const struct machine *m, uint32_t rank)
{
    uint64_t block = segment_bytes(&m->shape, rank);
    for (uint32_t from = 0; from < m->shape.ranks; from++) {
        for (uint64_t i = 0; i < block && from != rank; i++)
            assert_true(m->receive[rank][from * block + i] ==
                        source(from, coll_segment(&m->shape, rank) + i));
    }
}

static void check_result(const struct machine *m)
{
    for (uint32_t rank = 0; rank < m->shape.ranks; rank++) {
        if (m->shape.op == COLL_ALL_TO_ALL) {
            check_exchange(m, rank);
            continue;
        }
        for (uint64_t i = 0; i < m->shape.bytes; i++) {
            uint32_t own = owner(&m->shape, i);
            cell_t expected = 0;
            if (m->shape.op == COLL_REDUCE_SCATTER && own != rank)
                continue;
            for (uint32_t from = 0; from < m->shape.ranks; from++)
                expected += source(from, i);
            if (m->shape.op == COLL_ALL_GATHER)
                expected = source(own, i);
            assert_true(m->vector[rank][i] == expected);
        }
    }
}

// Every receive that a (rank, step) awaits is sent by someone, and no other.
static void check_matching(const struct coll_algorithm *a, const struct coll_shape *s)
{
    static uint32_t sent[RANKS_MAX][STEPS_MAX];
    uint32_t steps = a->steps(s);
    memset(sent, 0, sizeof sent);
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        for (uint32_t step = 0; step < steps; step++) {
            for (uint32_t k = 0; k < a->n_sends(s, rank, step); k++) {
                struct coll_send send = a->send(s, rank, step, k);
                assert_true(send.peer < s->ranks && send.peer_step < steps);
                sent[send.peer][send.peer_step]++;
            }
        }
    }
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        for (uint32_t step = 0; step < steps; step++)
            assert_int_equal(sent[rank][step], a->n_recvs(s, rank, step));
    }
}

// All ranks together: each byte crosses p - 1 times to be summed and p - 1 times to be spread.
static uint64_t total_bytes(const struct coll_shape *s)
{
    uint64_t once = (s->ranks - 1) * s->bytes;
    return s->op == COLL_ALL_REDUCE ? 2 * once : once;
}

static bool power_of_two(uint32_t n) { return (n & (n - 1)) == 0; }

static void check_bytes(const struct coll_algorithm *a, const struct coll_shape *s)
{
    uint64_t total = 0;
    bool folds = strcmp(a->name, "halving_doubling") == 0 && !power_of_two(s->ranks);
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        uint64_t sent = coll_bytes_sent(a, s, rank);
        total += sent;
        if (s->bytes % s->ranks == 0 && !folds)
            assert_int_equal(sent * s->ranks, total_bytes(s));
    }
    if (!folds)
        assert_int_equal(total, total_bytes(s));
}

static void run_case(const struct coll_algorithm *a, struct coll_shape shape)
{
    const char *why = NULL;
    if (!a->supports(&shape, &why)) {
        assert_non_null(why);
        return;
    }
    struct machine *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->algorithm = a;
    m->shape = shape;
    m->random = shape.ranks * 1000 + shape.bytes;
    check_matching(a, &shape);
    check_bytes(a, &shape);
    fill(m);
    run(m);
    check_result(m);
    free(m);
}

static void test_every_algorithm_computes_every_operation(void **state)
{
    (void)state;
    for (const struct coll_algorithm *const *a = coll_registry; *a != NULL; a++) {
        for (unsigned op = 0; op < COLL_OPS; op++) {
            for (uint32_t ranks = 1; ranks <= RANKS_MAX; ranks++) {
                const uint64_t sizes[] = {0, 1, 3, ranks - 1, ranks, 37, 16 * ranks, 509};
                for (size_t i = 0; i < 2 * (sizeof sizes / sizeof sizes[0]); i++)
                    run_case(*a, (struct coll_shape){.op = (enum coll_op)op,
                                                     .ranks = ranks,
                                                     .bytes = sizes[i / 2],
                                                     .bidirectional = i % 2 == 1});
            }
        }
    }
}

static void test_support_is_as_documented(void **state)
{
    (void)state;
    for (const struct coll_algorithm *const *a = coll_registry; *a != NULL; a++) {
        const char *why = NULL;
        bool hd = strcmp((*a)->name, "halving_doubling") == 0;
        for (unsigned op = 0; op < COLL_OPS; op++) {
            struct coll_shape shape = {.op = (enum coll_op)op, .ranks = 6, .bytes = 100};
            assert_int_equal((*a)->supports(&shape, &why), !(hd && op == COLL_ALL_TO_ALL));
        }
        struct coll_shape nobody = {.op = COLL_ALL_REDUCE, .ranks = 0, .bytes = 100};
        assert_false((*a)->supports(&nobody, &why));
        assert_ptr_equal(coll_find((*a)->name), *a);
    }
    assert_null(coll_find("rings"));
}

static void test_steps_and_directions(void **state)
{
    (void)state;
    const struct coll_algorithm *ring = coll_find("ring");
    struct coll_shape shape = {.op = COLL_ALL_REDUCE, .ranks = 8, .bytes = 800};
    assert_int_equal(ring->steps(&shape), 14);
    assert_int_equal(coll_find("direct")->steps(&shape), 2);
    assert_int_equal(coll_find("halving_doubling")->steps(&shape), 6);
    shape.ranks = 11; // two folds around 2 * log2(8)
    assert_int_equal(coll_find("halving_doubling")->steps(&shape), 8);
    // Ranks 0..5 pair up: 1, 3, 5 send once (a vector), their cores fold out a vector too.
    assert_int_equal(coll_bytes_sent(coll_find("halving_doubling"), &shape, 1), 800);
    assert_int_equal(coll_bytes_sent(coll_find("halving_doubling"), &shape, 0), 1400 + 800);
    assert_int_equal(coll_bytes_sent(coll_find("halving_doubling"), &shape, 10), 1400);

    shape.ranks = 8;
    shape.bidirectional = true;
    struct coll_send up = ring->send(&shape, 0, 0, 0), down = ring->send(&shape, 0, 0, 1);
    assert_int_equal(ring->n_sends(&shape, 0, 0), 2);
    assert_int_equal(up.peer, 1);
    assert_int_equal(down.peer, 7);
    assert_int_equal(up.bytes, 50);
    assert_int_equal(down.bytes, 50);
    assert_int_equal(up.src_offset, 700);   // segment 7, lower half
    assert_int_equal(down.src_offset, 150); // segment 1, upper half
}

static void test_segments_and_factors(void **state)
{
    (void)state;
    struct coll_shape shape = {.op = COLL_ALL_REDUCE, .ranks = 3, .bytes = 10};
    const uint64_t bounds[] = {0, 3, 6, 10};
    for (uint32_t i = 0; i <= 3; i++)
        assert_int_equal(coll_segment(&shape, i), bounds[i]);
    // 99999 * 10^15 passes 64 bits; floor(99999 * 10^15 / 100000) = 10^15 - 10^10.
    shape = (struct coll_shape){
        .op = COLL_ALL_REDUCE, .ranks = 100000, .bytes = UINT64_C(1000000000000000)};
    assert_int_equal(coll_segment(&shape, 99999), UINT64_C(999990000000000));

    assert_true(coll_bus_factor(COLL_ALL_REDUCE, 8) == 1.75);
    assert_true(coll_bus_factor(COLL_ALL_TO_ALL, 8) == 0.875);
    assert_true(coll_bus_factor(COLL_ALL_GATHER, 1) == 0);
    for (unsigned i = 0; i < COLL_OPS; i++) {
        enum coll_op op;
        assert_int_equal(coll_op_find(coll_op_name((enum coll_op)i), &op), 0);
        assert_int_equal(op, i);
    }
    enum coll_op op;
    assert_string_equal(coll_op_name(COLL_REDUCE_SCATTER), "reduce_scatter");
    assert_int_equal(coll_op_find("allreduce", &op), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm_computes_every_operation),
        cmocka_unit_test(test_support_is_as_documented),
        cmocka_unit_test(test_steps_and_directions),
        cmocka_unit_test(test_segments_and_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

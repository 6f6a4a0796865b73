// SPDX-License-Identifier: MIT
// Tests of the closed forms of phases: numbers by hand, cases without a form, and comparison with
// the programs of collective/ replayed message by message over the same network.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"
#include "engine/critical_path.h"
#include "tests/sim/analytical/networks.h"

#define MIB (UINT64_C(1) << 20)
#define RANKS 16

static const uint32_t all[RANKS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static ps_t phase_of(struct analytical *a, const char *algorithm, enum coll_op op, uint32_t n,
                     uint64_t bytes, ps_t endpoint_ns)
{
    struct coll_phase_cost cost;
    struct coll_phase_call call = {.op = op,
                                   .algorithm = coll_find(algorithm),
                                   .members = all,
                                   .n = n,
                                   .bytes = bytes,
                                   .endpoint_ps = endpoint_ns * PS_PER_NS};
    assert_true(analytical_phase(a, &call, &cost));
    return cost.duration_ps / PS_PER_NS;
}

// Numbers of ASTRA-sim for 128 MiB in four chunks, one at a time per dimension, plus the 1 ns that
// its loop adds. Ring of 16: 2405681 ns. Eight rings of eight: reduce-scatters and all-gathers keep
// the ring busy for 2216784 ns, which hides the all-reduces on the switch.
static void test_numbers(void **state)
{
    (void)state;
    struct analytical ring = {0}, rs88 = {0};
    network_add(&ring, SHAPE_RING, 16, 500, 100 * GB);
    assert_int_equal(4 * phase_of(&ring, "ring", COLL_ALL_REDUCE, 16, 32 * MIB, 10) + 1, 2405681);
    network_add(&rs88, SHAPE_RING, 8, 500, 100 * GB);
    network_add(&rs88, SHAPE_SWITCH, 8, 500, 50 * GB);
    ps_t scatter = phase_of(&rs88, "ring", COLL_REDUCE_SCATTER, 8, 32 * MIB, 10);
    ps_t gather = phase_of(&rs88, "ring", COLL_ALL_GATHER, 8, 4 * MIB, 10);
    assert_int_equal(scatter, 7 * (39562 + 24) + 80);
    assert_int_equal(gather, 7 * 39562 + 80);
    assert_int_equal(4 * (scatter + gather) + 1, 2216785);
}

static void test_halving_doubling(void **state)
{
    (void)state;
    struct analytical a = {0};
    network_add(&a, SHAPE_SWITCH, 8, 500, 50 * GB);
    // 2 MiB, 1 MiB, 512 KiB: 40062, 20531, 10765 ns; the reductions after the first message take 6
    // and 3 ns
    assert_int_equal(phase_of(&a, "halving_doubling", COLL_REDUCE_SCATTER, 8, 4 * MIB, 10),
                     40062 + 20531 + 10765 + 6 + 3 + 4 * 10);
    assert_int_equal(phase_of(&a, "halving_doubling", COLL_ALL_GATHER, 8, MIB / 2, 10),
                     40062 + 20531 + 10765 + 4 * 10);
    assert_int_equal(phase_of(&a, "halving_doubling", COLL_ALL_REDUCE, 8, 4 * MIB, 10),
                     2 * (40062 + 20531 + 10765) + 6 + 3 + 7 * 10);
    // odd sizes are truncated at every halving (110, 55, 27 bytes at 1 B/ns) and once more before
    // they double (26, 52, 104)
    a.dims[0].bytes_per_ns = 1;
    assert_int_equal(phase_of(&a, "halving_doubling", COLL_REDUCE_SCATTER, 8, 221, 0),
                     3 * 1000 + 110 + 55 + 27);
    assert_int_equal(phase_of(&a, "halving_doubling", COLL_ALL_REDUCE, 8, 221, 0),
                     6 * 1000 + 110 + 55 + 27 + 26 + 52 + 104);
}

static void test_direct_and_exchange(void **state)
{
    (void)state;
    struct analytical a = {0};
    network_add(&a, SHAPE_RING, 8, 500, 1);
    // 8000005 bytes: messages of 1000000 bytes take 4 links to the farthest rank, and 6 ns to
    // reduce
    ps_t t = 4 * 500 + 1000000;
    assert_int_equal(phase_of(&a, "direct", COLL_ALL_REDUCE, 8, 8000005, 7), 2 * t + 3 * 7 + 6);
    assert_int_equal(phase_of(&a, "direct", COLL_REDUCE_SCATTER, 8, 8000005, 7), t + 2 * 7 + 6);
    assert_int_equal(phase_of(&a, "direct", COLL_ALL_GATHER, 8, 1000000, 7), t + 2 * 7);
    assert_int_equal(phase_of(&a, "direct", COLL_ALL_TO_ALL, 8, 8000005, 7), t + 2 * 7);
    assert_int_equal(phase_of(&a, "ring", COLL_ALL_TO_ALL, 8, 8000005, 7),
                     28 * (1000000 + 500 + 7) + 7);
}

static struct coll_phase_cost cost_of(struct analytical *a, const char *algorithm, enum coll_op op,
                                      uint32_t n, uint64_t bytes)
{
    struct coll_phase_cost cost;
    struct coll_phase_call call = {
        .op = op, .algorithm = coll_find(algorithm), .members = all, .n = n, .bytes = bytes};
    assert_true(analytical_phase(a, &call, &cost));
    return cost;
}

// A tree of 16 ranks along a ring: edges of 1, 2, 4 and 8 hops, each passed up and down by the
// whole megabyte; leaves wait twice, the root once, the three ranks between them twice, and these
// seven waits but those of the leaves add 6 ns of reduction. Both trees take the same time.
static void test_tree(void **state)
{
    (void)state;
    struct analytical a = {0};
    network_add(&a, SHAPE_RING, 16, 500, 1);
    struct coll_double_tree_params tree = {.pieces = 1, .alternating = true};
    for (uint32_t chunk = 0; chunk < 2; chunk++) {
        struct coll_phase_cost cost;
        struct coll_phase_call call = {.op = COLL_ALL_REDUCE,
                                       .algorithm = coll_find("double_binary_tree"),
                                       .params = &tree,
                                       .members = all,
                                       .n = 16,
                                       .bytes = 1000000,
                                       .endpoint_ps = 10 * PS_PER_NS,
                                       .chunk = chunk};
        assert_true(analytical_phase(&a, &call, &cost));
        assert_int_equal(cost.duration_ps / PS_PER_NS,
                         2 * (4 * 1000000 + 15 * 500) + 9 * 10 + 7 * 6);
        assert_int_equal(cost.messages, 30);
        // 8, 4, 2 and 1 edges of 1, 2, 4 and 8 hops
        assert_true(cost.messages_ps / PS_PER_NS == 2 * (15 * 1000000 + 4 * 8 * 500));
        call.n = 12; // the program has a form for powers of two only
        assert_false(analytical_phase(&a, &call, &cost));
        call.n = 16;
        tree.alternating = false; // both trees at once: no form
        assert_false(analytical_phase(&a, &call, &cost));
        tree.alternating = true;
    }
}

// A ring over all 8 ranks of 4 x 2: three messages in the first dimension take 110 ns, the fourth,
// which takes the last dimension alone, 1100. Reduce-scatter: 7 in a row, two of them slow.
static void test_uneven_ring(void **state)
{
    (void)state;
    struct analytical a = {.last_dim = true};
    network_add(&a, SHAPE_RING, 4, 10, 1);
    network_add(&a, SHAPE_FULLY_CONNECTED, 2, 1000, 1);
    assert_int_equal(phase_of(&a, "ring", COLL_REDUCE_SCATTER, 8, 800, 0), 5 * 110 + 2 * 1100);
    assert_int_equal(phase_of(&a, "ring", COLL_ALL_REDUCE, 8, 800, 0), 10 * 110 + 4 * 1100);
    assert_int_equal(phase_of(&a, "ring", COLL_ALL_TO_ALL, 8, 800, 3),
                     21 * 110 + 7 * 1100 + 29 * 3);
    a.last_dim = false; // from the end of a row back to its start, and on to the other row
    assert_int_equal(phase_of(&a, "ring", COLL_REDUCE_SCATTER, 8, 800, 0), 5 * 110 + 2 * 1110);
}

// The messages of a phase, and the sum of their times.
static void test_messages(void **state)
{
    (void)state;
    struct analytical a = {0};
    network_add(&a, SHAPE_RING, 8, 10, 1);
    struct coll_phase_cost ring = cost_of(&a, "ring", COLL_ALL_REDUCE, 8, 800);
    assert_int_equal(ring.messages, 14 * 8);
    assert_true(ring.messages_ps == (ps_sum_t)14 * 8 * 110 * PS_PER_NS);
    assert_int_equal(cost_of(&a, "ring", COLL_ALL_GATHER, 8, 100).messages, 7 * 8);
    assert_int_equal(cost_of(&a, "ring", COLL_ALL_TO_ALL, 8, 800).messages, 28 * 8);
    struct coll_phase_cost direct = cost_of(&a, "direct", COLL_ALL_TO_ALL, 8, 800);
    assert_int_equal(direct.messages, 7 * 8); // of each rank 2 at 1, 2 and 3 hops, 1 at 4
    assert_true(direct.messages_ps == (ps_sum_t)8 * (7 * 100 + 16 * 10) * PS_PER_NS);
    assert_int_equal(cost_of(&a, "direct", COLL_ALL_REDUCE, 8, 800).messages, 2 * 7 * 8);
    struct coll_phase_cost halves = cost_of(&a, "halving_doubling", COLL_REDUCE_SCATTER, 8, 800);
    assert_int_equal(halves.messages, 3 * 8);
    // 400 bytes over 4 hops, 200 over 2, and 100 over 1, between ranks 3 and 4 as between 0 and 1
    assert_true(halves.messages_ps == (ps_sum_t)8 * (440 + 220 + 110) * PS_PER_NS);
}

static void test_no_form(void **state)
{
    (void)state;
    struct analytical a = {0};
    struct coll_phase_cost cost;
    network_add(&a, SHAPE_SWITCH, 16, 500, 1);
    struct coll_phase_call call = {.algorithm = coll_find("direct"), .members = all, .n = 8};
    struct coll_direct_params few = {.in_flight = 6};
    call.params = &few;
    assert_false(analytical_phase(&a, &call, &cost));
    few.in_flight = 7; // seven messages at once are all of them, so the form applies
    assert_true(analytical_phase(&a, &call, &cost));
    call.n = 1;
    assert_false(analytical_phase(&a, &call, &cost));
    call.algorithm = coll_find("halving_doubling");
    call.n = 6;
    assert_false(analytical_phase(&a, &call, &cost));
    call.n = 8;
    call.op = COLL_ALL_TO_ALL;
    assert_false(analytical_phase(&a, &call, &cost));
    call.op = COLL_ALL_REDUCE;
    assert_true(analytical_phase(&a, &call, &cost));
    const struct coll_algorithm other = {.name = "unheard-of"};
    call.algorithm = &other;
    assert_false(analytical_phase(&a, &call, &cost));
}

// ---- replay ----

struct walker { // a member and its position in the program
    struct sim_timer timer;
    struct replay *replay;
    uint32_t rank, step, arrived[64]; // arrived: messages received per step
};

struct replay {
    struct engine engine;
    struct analytical a;
    const struct coll_algorithm *algorithm;
    struct coll_shape shape;
    ps_t endpoint_ps, end_ps;
    struct walker walkers[RANKS];
};

// Time to reduce what a member has received in a step, by the rule of ASTRA-sim.
static ps_t adding_ps(const struct replay *r, const struct walker *w)
{
    struct coll_send send = r->algorithm->send(&r->shape, w->rank, w->step, 0);
    bool first_halving = strcmp(r->algorithm->name, "halving_doubling") == 0 && w->step == 0;
    return send.reduce && !first_halving ? (ps_t)(send.bytes / 500000) * 3000 : 0;
}

static void begin_step(struct walker *w, ps_t now)
{
    struct replay *r = w->replay;
    sim_timer_start(&r->engine, &w->timer, now + r->endpoint_ps);
}

static void leave_steps(struct walker *w, ps_t now)
{
    struct replay *r = w->replay;
    if (w->arrived[w->step] < r->algorithm->n_recvs(&r->shape, w->rank, w->step))
        return;
    ps_t after = now + adding_ps(r, w);
    w->step++;
    begin_step(w, after);
}

static void on_begin(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct walker *w = timer->data;
    struct replay *r = w->replay;
    if (w->step == r->algorithm->steps(&r->shape)) {
        r->end_ps = e->now_ps > r->end_ps ? e->now_ps : r->end_ps;
        return;
    }
    for (uint32_t k = 0; k < r->algorithm->n_sends(&r->shape, w->rank, w->step); k++) {
        struct coll_send send = r->algorithm->send(&r->shape, w->rank, w->step, k);
        struct transfer_request request = {.src = w->rank,
                                           .dst = send.peer,
                                           .bytes = send.bytes,
                                           .token = send.peer * 64 + send.peer_step};
        analytical_post(&r->a, &request, e->now_ps);
    }
}

static void on_delivered(void *ctx, uint64_t token, uint64_t bytes, ps_t now)
{
    (void)bytes;
    struct replay *r = ctx;
    struct walker *w = &r->walkers[token / 64];
    w->arrived[token % 64]++;
    if (w->step == token % 64) // all ranks are in the same step here, so none is ahead
        leave_steps(w, now);
}

static void on_sent(void *ctx, uint64_t token, ps_t now) { (void)ctx, (void)token, (void)now; }

static void check_replay(enum topology_shape shape, const char *algorithm, enum coll_op op,
                         uint32_t n, uint64_t chunk)
{
    struct replay r = {.algorithm = coll_find(algorithm), .endpoint_ps = 13 * PS_PER_NS};
    engine_init(&r.engine, 1);
    r.engine.horizon_ps = PS_NEVER;
    struct path_book book;
    path_book_init(&book, 4);
    r.a.engine = &r.engine;
    r.a.path_book = &book;
    r.a.client = (struct transfer_client){.delivered = on_delivered, .sent = on_sent, .ctx = &r};
    r.shape = (struct coll_shape){
        .op = op, .ranks = n, .bytes = op == COLL_ALL_GATHER ? n * chunk : chunk};
    network_add(&r.a, shape, n, 500, 3.7);
    for (uint32_t i = 0; i < n; i++) {
        r.walkers[i].replay = &r;
        r.walkers[i].rank = i;
        sim_timer_init(&r.engine, &r.walkers[i].timer, i, on_begin, &r.walkers[i]);
        begin_step(&r.walkers[i], 0);
    }
    engine_drain(&r.engine, SIZE_MAX);
    assert_int_equal(r.end_ps / PS_PER_NS, phase_of(&r.a, algorithm, op, n, chunk, 13));
    analytical_free(&r.a);
    path_book_free(&book);
    engine_free(&r.engine);
}

static void test_replay(void **state)
{
    (void)state;
    const enum topology_shape shapes[] = {SHAPE_RING, SHAPE_SWITCH, SHAPE_FULLY_CONNECTED};
    const char *algorithms[] = {"ring", "direct", "halving_doubling"};
    const uint32_t sizes[] = {2, 4, 8, 16};
    for (size_t s = 0; s < 3; s++)
        for (size_t n = 0; n < 4; n++)
            for (size_t g = 0; g < 3; g++)
                for (enum coll_op op = COLL_ALL_REDUCE; op <= COLL_ALL_TO_ALL; op++) {
                    bool relayed = op == COLL_ALL_TO_ALL && g != 1; // another program, or none
                    if (!relayed)
                        check_replay(shapes[s], algorithms[g], op, sizes[n], 16 * 1000000);
                }
}

static ps_t direct_ns(struct analytical *a, const uint32_t *members, uint32_t n)
{
    struct coll_phase_cost cost;
    struct coll_phase_call call = {.op = COLL_ALL_TO_ALL,
                                   .algorithm = coll_find("direct"),
                                   .members = members,
                                   .n = n,
                                   .bytes = 100 * n};
    assert_true(analytical_phase(a, &call, &cost));
    return cost.duration_ps / PS_PER_NS;
}

// With a mapping of ranks, the slowest pair need not include the first member. A ring of eight with
// hops of 10 ns and 1 B/ns.
static void test_members_in_any_order(void **state)
{
    (void)state;
    static const uint32_t middle_first[] = {2, 0, 4}, row[] = {1, 2, 3}, apart[] = {0, 2, 4, 6};
    static const uint32_t shuffled[] = {5, 2, 7, 0, 1, 3, 6, 4}, over[] = {6, 7, 8, 9, 10};
    struct analytical a = {0};
    network_add(&a, SHAPE_RING, 8, 10, 1);
    network_add(&a, SHAPE_RING, 2, 1000, 1);
    assert_int_equal(direct_ns(&a, middle_first, 3), 100 + 4 * 10);
    assert_int_equal(direct_ns(&a, row, 3), 100 + 2 * 10);
    assert_int_equal(direct_ns(&a, apart, 4), 100 + 4 * 10);
    assert_int_equal(direct_ns(&a, shuffled, 8), 100 + 4 * 10);
    assert_int_equal(direct_ns(&a, over, 5), 100 + 1000 + 4 * 10); // ranks 6 and 10
    assert_int_equal(direct_ns(&a, all, 16), 100 + 1000 + 4 * 10);
}

// Times beyond the longest time are limited to it, in every form.
static void test_longest(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"ring", "direct", "halving_doubling"};
    struct analytical a = {0};
    network_add(&a, SHAPE_RING, 16, 500, 1e-4);
    for (int i = 0; i < 3; i++)
        for (enum coll_op op = COLL_ALL_REDUCE; op <= COLL_ALL_TO_ALL; op++) {
            if (op == COLL_ALL_TO_ALL && i == 2)
                continue; // no closed form
            ps_t ns = phase_of(&a, algorithms[i], op, 16, UINT64_C(1000000000000000), 1000000000);
            assert_int_equal(ns, ANALYTICAL_LONGEST_PS / PS_PER_NS);
        }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_halving_doubling),
                                       cmocka_unit_test(test_direct_and_exchange),
                                       cmocka_unit_test(test_tree),
                                       cmocka_unit_test(test_uneven_ring),
                                       cmocka_unit_test(test_messages),
                                       cmocka_unit_test(test_no_form),
                                       cmocka_unit_test(test_replay),
                                       cmocka_unit_test(test_members_in_any_order),
                                       cmocka_unit_test(test_longest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

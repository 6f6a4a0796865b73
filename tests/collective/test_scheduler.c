// SPDX-License-Identifier: MIT
// The collective scheduler over packets: delays by the number of steps, phases admitted to a
// dimension, queueing, and freedom from deadlock for any order of collectives.
//
// A ring all-reduce over n ranks has 2(n-1) steps of one message: an endpoint delay passes before
// each step and after the last one, and in the first n-1 steps the received data is added. Runs
// with different delays are compared with each other, not with a run without delay, in which an ACK
// precedes the next data packet.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/fixture.h"
#include "workload/training/training_job.h"

#define RATE UINT64_C(100000000000)
#define N 6

struct ring_case {
    enum coll_op op;
    uint64_t bytes, chunks, active, reduce_bps;
    ps_t endpoint_ps;
};

static void ring_run(struct fixture *f, const struct ring_case *c)
{
    fixture_switch(f, N, RATE, PS_PER_US);
    fixture_collective(f, c->op, "ring", c->bytes, c->chunks);
    f->collectives[0].schedule.endpoint_ps = c->endpoint_ps;
    f->collectives[0].schedule.reduce_bps = c->reduce_bps;
    f->collectives[0].schedule.active_chunks = c->active;
    fixture_run(f);
    assert_int_equal(f->result->status, RUN_COMPLETED);
    assert_int_equal(f->sim->fabric.hosts.counters.delivered_bytes, f->sim->workload.total_bytes);
}

static ps_t ring_ps(const struct ring_case *c)
{
    struct fixture f;
    ring_run(&f, c);
    ps_t end = f.result->collectives[0].end_ps;
    fixture_free(&f);
    return end;
}

static void test_endpoint_delay(void **state)
{
    (void)state;
    static const struct {
        enum coll_op op;
        ps_t delays;
    } cases[] = {
        {COLL_ALL_REDUCE, 2 * (N - 1) + 1}, {COLL_REDUCE_SCATTER, N}, {COLL_ALL_GATHER, N}};
    for (size_t i = 0; i < 3; i++) {
        struct ring_case c = {cases[i].op, N * 10000, 1, 1, 0, PS_PER_US};
        ps_t before = ring_ps(&c);
        c.endpoint_ps = 3 * PS_PER_US + 7;
        assert_int_equal(ring_ps(&c) - before, cases[i].delays * (2 * PS_PER_US + 7));
    }
}

static void test_reduce_rate(void **state)
{
    (void)state;
    static const enum coll_op ops[] = {COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER};
    for (size_t i = 0; i < 3; i++) {
        struct ring_case c = {ops[i], N * 10000, 1, 1, 0, PS_PER_US};
        ps_t before = ring_ps(&c);
        c.reduce_bps = RATE / 3;
        ps_t adding = (N - 1) * serialization_ps(10000, RATE / 3);
        assert_int_equal(ring_ps(&c) - before, ops[i] == COLL_ALL_GATHER ? 0 : adding);
    }
}

// With one active chunk the second chunk waits for the end of the first. With two, both run and
// share the links.
static void test_active_chunks(void **state)
{
    (void)state;
    struct ring_case c = {COLL_ALL_REDUCE, N * 10000, 1, 1, 0, PS_PER_US};
    struct fixture f;
    ps_t once = ring_ps(&c);
    c.bytes *= 2;
    c.chunks = 2;
    ring_run(&f, &c);
    const struct phase_result *phase = &f.result->collectives[0].phases[0];
    assert_int_equal(f.result->collectives[0].end_ps, 2 * once);
    assert_int_equal(phase->queueing_ps, once / 2);
    assert_int_equal(phase->messages, 2 * 2 * (N - 1) * N);
    fixture_free(&f);
    c.active = 2;
    ring_run(&f, &c);
    phase = &f.result->collectives[0].phases[0];
    assert_int_equal(phase->queueing_ps, 0);
    assert_true(f.result->collectives[0].end_ps < 2 * once);
    fixture_free(&f);
}

/* ---- ranks that start late, in any order ---- */

static void training_of(struct fixture *f, struct training_settings *settings,
                        const struct training_spec *spec, bool queued)
{
    static const char *const rings[] = {"ring", "direct"};
    static const uint32_t sizes[] = {3, 4};
    fixture_switch(f, 3, RATE, PS_PER_US);
    f->spec.n_dims = 2;
    f->spec.dims[1] = f->spec.dims[0];
    f->spec.dims[1].size = 4;
    f->spec.dims[0].transport.start_jitter_ps = 20 * PS_PER_US;
    fixture_collective(f, COLL_ALL_REDUCE, "ring", 1, 9);
    fixture_dims(f, 2, sizes, rings);
    f->collectives[0].schedule.newest_first = true;
    f->collectives[0].schedule.phases = COLL_BANDWIDTH_AWARE;
    f->collectives[0].schedule.active_chunks = queued ? 1 : 0;
    *settings =
        (struct training_settings){.params = {.iterations = 2, .compute_scale = 1, .comm_scale = 1},
                                   .training = *spec,
                                   .schedule = f->collectives[0].schedule};
    f->jobs[0].kind = &training_kind;
    f->jobs[0].settings = settings;
}

// Data-parallel layers whose collectives overlap: all-reduces and all-to-alls over both dimensions.
static void test_no_order_blocks(void **state)
{
    (void)state;
    static char name[] = "l";
    struct training_layer layers[5] = {{0}};
    struct training_spec spec = {.keyword = TRAINING_DATA, .layers = layers, .n_layers = 5};
    for (size_t i = 0; i < 5; i++) {
        layers[i].name = name;
        for (int part = 0; part < TRAINING_PARTS; part++)
            layers[i].parts[part] = (struct training_step){.compute_ns = 200, .op = TRAINING_NO_OP};
        layers[i].parts[TRAINING_WG].op = i % 2 ? COLL_ALL_TO_ALL : COLL_ALL_REDUCE;
        layers[i].parts[TRAINING_WG].bytes = 3001 + 977 * i;
    }
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct fixture f;
        struct training_settings settings;
        training_of(&f, &settings, &spec, seed % 5 != 0);
        f.spec.seed = seed;
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        assert_int_equal(f.sim->fabric.hosts.counters.delivered_bytes, f.sim->workload.total_bytes);
        assert_int_equal(tally_sum(&f.sim->workload.starts_pending), 0);
        assert_int_equal(f.result->n_collectives, 10);
        for (size_t i = 0; i < 10; i++)
            assert_true(f.result->collectives[i].end_ps > 0);
        fixture_free(&f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endpoint_delay),
        cmocka_unit_test(test_reduce_rate),
        cmocka_unit_test(test_active_chunks),
        cmocka_unit_test(test_no_order_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Ideal times are lower bounds. Over random graphs, unequal links, planes, shared NICs, relays,
// routings, faults and policies, no message has a slowdown below 1 and no collective an efficiency
// above 1. SEED=n runs a single scenario, SCENARIOS=n that many.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/random.h"

struct outcomes {
    unsigned long flows, collectives, close, tight, short_ones;
};

static void check_flow(const struct flow_record *f, uint64_t seed, struct outcomes *outcomes)
{
    if (f->status != MESSAGE_DONE || f->fct_ps <= 0)
        return;
    outcomes->flows++;
    outcomes->close += f->fct_ps - f->ideal_ps < f->ideal_ps / 100;
    outcomes->short_ones += f->bytes < 4096;
    if (f->fct_ps < f->ideal_ps)
        fail_msg("seed %llu: flow %llu of %llu bytes from %u to %u takes %lld ps, ideal %lld ps",
                 (unsigned long long)seed, (unsigned long long)f->id, (unsigned long long)f->bytes,
                 f->src, f->dst, (long long)f->fct_ps, (long long)f->ideal_ps);
}

static void check_collective(const struct collective_result *c, uint64_t seed,
                             struct outcomes *outcomes)
{
    if (c->end_ps < 0 || c->end_ps <= c->start_ps)
        return;
    outcomes->collectives++;
    outcomes->tight += c->efficiency > 0.9;
    if (c->end_ps - c->start_ps < c->ideal_ps || c->efficiency > 1)
        fail_msg("seed %llu: %s by %s over %u ranks of %llu bytes takes %lld ps, ideal %lld ps",
                 (unsigned long long)seed, c->op, c->algorithm, c->ranks,
                 (unsigned long long)c->bytes, (long long)(c->end_ps - c->start_ps),
                 (long long)c->ideal_ps);
}

static void run(uint64_t seed, struct outcomes *outcomes)
{
    struct fixture *f = malloc(sizeof *f);
    struct err err = {0};
    random_bounds(f, seed);
    f->sim = sim_new(&f->spec, &err);
    if (!f->sim)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.items[0].text);
    err_free(&err); // warnings
    sim_run(f->sim, NULL);
    f->result = sim_result(f->sim);
    for (size_t i = 0; i < f->result->n_flows; i++)
        check_flow(&f->result->flows[i], seed, outcomes);
    for (size_t i = 0; i < f->result->n_collectives; i++)
        check_collective(&f->result->collectives[i], seed, outcomes);
    fixture_free(f);
    free(f);
}

static void test_bounds(void **state)
{
    (void)state;
    struct outcomes outcomes = {0};
    const char *only = getenv("SEED"), *many = getenv("SCENARIOS");
    uint64_t scenarios = many ? strtoull(many, NULL, 10) : 600;
    if (only) {
        run(strtoull(only, NULL, 10), &outcomes);
        return;
    }
    for (uint64_t seed = 1; seed <= scenarios; seed++)
        run(seed, &outcomes);
    print_message(
        "%llu scenarios: %lu messages, %lu of them within 1 %% of their ideal, %lu short; %lu "
        "collectives, %lu with an efficiency above 0.9\n",
        (unsigned long long)scenarios, outcomes.flows, outcomes.close, outcomes.short_ones,
        outcomes.collectives, outcomes.tight);
    assert_true(outcomes.flows > 5 * scenarios && outcomes.collectives > scenarios / 5);
    assert_true(outcomes.close > scenarios && outcomes.tight > 0 &&
                outcomes.short_ones > scenarios);
}

// Short chunks over several planes: each plane has ACKs that delay nothing.
static void test_short_chunks_on_planes(void **state)
{
    (void)state;
    struct fixture *f = malloc(sizeof *f);
    assert_non_null(f);
    for (uint64_t planes = 1; planes <= 6; planes++)
        for (uint64_t chunks = 1; chunks <= 6; chunks++)
            for (uint64_t bytes = 24; bytes < 100000; bytes *= 4) {
                fixture_switch(f, 2, UINT64_C(100000000000), 1);
                memcpy(f->spec.dims[0].params, &planes, sizeof planes); // the only parameter
                fixture_collective(f, COLL_ALL_GATHER, "ring", bytes, chunks);
                fixture_run(f);
                const struct collective_result *c = &f->result->collectives[0];
                assert_true(c->ideal_ps > 0 && c->end_ps - c->start_ps >= c->ideal_ps);
                fixture_free(f);
            }
    free(f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds),
                                       cmocka_unit_test(test_short_chunks_on_planes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

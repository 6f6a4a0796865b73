// SPDX-License-Identifier: MIT
// Properties over random small fabrics with PFC: nothing of the lossless class is dropped, every byte
// is delivered once, and headroom is no larger than it has to be said to be: 10 % below the
// high-water mark that a run itself measured, the same run loses packets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/rng.h"
#include "tests/support/fixture.h"

#define GBPS UINT64_C(1000000000)
#define SCENARIOS 320

static uint64_t pick(struct rng *rng, const uint64_t *list, size_t n)
{
    return list[rng_below(rng, n)];
}
#define PICK(rng, list) pick(rng, list, sizeof list / sizeof *list)

static const uint64_t rates[] = {25, 40, 100, 100, 200, 400, 800};
static const uint64_t mtus[] = {256, 1000, 1448, 4096, 9000};
static const char *const policies[] = {"none", "none", "window", "dcqcn"};

static struct link_spec random_link(struct rng *rng)
{
    return (struct link_spec){PICK(rng, rates) * GBPS, (ps_t)rng_below(rng, 4 * PS_PER_US)};
}

static uint32_t random_fabric(struct fixture *f, struct rng *rng)
{
    uint32_t ranks = 3 + (uint32_t)rng_below(rng, 10);
    if (rng_below(rng, 2)) {
        struct link_spec link = random_link(rng);
        fixture_switch(f, ranks, link.rate_bps, link.delay_ps);
        return ranks;
    }
    uint32_t per_leaf = 1 + (uint32_t)rng_below(rng, 4), leaves = 2 + (uint32_t)rng_below(rng, 3);
    uint32_t spines = 1 + (uint32_t)rng_below(rng, 3);
    fixture_leaf_spine(f, per_leaf * leaves, per_leaf, spines, random_link(rng), random_link(rng));
    return per_leaf * leaves;
}

static void random_scenario(struct fixture *f, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 7);
    uint32_t ranks = random_fabric(f, &rng);
    struct dim_spec *dim = &f->spec.dims[0];
    f->spec.seed = seed;
    dim->transport.mtu_bytes = PICK(&rng, mtus);
    dim->transport.ack_interval = 1 + rng_below(&rng, 8);
    dim->transport.ack_class = (int)rng_below(&rng, 2);
    dim->transport.start_jitter_ps = (ps_t)rng_below(&rng, 2) * PS_PER_US;
    dim->transport.clock_ppm = rng_below(&rng, 2) ? 100 : 0;
    dim->sw.pfc.response_ps = (ps_t)rng_below(&rng, 2) * (ps_t)rng_below(&rng, 500 * PS_PER_NS);
    dim->sw.pfc.alpha = rng_below(&rng, 2) ? 0.125 : 1;
    dim->sw.buffer_bytes = UINT64_C(3000000) + rng_below(&rng, 4000000);
    if (rng_below(&rng, 2)) // little above what reserve and headroom take: pauses all the time
        dim->sw.buffer_bytes = 0;
    fixture_cc(f, policies[rng_below(&rng, 4)], NULL, NULL);
    uint32_t hot = (uint32_t)rng_below(&rng, ranks), n = 2 + (uint32_t)rng_below(&rng, 3 * ranks);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t src = (uint32_t)rng_below(&rng, ranks);
        uint32_t dst = rng_below(&rng, 3) ? hot : (uint32_t)rng_below(&rng, ranks);
        if (src == dst)
            dst = (dst + 1) % ranks;
        fixture_flow(f, src, dst, 1 + rng_below(&rng, 400000),
                     (ps_t)rng_below(&rng, 50 * PS_PER_US));
    }
}

// The smallest buffer that leaves `shared` bytes to share on every switch.
static uint64_t buffer_for(const struct fixture *f, uint64_t shared)
{
    struct fixture probe = *f;
    struct err err = {0};
    uint64_t buffer = 0;
    probe.spec.jobs = probe.jobs;
    probe.jobs[0].flows = probe.flows;
    probe.spec.dims[0].sw.buffer_bytes = UINT64_C(100000000000);
    struct sim *sim = sim_new(&probe.spec, &err);
    assert_non_null(sim);
    for (uint32_t s = 0; s < sim->graph.n_nodes - sim->graph.n_ranks; s++) {
        uint64_t taken = UINT64_C(100000000000) - sim->switches.nodes[s].mmu.shared_bytes;
        buffer = taken + shared > buffer ? taken + shared : buffer;
    }
    sim_free(sim);
    return buffer;
}

static void check(struct fixture *f, uint64_t seed)
{
    const struct result *r = f->result;
    if (r->status != RUN_COMPLETED || r->dropped_packets || r->retransmitted || r->timeouts ||
        f->sim->roce.delivered_bytes != f->sim->workload.total_bytes)
        fail_msg("seed %llu: status %d, %llu drops, %llu of %llu bytes", (unsigned long long)seed,
                 (int)r->status, (unsigned long long)r->dropped_packets,
                 (unsigned long long)f->sim->roce.delivered_bytes,
                 (unsigned long long)f->sim->workload.total_bytes);
    for (uint32_t n = f->sim->graph.n_ranks; n < f->sim->graph.n_nodes; n++) {
        const struct mmu *mmu = &switch_of(&f->sim->switches, n)->mmu;
        assert_true(mmu->max_shared_used <= mmu->shared_bytes);
    }
}

static void test_no_lossless_drop(void **state)
{
    (void)state;
    unsigned paused = 0;
    for (uint64_t seed = 1; seed <= SCENARIOS; seed++) {
        struct fixture f;
        random_scenario(&f, seed);
        if (f.spec.dims[0].sw.buffer_bytes == 0)
            f.spec.dims[0].sw.buffer_bytes = buffer_for(&f, 60000);
        fixture_run(&f);
        check(&f, seed);
        paused += f.result->pause_frames > 0;
        fixture_free(&f);
    }
    print_message("%u of %u random scenarios paused\n", paused, SCENARIOS);
    assert_true(paused > SCENARIOS / 4);
}

static uint64_t high_water(const struct result *r)
{
    uint64_t most = 0;
    for (size_t i = 0; i < r->n_switches; i++)
        if (r->switches[i].max_headroom_bytes > most)
            most = r->switches[i].max_headroom_bytes;
    return most;
}

static void test_less_headroom_loses(void **state)
{
    (void)state;
    unsigned tried = 0, lost = 0;
    double fullest = 0;
    for (uint64_t seed = 1; seed <= 3 * SCENARIOS && tried < 60; seed++) {
        struct fixture f, less;
        random_scenario(&f, seed);
        // One switch: there the buffer can be set so that the shared part stays the same.
        if (f.spec.dims[0].sw.buffer_bytes != 0 || f.spec.dims[0].kind->fabric)
            continue;
        f.spec.dims[0].sw.buffer_bytes = buffer_for(&f, 60000);
        fixture_run(&f);
        uint64_t peak = high_water(f.result);
        for (size_t i = 0; i < f.result->n_switches; i++) {
            double share = (double)f.result->switches[i].max_headroom_bytes /
                           (double)f.result->switches[i].headroom_limit_bytes;
            fullest = share > fullest ? share : fullest;
        }
        fixture_free(&f);
        if (peak < 10000)
            continue;
        tried++;
        random_scenario(&less, seed);
        less.spec.dims[0].sw.pfc.headroom_bytes = peak * 9 / 10;
        less.spec.dims[0].sw.buffer_bytes = buffer_for(&less, 60000); // the same shared bytes
        fixture_run(&less);
        lost += less.result->drops_headroom > 0;
        fixture_free(&less);
    }
    print_message(
        "10 %% below the high-water mark %u of %u runs lose packets; the fullest headroom "
        "was %.0f %% used\n",
        lost, tried, 100 * fullest);
    assert_true(tried >= 40);
    assert_true(lost == tried);
    assert_true(fullest > 0.5); // the computed headroom is a bound, not a luxury
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_lossless_drop),
        cmocka_unit_test(test_less_headroom_loses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// The computed headroom for all links in practical use: 1 m to 10 km of fibre (5 ns per metre), 25G
// to 800G, packets of 256 to 9000 bytes, one to three lossless classes. If the buffer admits it
// nothing is lost, even with a shared buffer so small that senders are paused all the time. With 10
// % less headroom than the maximum that a run used, the same run loses packets.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "tests/support/random.h"

#define SCENARIOS 240
#define SHARED 60000
#define PS_PER_M 5000

// The extreme lengths first, then lengths drawn uniformly on a logarithmic scale. Above SCENARIOS
// the two directions of a link have rates and lengths of their own.
static struct link_spec draw_link(struct rng *rng, uint64_t seed)
{
    static const uint64_t gbps[] = {25, 50, 100, 200, 400, 800};
    uint64_t rate = gbps[rng_below(rng, 6)];
    double metres = pow(10, 4 * rng_unit(rng));
    if (seed <= 4) {
        rate = seed & 1 ? 25 : 800;
        metres = seed & 2 ? 1 : 10000;
    }
    struct link_spec link = {.rate_bps = rate * UINT64_C(1000000000),
                             .delay_ps = (ps_t)(metres * PS_PER_M)};
    if (seed > SCENARIOS) {
        link.reverse_rate_bps = gbps[rng_below(rng, 6)] * UINT64_C(1000000000);
        link.reverse_delay_ps = (ps_t)(pow(10, 4 * rng_unit(rng)) * PS_PER_M);
    }
    return link;
}

// Senders to one rank, near and far ones if there are leaves. Each sends enough to fill its
// headroom several times.
static void draw(struct fixture *f, uint64_t seed)
{
    static const uint64_t mtus[] = {256, 512, 1024, 1448, 2048, 4096, 9000};
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 11);
    struct link_spec link = draw_link(&rng, seed);
    uint32_t senders = 2 + (uint32_t)rng_below(&rng, 4);
    if (seed % 4 == 0) // the trunks are the long links, and pauses spread
        fixture_leaf_spine(
            f, 2 * (senders + 1), senders + 1, 1,
            (struct link_spec){.rate_bps = link.rate_bps, .delay_ps = 500 * PS_PER_NS}, link);
    else
        fixture_switch(f, senders + 1, link.rate_bps, link.delay_ps);
    struct dim_spec *dim = &f->spec.dims[0];
    if (!dim->kind->fabric)
        dim->links[0] = link;
    roce_spec_of(&dim->transport)->mtu_bytes = mtus[rng_below(&rng, 7)];
    roce_spec_of(&dim->transport)->ack_interval = 1 + rng_below(&rng, 16);
    roce_spec_of(&dim->transport)->ack_class = (int)rng_below(&rng, 2);
    dim->sw.pfc.response_ps = (ps_t)rng_below(&rng, 2) * (ps_t)rng_below(&rng, 600 * PS_PER_NS);
    f->spec.seed = seed;
    uint32_t ranks = dim->kind->fabric ? 2 * (senders + 1) : senders + 1;
    uint64_t bytes = 200000 + 6 * bytes_in_ps(link.delay_ps, link.rate_bps);
    for (uint32_t i = 0; i < senders; i++)
        for (int twice = 0; twice < 2; twice++) // in two classes, if there are several
            fixture_flow(f, dim->kind->fabric && i % 2 ? 1 + i : ranks - 1 - i, 0, bytes / 2,
                         (ps_t)rng_below(&rng, 2 * PS_PER_US));
    random_classes(f, seed);
}

struct seen {
    uint64_t peak, pauses, dropped;
    double share;  // fraction of the computed headroom
    uint64_t full; // bytes of the largest packet
};

static struct seen run(uint64_t seed, uint64_t headroom_bytes)
{
    struct fixture f;
    struct seen seen = {0};
    draw(&f, seed);
    f.spec.dims[0].sw.pfc.headroom_bytes = headroom_bytes;
    f.spec.dims[0].sw.buffer_bytes = fixture_buffer_for(&f, SHARED);
    fixture_run(&f);
    for (size_t i = 0; i < f.result->n_switches; i++) {
        const struct switch_result *s = &f.result->switches[i];
        double share = (double)s->max_headroom_bytes / (double)s->headroom_limit_bytes;
        seen.peak = s->max_headroom_bytes > seen.peak ? s->max_headroom_bytes : seen.peak;
        seen.share = share > seen.share ? share : seen.share;
    }
    seen.full = f.sim->fabric.hosts.dims[0].full.frame;
    seen.pauses = f.result->pause_frames;
    seen.dropped = f.result->drops[DROP_HEADROOM];
    if (headroom_bytes == PARAM_AUTO &&
        (f.result->status != RUN_COMPLETED || f.result->dropped_packets > 0))
        fail_msg("seed %llu: status %d, %llu drops", (unsigned long long)seed,
                 (int)f.result->status, (unsigned long long)f.result->dropped_packets);
    fixture_free(&f);
    return seen;
}

static void test_computed_is_enough_and_less_is_not(void **state)
{
    (void)state;
    unsigned paused = 0, tried = 0, lost = 0;
    double fullest = 0, emptiest = 1;
    for (uint64_t seed = 1; seed <= SCENARIOS; seed++) {
        struct seen whole = run(seed, PARAM_AUTO);
        paused += whole.pauses > 0;
        fullest = whole.share > fullest ? whole.share : fullest;
        emptiest = whole.share < emptiest ? whole.share : emptiest;
        // Only with one switch does the shared buffer stay the same. A tenth must be more than a
        // packet.
        if (seed % 4 == 0 || whole.peak < 12 * whole.full)
            continue;
        tried++;
        lost += run(seed, whole.peak * 9 / 10).dropped > 0;
    }
    print_message("%u of %u paused; %.0f to %.0f %% of the headroom was used; with 10 %% less "
                  "than that %u of %u lose packets\n",
                  paused, SCENARIOS, 100 * emptiest, 100 * fullest, lost, tried);
    assert_int_equal(paused, SCENARIOS);
    assert_true(fullest > 0.9);
    assert_true(tried > SCENARIOS / 4);
    assert_int_equal(lost, tried);
}

// Links that differ by direction: the computed headroom is enough, and most of it is used at the
// worst.
static void test_directions(void **state)
{
    (void)state;
    unsigned paused = 0;
    double fullest = 0;
    for (uint64_t seed = SCENARIOS + 1; seed <= 2 * SCENARIOS; seed++) {
        struct seen whole = run(seed, PARAM_AUTO);
        paused += whole.pauses > 0;
        fullest = whole.share > fullest ? whole.share : fullest;
    }
    print_message("%u of %u paused; up to %.0f %% of the headroom was used\n", paused, SCENARIOS,
                  100 * fullest);
    assert_true(paused > SCENARIOS / 2);
    assert_true(fullest > 0.9 && fullest <= 1);
}

// A buffer smaller than the headroom is an error that names ports, rate and distance.
static void test_error_names_the_links(void **state)
{
    (void)state;
    struct fixture f;
    struct err err = {0};
    fixture_switch(&f, 32, UINT64_C(400000000000), 50 * PS_PER_US);
    f.spec.dims[0].sw.buffer_bytes = 32000000;
    fixture_flow(&f, 0, 1, 1000, 0);
    assert_null(sim_new(&f.spec, &err));
    assert_int_equal(err.n_errors, 1);
    assert_string_equal(err.items[0].text,
                        "switch.buffer: dim0.sw0: headroom 160 MB and reserve 128 KB exceed the "
                        "buffer 32.0 MB: 32 ports, up to 400 Gb/s over 50.0 us (10 km of "
                        "fibre), 1 lossless class: give it 193MB, or shorten the link "
                        "(link.delay), or let it drop packets: \"pfc\": {\"enabled\": false}");
    err_free(&err);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computed_is_enough_and_less_is_not),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_error_names_the_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

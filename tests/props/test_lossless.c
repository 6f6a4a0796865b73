// SPDX-License-Identifier: MIT
// Properties over random small fabrics with PFC: no packet of the lossless class is dropped, every
// byte is delivered once, and the headroom is not larger than necessary: with 10 % less than the
// maximum that a run used, the same run loses packets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/random.h"

#define SCENARIOS 320

static void check(struct fixture *f, uint64_t seed)
{
    const struct result *r = f->result;
    if (r->status != RUN_COMPLETED || r->dropped_packets || r->retransmitted || r->timeouts ||
        f->sim->fabric.hosts.counters.delivered_bytes != f->sim->workload.total_bytes)
        fail_msg("seed %llu: status %d, %llu drops, %llu of %llu bytes", (unsigned long long)seed,
                 (int)r->status, (unsigned long long)r->dropped_packets,
                 (unsigned long long)f->sim->fabric.hosts.counters.delivered_bytes,
                 (unsigned long long)f->sim->workload.total_bytes);
    for (uint32_t n = 0; n < f->sim->fabric.switches.n_switches + f->sim->fabric.switches.n_routers;
         n++) {
        const struct mmu *mmu = &f->sim->fabric.switches.nodes[n].mmu;
        assert_true(mmu->max_shared_used <= mmu->shared_bytes);
    }
}

static void test_no_lossless_drop(void **state)
{
    (void)state;
    unsigned paused = 0;
    for (uint64_t seed = 1; seed <= SCENARIOS; seed++) {
        struct fixture f;
        random_lossless(&f, seed);
        if (f.spec.dims[0].sw.buffer_bytes == 0)
            f.spec.dims[0].sw.buffer_bytes = fixture_buffer_for(&f, 60000);
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
        random_lossless(&f, seed);
        // With one switch the buffer can be set so that the shared buffer stays the same.
        if (f.spec.dims[0].sw.buffer_bytes != 0 || strcmp(f.spec.dims[0].kind->name, "switch") != 0)
            continue;
        f.spec.dims[0].sw.buffer_bytes = fixture_buffer_for(&f, 60000);
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
        random_lossless(&less, seed);
        less.spec.dims[0].sw.pfc.headroom_bytes = peak * 9 / 10;
        less.spec.dims[0].sw.buffer_bytes =
            fixture_buffer_for(&less, 60000); // the same shared buffer
        fixture_run(&less);
        lost += less.result->drops[DROP_HEADROOM] > 0;
        fixture_free(&less);
    }
    print_message(
        "10 %% below the high-water mark %u of %u runs lose packets; the fullest headroom was "
        "%.0f %% used\n",
        lost, tried, 100 * fullest);
    assert_true(tried >= 40);
    assert_true(lost == tried);
    assert_true(fullest > 0.5); // runs use a large part of the computed headroom
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_lossless_drop),
        cmocka_unit_test(test_less_headroom_loses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Orders of passes as published, and the most that are in flight.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "workload/gpu_memory/pipeline.h"

static void passes(const struct pipeline *p, uint32_t stage, char *out)
{
    *out = '\0';
    for (uint64_t k = 0; k < pipeline_passes(p); k++) {
        struct pipeline_pass pass = pipeline_pass_at(p, stage, k);
        sprintf(out + strlen(out), "%c%u%c", pass.backward ? 'b' : 'f', pass.micro_batch,
                p->chunks > 1 ? (char)('x' + pass.chunk) : ' ');
    }
}

// Narayanan et al., SC 2021, figures 3 and 4.
static void test_schedules(void **state)
{
    (void)state;
    char got[256];
    struct pipeline p = {PIPELINE_1F1B, 3, 1, 4};
    passes(&p, 0, got);
    assert_string_equal(got, "f0 f1 f2 b0 f3 b1 b2 b3 ");
    passes(&p, 2, got);
    assert_string_equal(got, "f0 b0 f1 b1 f2 b2 f3 b3 ");
    p.schedule = PIPELINE_GPIPE;
    passes(&p, 1, got);
    assert_string_equal(got, "f0 f1 f2 f3 b0 b1 b2 b3 ");
    p = (struct pipeline){PIPELINE_INTERLEAVED, 2, 2, 4};
    passes(&p, 0, got); // warm-up of 2 (p - i - 1) + (v - 1) p = 4
    assert_string_equal(got, "f0xf1xf0yf1yf2xb0yf3xb1yf2yb0xf3yb1xb2yb3yb2xb3x");
    passes(&p, 1, got);
    assert_string_equal(got, "f0xf1xf0yb0yf1yb1yf2xb0xf3xb1xf2yb2yf3yb3yb2xb3x");
}

// The most passes in flight, counted over all passes of a stage.
static void test_in_flight(void **state)
{
    static const struct pipeline all[] = {
        {PIPELINE_1F1B, 1, 1, 5},        {PIPELINE_1F1B, 4, 1, 8},
        {PIPELINE_1F1B, 4, 1, 2},        {PIPELINE_GPIPE, 4, 1, 8},
        {PIPELINE_INTERLEAVED, 4, 3, 8}, {PIPELINE_INTERLEAVED, 2, 2, 2},
        {PIPELINE_INTERLEAVED, 4, 1, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (uint32_t stage = 0; stage < all[i].stages; stage++) {
            uint64_t now = 0, most = 0;
            for (uint64_t k = 0; k < pipeline_passes(&all[i]); k++) {
                now = pipeline_pass_at(&all[i], stage, k).backward ? now - 1 : now + 1;
                most = now > most ? now : most;
            }
            assert_int_equal(now, 0);
            assert_int_equal(pipeline_in_flight(&all[i], stage), most);
        }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

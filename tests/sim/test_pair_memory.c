// SPDX-License-Identifier: MIT
// The memory of an idle queue pair: what messages between all pairs of ranks hold at the end of a
// run, beyond as many messages between neighbours. A rank sends one message at a time.
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)
#define RANKS 128
#define MESSAGES (RANKS * (RANKS - 1))
#define BYTES_A_PAIR 700

static struct raw_flow messages[MESSAGES];

// Bytes that are allocated when the run has ended. Message m of a rank goes to the rank after it by
// m + 1, or by 1.
static size_t held(bool all, uint32_t pairs)
{
    struct fixture f;
    memset(&f, 0, sizeof f);
    struct mallinfo2 before = mallinfo2();
    fixture_switch(&f, RANKS, LINE, PS_PER_US);
    fixture_cc(&f, "dcqcn", NULL, NULL);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint32_t src = i % RANKS, turn = i / RANKS;
        messages[i] = (struct raw_flow){.src = src,
                                        .dst = (src + 1 + (all ? turn : 0)) % RANKS,
                                        .bytes = 1000,
                                        .start_ps = turn * 20 * PS_PER_US};
    }
    fixture_flow(&f, 0, 1, 1, 0);
    f.lists[0].list =
        (struct flow_list){.flows = messages, .n = MESSAGES, .connections = FLOW_OF_PAIR};
    f.spec.report.flows_max = 0;
    fixture_run(&f);
    struct mallinfo2 after = mallinfo2();
    const struct hosts *hosts = &f.sim->fabric.hosts;
    assert_int_equal(hosts->flows.n, pairs);
    // tables in reserved address space, which malloc does not count
    size_t entry = sizeof *hosts->senders + sizeof *hosts->receivers + sizeof *hosts->flows.ids;
    fixture_free(&f);
    return after.uordblks + after.hblkhd - before.uordblks - before.hblkhd + pairs * entry;
}

static void test_idle_pairs(void **state)
{
    (void)state;
    if (mallinfo2().uordblks == 0)
        skip(); // another allocator, as that of AddressSanitizer
    size_t few = held(false, RANKS), many = held(true, MESSAGES);
    double each = (double)(many - few) / (MESSAGES - RANKS);
    print_message("%.0f bytes a pair\n", each);
    assert_true(each > sizeof(struct sender));
    if (each >= BYTES_A_PAIR)
        fail_msg("an idle queue pair takes %.0f bytes", each);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_idle_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

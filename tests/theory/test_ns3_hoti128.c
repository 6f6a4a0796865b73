// SPDX-License-Identifier: MIT
// 128 GPUs on 8 leaves and 8 spines at 200G, GPU i sends to GPU i + 8: the results of the
// HPCC simulator (ns-3) must lie between the smallest and the largest of ours over ECMP seeds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/ns3_lab.h"

#define RATE UINT64_C(200000000000)

static void hoti128(struct fixture *f)
{
    struct link_spec link = {.rate_bps = RATE, .delay_ps = 5 * PS_PER_US},
                     trunk = {.rate_bps = RATE, .delay_ps = 12500 * PS_PER_NS};
    fixture_leaf_spine(f, 128, 16, 8, link, trunk);
    for (unsigned i = 0; i < 128; i++)
        fixture_flow(f, i, (i + 8) % 128, 8000000, 0);
}

static void test_hoti128(void **state)
{
    (void)state;
    // ns-3 uses 3 * rate * delay per port: 375 KB towards hosts, 937.5 KB on trunks; here the mean
    // of a leaf.
    const struct ns3_setup setup = {"hoti128.json", hoti128, "1754000B", 562500,
                                    600000,         2400000, 600000};
    json_t *root = ns3_load(&setup);
    for (const char *const *policy = ns3_policies; *policy; policy++)
        if (strstr(*policy, "+ window") == NULL) // not run in ns-3
            ns3_check_range(&setup, root, *policy);
    json_decref(root);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hoti128)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

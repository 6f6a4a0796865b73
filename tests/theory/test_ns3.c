// SPDX-License-Identifier: MIT
// Comparison with measured runs of the ns-3 HPCC lineage (tests/data/ns3). 8:1 incast: there is a
// single path, so figures are compared one by one; mean FCT and largest queue within 3 and 10 %
// (none, window, DCTCP), 10 and 25 % (HPCC, DCQCN). All-to-all on a leaf-spine: the ECMP hash
// differs, so the ns-3 figures must lie inside our range over seeds. docs/models.md lists the
// remaining differences.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/ns3_lab.h"

#define RATE UINT64_C(100000000000)

static void incast8(struct fixture *f)
{
    fixture_switch(f, 9, RATE, PS_PER_US);
    for (unsigned i = 0; i < 8; i++)
        fixture_flow(f, i, 8, 1000000, 0);
}

static void a2a16(struct fixture *f)
{
    struct link_spec link = {.rate_bps = RATE, .delay_ps = PS_PER_US};
    fixture_leaf_spine(f, 16, 4, 4, link, link);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < 16; j++)
            if (i != j)
                fixture_flow(f, i, j, 1000000, 0);
}

static void test_incast8(void **state)
{
    (void)state;
    const struct ns3_setup setup = {"incast8.json", incast8, "52000B", 37500,
                                    400000,         1600000, 300000};
    json_t *root = ns3_load(&setup);
    for (const char *const *policy = ns3_policies; *policy; policy++) {
        bool loose = strcmp(*policy, "hpcc") == 0 || strncmp(*policy, "dcqcn", 5) == 0;
        struct ns3_figures o = ns3_ours(&setup, *policy, 1), t = ns3_theirs(root, *policy);
        print_message("incast8 %-26s mean FCT %.2f us, theirs %.2f (%+.2f %%); largest queue "
                      "%.1f KB, theirs %.1f (%+.1f %%)\n",
                      *policy, o.mean_us, t.mean_us, 100 * (o.mean_us / t.mean_us - 1),
                      o.max_queue_kb, t.max_queue_kb, 100 * (o.max_queue_kb / t.max_queue_kb - 1));
        assert_true(fabs(o.mean_us / t.mean_us - 1) < (loose ? 0.10 : 0.03));
        assert_true(fabs(o.max_queue_kb / t.max_queue_kb - 1) < (loose ? 0.25 : 0.10));
    }
    json_decref(root);
}

static void test_a2a16(void **state)
{
    (void)state;
    const struct ns3_setup setup = {"a2a16.json", a2a16, "104000B", 37500, 400000, 1600000, 300000};
    json_t *root = ns3_load(&setup);
    for (const char *const *policy = ns3_policies; *policy; policy++)
        ns3_check_range(&setup, root, *policy);
    json_decref(root);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incast8),
        cmocka_unit_test(test_a2a16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

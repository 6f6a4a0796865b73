// SPDX-License-Identifier: MIT
// Against measured runs of the ns-3 HPCC lineage (none, window with k = 1, dctcp), where their
// files are at hand: COLLWIRE_NS3 names the folder, else the test skips. Wire bytes as that model
// counts them; DCTCP as it runs there: preset hpcc_sim, a step at 300 KB, CE echoed on every ACK,
// and the window of the network's largest BDP, scaled with the rate.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

struct measured {
    double mean_us, max_us, max_queue_kb;
};

static json_t *load(const char *name)
{
    const char *dir = getenv("COLLWIRE_NS3");
    char path[4096];
    if (!dir)
        return NULL;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return json_load_file(path, 0, NULL);
}

static struct measured theirs(const json_t *root, const char *policy)
{
    const json_t *p = json_object_get(json_object_get(root, "policies"), policy);
    return (struct measured){json_number_value(json_object_get(p, "mean_fct_us")),
                             json_number_value(json_object_get(p, "max_fct_us")),
                             json_number_value(json_object_get(p, "maxq_kb"))};
}

// Settings of that tree (see docs/ns3.md).
static void settings(struct fixture *f, const char *policy, const char *window)
{
    struct dim_spec *dim = &f->spec.dims[0];
    dim->transport.mtu_bytes = 1000;
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_data = 36;
    dim->transport.overhead_ack = 48;
    dim->transport.qp = QP_PER_MESSAGE;
    dim->sw.buffer_bytes = 32 << 20;
    dim->sw.reserve_bytes = 4096;
    dim->sw.pfc.xon_offset_bytes = 3072;
    dim->sw.pfc.headroom_bytes = 37500;
    dim->sw.ecn.mode = ECN_OFF;
    char bytes[64];
    if (strcmp(policy, "window") == 0) {
        snprintf(bytes, sizeof bytes, "bytes=%s", window);
        fixture_cc(f, policy, NULL, bytes, NULL);
    } else if (strcmp(policy, "dctcp") == 0) {
        snprintf(bytes, sizeof bytes, "window_bytes=%s", window);
        fixture_cc(f, policy, "hpcc_sim", bytes, NULL);
        dim->sw.ecn = (struct ecn_spec){
            .mode = ECN_ON, .kmin_bytes = 300000, .kmax_bytes = 300000, .pmax = 1};
        dim->transport.cnp = CNP_PER_ACK;
    } else
        fixture_cc(f, policy, NULL, NULL);
}

static struct measured ours(struct fixture *f)
{
    fixture_run(f);
    assert_int_equal(f->result->status, RUN_COMPLETED);
    struct measured m = {f->result->summary.fct_ns.mean / 1e3, f->result->summary.fct_ns.max / 1e3,
                         (double)f->result->max_queue_bytes / 1e3};
    fixture_free(f);
    return m;
}

static void test_incast8(void **state)
{
    (void)state;
    static const char *const policies[] = {"none", "window", "dctcp"};
    json_t *root = load("incast8.json");
    if (!root)
        skip();
    for (int p = 0; p < 3; p++) {
        struct fixture f;
        fixture_switch(&f, 9, RATE, PS_PER_US);
        settings(&f, policies[p], "52000");
        for (unsigned i = 0; i < 8; i++)
            fixture_flow(&f, i, 8, 1000000, 0);
        struct measured o = ours(&f), t = theirs(root, policies[p]);
        print_message("incast8 %-6s mean FCT %.2f us, theirs %.2f (%+.2f %%); largest queue %.1f "
                      "KB, theirs %.1f (%+.1f %%)\n",
                      policies[p], o.mean_us, t.mean_us, 100 * (o.mean_us / t.mean_us - 1),
                      o.max_queue_kb, t.max_queue_kb, 100 * (o.max_queue_kb / t.max_queue_kb - 1));
        assert_true(fabs(o.mean_us / t.mean_us - 1) < 0.03);
        assert_true(fabs(o.max_queue_kb / t.max_queue_kb - 1) < 0.10);
    }
    json_decref(root);
}

struct range {
    double low, high;
};

static void widen(struct range *r, double x)
{
    r->low = x < r->low ? x : r->low;
    r->high = x > r->high ? x : r->high;
}

static void test_a2a16_inside_our_range(void **state)
{
    (void)state;
    static const char *const policies[] = {"none", "window", "dctcp"};
    json_t *root = load("a2a16.json");
    if (!root)
        skip();
    for (int p = 0; p < 3; p++) {
        struct range mean = {1e300, 0}, max = {1e300, 0}, queue = {1e300, 0};
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct fixture f;
            struct link_spec link = {RATE, PS_PER_US};
            fixture_leaf_spine(&f, 16, 4, 4, link, link);
            f.spec.seed = seed;
            settings(&f, policies[p], "104000");
            for (unsigned i = 0; i < 16; i++)
                for (unsigned j = 0; j < 16; j++)
                    if (i != j)
                        fixture_flow(&f, i, j, 1000000, 0);
            struct measured o = ours(&f);
            widen(&mean, o.mean_us);
            widen(&max, o.max_us);
            widen(&queue, o.max_queue_kb);
        }
        struct measured t = theirs(root, policies[p]);
        print_message(
            "a2a16 %-6s mean FCT %.1f..%.1f us, theirs %.1f; max %.1f..%.1f, theirs %.1f; "
            "largest queue %.0f..%.0f KB, theirs %.0f\n",
            policies[p], mean.low, mean.high, t.mean_us, max.low, max.high, t.max_us, queue.low,
            queue.high, t.max_queue_kb);
        assert_true(t.mean_us >= mean.low && t.mean_us <= mean.high);
        assert_true(t.max_us >= max.low && t.max_us <= max.high);
        assert_true(t.max_queue_kb >= queue.low && t.max_queue_kb <= queue.high);
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incast8),
        cmocka_unit_test(test_a2a16_inside_our_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// MRC over several planes: without failures the time of a permutation is that of its bytes on all
// planes; a link that fails, of which no switch learns, costs a few timeouts, and not more as time
// goes on; when it is back, probes bring it into use again.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/fixture.h"
#include "transport/uec/uec_spec.h"

#define RATE UINT64_C(100000000000)
enum { RANKS = 16, PER_LEAF = 4, SPINES = 4, PLANES = 4, MTU = 4096 };
#define MESSAGE UINT64_C(16000000)

static struct fixture f;

static double ps(double bytes) { return bytes * 8 * 1e12 / (double)RATE; }

static void set(const char *key, const char *value)
{
    struct transport_spec *t = &f.spec.dims[0].transport;
    struct param param = param_find(t->ops->params, t->ops->n_params, key);
    struct err err = {0};
    assert_non_null(param.name);
    assert_int_equal(param_set(&param, t->own, value, key, &err), 0);
}

static void run(const char *spray, uint64_t bytes, ps_t down_ps, ps_t up_ps)
{
    extern const struct transport_ops mrc_transport;
    struct link_spec link = {.rate_bps = RATE, .delay_ps = 500 * PS_PER_NS};
    fixture_leaf_spine(&f, RANKS, PER_LEAF, SPINES, link, link);
    struct dim_spec *dim = &f.spec.dims[0];
    struct param planes = param_find(dim->kind->params, dim->kind->n_params, "planes");
    struct err err = {0};
    assert_int_equal(param_set(&planes, dim->params, "4", "planes", &err), 0);
    transport_spec_init(&dim->transport, &mrc_transport);
    fixture_cc(&f, "nscc", "mrc", NULL);
    dim->transport.stripe = true;
    dim->sw.pfc.enabled = false;
    dim->sw.routing.kind = ROUTING_SOURCE;
    dim->sw.routing.source = SOURCE_ENTROPY;
    dim->sw.trimming.enabled = true;
    dim->sw.queue_limit.bytes = 60000;
    set("spray", spray);
    set("entropies", "32");
    set("rto", "30us");
    for (uint32_t r = 0; r < RANKS; r++)
        fixture_flow(&f, r, (r + RANKS / 2) % RANKS, bytes, 0);
    f.jobs[0].cls = 0; // lossy
    if (down_ps >= 0) {
        f.faults[0] = fixture_fault("leaf0->spine0");
        f.faults[0].down_ps = down_ps;
        f.faults[0].up_ps = up_ps;
        f.faults[0].detect_ps = PS_NEVER;
        f.spec.faults = f.faults;
        f.spec.n_faults = 1;
    }
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
}

static const struct port_result *port(const char *name)
{
    for (size_t i = 0; i < f.result->n_ports; i++)
        if (strcmp(f.result->ports[i].at, name) == 0)
            return &f.result->ports[i];
    fail_msg("no port %s", name);
    return NULL;
}

// The bytes of a message on one plane, with headers, take at least this long.
static double bound(void)
{
    const struct transport_dim *dim = &f.sim->fabric.hosts.dims[0];
    return ps((double)MESSAGE / (double)PLANES * dim->full.wire / (double)MTU);
}

static void test_without_failures(void **state)
{
    (void)state;
    run("mrc", MESSAGE, -1, PS_NEVER);
    double time = (double)f.result->sim_time_ps;
    assert_true(time >= bound() && time < 1.15 * bound());
    for (uint32_t plane = 0; plane < PLANES; plane++) { // every plane carries the same
        static const char *const at[] = {"rank0->leaf0", "rank0->leaf0.p1", "rank0->leaf0.p2",
                                         "rank0->leaf0.p3"};
        assert_true(fabs((double)port(at[plane])->bytes / (double)port(at[0])->bytes - 1) < 0.03);
    }
    fixture_free(&f);
}

// One of the four uplinks of leaf 0 in a plane fails. A flow on that plane loses what it has on
// that link, and each entropy that leads there; then it uses the other three, so further bytes take
// 4/3 of the time (20 % are for NSCC, whose windows follow the queues at these), and nothing is
// lost but probes. Spraying that knows no losses goes on losing a quarter.
static void test_failed_link(void **state)
{
    (void)state;
    double time[2];
    uint64_t lost[2];
    for (uint64_t n = 1; n <= 2; n++) {
        run("mrc", n * MESSAGE, 50 * PS_PER_US, PS_NEVER);
        time[n - 1] = (double)f.result->sim_time_ps;
        lost[n - 1] = f.result->dropped_packets - f.result->uec->probes;
        if (n == 1)
            fixture_free(&f);
    }
    assert_true(time[1] - time[0] < 1.2 * 4 / 3 * bound());
    assert_true(lost[0] > 0);
    assert_int_equal(lost[1], lost[0]);
    fixture_free(&f);
    run("oblivious", MESSAGE, 50 * PS_PER_US, PS_NEVER);
    assert_true((double)f.result->sim_time_ps > 4 * time[0]);
    fixture_free(&f);
}

// A link that is down for a tenth of the time is used again.
static void test_repaired_link(void **state)
{
    (void)state;
    run("mrc", MESSAGE, 50 * PS_PER_US, 100 * PS_PER_US);
    double used = (double)port("leaf0->spine0")->bytes, others = 0;
    others += (double)port("leaf0->spine1")->bytes + (double)port("leaf0->spine2")->bytes;
    assert_true(used > 0.6 * others / 2);
    assert_true(f.result->uec->probes > 0); // probes
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_failures),
        cmocka_unit_test(test_failed_link),
        cmocka_unit_test(test_repaired_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Tests of INT records in both encodings and of PINT's average and digest, against values computed
// by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "switch/telemetry.h"
#include "tests/support/roce_lab.h"

#define G100 UINT64_C(100000000000)

static struct int_hop record(uint64_t tx_bytes, uint64_t queue, enum int_mode mode, ps_t now)
{
    struct port ports[2] = {{0}, {.tx_bytes = tx_bytes}};
    struct network net = {.ports = ports};
    struct int_hop exact = telemetry_exact(&net, 1, G100, queue, now);
    return mode == INT_HPCC64 ? telemetry_hpcc64(exact) : exact;
}

static void test_exact(void **state)
{
    (void)state;
    struct int_hop h = record(1234567890123, 4000000000, INT_EXACT, 98765432109876);
    assert_int_equal(h.t_ps, 98765432109876);
    assert_int_equal(h.tx_bytes, 1234567890123);
    assert_int_equal(h.queue_bytes, 4000000000);
    assert_int_equal(h.rate_bps, G100);
    assert_int_equal(h.port, 1);
    assert_false(h.wraps);
}

static void test_hpcc64(void **state)
{
    (void)state;
    struct int_hop h = record(1000, 799, INT_HPCC64, 1234567);
    assert_int_equal(h.t_ps, 1234000);       // whole ns
    assert_int_equal(h.tx_bytes, 7 * 128);   // 1000 / 128 = 7.8
    assert_int_equal(h.queue_bytes, 9 * 80); // 799 / 80 = 9.99
    assert_true(h.wraps);
    h = record((UINT64_C(128) << 20) + 200, 20000000, INT_HPCC64, (ps_t)(16777216 + 5) * 1000 + 1);
    assert_int_equal(h.t_ps, 5000);
    assert_int_equal(h.tx_bytes, 128);
    assert_int_equal(h.queue_bytes, 131071 * 80); // 17 bits
}

static void test_differences(void **state)
{
    (void)state;
    struct int_hop a = record(100, 0, INT_EXACT, 1000), b = record(1100, 0, INT_EXACT, 51000);
    assert_int_equal(int_hop_time_since(&b, &a), 50000);
    assert_int_equal(int_hop_bytes_since(&b, &a), 1000);
    // Both numbers wrap around in between: 20 ns, 3 * 128 bytes.
    a = record((UINT64_C(128) << 20) - 128, 0, INT_HPCC64, (ps_t)(16777216 - 10) * 1000);
    b = record((UINT64_C(128) << 20) + 256, 0, INT_HPCC64, (ps_t)(16777216 + 10) * 1000);
    assert_int_equal(int_hop_time_since(&b, &a), 20000);
    assert_int_equal(int_hop_bytes_since(&b, &a), 384);
}

static void test_digest_values(void **state)
{
    (void)state;
    assert_true(pint_value(PINT_ONE) == 1);
    assert_true(fabs(pint_value(PINT_ONE + 1) - 1.05) < 1e-15);
    assert_true(fabs(pint_value(PINT_ONE + 2) - 1.1025) < 1e-15);
    assert_true(fabs(pint_value(PINT_ONE - 1) - 1 / 1.05) < 1e-15);
    for (unsigned d = 1; d < PINT_MAX; d++)
        assert_true(fabs(pint_value(d + 1) / pint_value(d) - 1.05) < 1e-12);
}

// U = (T - dt)/T U + q dt/(B T^2) + bytes/(B T), with B T = 125 kB at T = 10 us.
static void test_average(void **state)
{
    (void)state;
    struct pint_port p = {.rng = rng_init(1, RNG_PINT, 0)};
    ps_t rtt = 10 * PS_PER_US;
    telemetry_pint(&p, 25000, G100, 0, rtt, 2 * PS_PER_US); // 25 kB of 125
    assert_true(fabs(p.util - 0.2) < 1e-12);
    telemetry_pint(&p, 50000, G100, 62500, rtt, 4 * PS_PER_US); // .8 * .2 + .5 * .2 + .2
    assert_true(fabs(p.util - 0.46) < 1e-12);
    // After 40 us the old average has no weight; a quarter of the 100 kB sent in that time counts,
    // and the queue counts fully.
    telemetry_pint(&p, 150000, G100, 62500, rtt, 44 * PS_PER_US);
    assert_true(fabs(p.util - (0.5 + 0.2)) < 1e-12);
}

// Random rounding keeps the mean: the mean of 20,000 digests of one utilization is within 0.1 %.
static void test_digest_mean(void **state)
{
    (void)state;
    struct pint_port p = {.rng = rng_init(7, RNG_PINT, 3)};
    double sum = 0, util = 1.02;
    unsigned low = 0, high = 0, n = 20000;
    for (unsigned i = 0; i < n; i++) {
        // With no history, after a whole RTT: U = bytes / (B T).
        p = (struct pint_port){.rng = p.rng};
        uint8_t d =
            telemetry_pint(&p, (uint64_t)(125000 * util), G100, 0, 10 * PS_PER_US, 10 * PS_PER_US);
        assert_true(d == PINT_ONE || d == PINT_ONE + 1);
        low += d == PINT_ONE;
        high += d == PINT_ONE + 1;
        sum += pint_value(d);
    }
    assert_true(low > 0 && high > 0);
    assert_true(fabs(sum / n / util - 1) < 0.001);
    assert_int_equal(telemetry_pint(&p, 0, G100, UINT32_MAX, 10 * PS_PER_US, PS_PER_S), PINT_MAX);
}

// Every meta-data slot is freed, whether the packet was lost, out of order, acknowledged or not.
static bool lose_some(struct lab *l, struct packet *p)
{
    (void)l;
    bool lost = lab_is_data(p) && !lab_is_retx(p) && lab_psn(l, p) % 17 == 5;
    if (lost)
        packet_end(&l->sim->fabric.net, p);
    return lost;
}

static void test_slots_come_back(void **state)
{
    (void)state;
    static struct lab l;
    struct roce_spec *t = lab_begin(&l, 3, NULL);
    fixture_cc(&l.f, "hpcc", NULL, NULL);
    t->ack_interval = 3;
    l.lose = lose_some;
    lab_build(&l);
    lab_post(&l, 0, 2, 300000, 0);
    lab_post(&l, 1, 2, 300000, 1);
    lab_run(&l);
    assert_true(l.sent_ps[0] > 0 && l.sent_ps[1] > 0);
    assert_int_equal(l.sim->fabric.net.meta.n_used, 0);
    assert_true(l.sim->fabric.net.meta.n_slots > 0);
    lab_end(&l);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),           cmocka_unit_test(test_hpcc64),
        cmocka_unit_test(test_differences),     cmocka_unit_test(test_digest_values),
        cmocka_unit_test(test_average),         cmocka_unit_test(test_digest_mean),
        cmocka_unit_test(test_slots_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

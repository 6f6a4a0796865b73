// SPDX-License-Identifier: MIT
// Static windows, N flows into one port: each flow always has its window, rounded up to packets, in
// flight; the path holds one BDP, so the queue is N ceil(W/mtu) packets less one BDP, in wire
// bytes. It is constant except for the packet in transmission: tolerance 1.5 packets.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

static void check(double gbps, uint32_t mtu, unsigned flows, const char *k)
{
    struct fixture f;
    static char place[32];
    static const char *at[] = {place};
    fixture_switch(&f, flows + 1, (uint64_t)(gbps * 1e9), PS_PER_US);
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = mtu;
    f.spec.dims[0].transport.start_jitter_ps = PS_PER_US;
    f.spec.dims[0].sw.buffer_bytes = 1 << 30; // large enough to avoid PFC
    fixture_cc(&f, "window", NULL, k, NULL);
    for (unsigned i = 0; i < flows; i++)
        fixture_flow(&f, i, flows, UINT64_C(1000000000000), 0);
    f.spec.duration_ps = PS_PER_MS;
    snprintf(place, sizeof place, "*->rank%u", flows);
    f.spec.report.sample_ps = PS_PER_US;
    f.spec.report.sample_at = at;
    f.spec.report.n_sample_at = 1;
    fixture_run(&f);
    const struct series *s = f.result->series;
    const struct sender *sender = f.sim->hosts.senders[0];
    double wire = sender_env(sender)->full_wire_bytes, mean = 0;
    double bdp = gbps * 1e3 / 8 * (double)sender_env(sender)->base_rtt_ps * 1e-6;
    double packets = ceil((double)sender->cc->cwnd_bytes / mtu),
           expected = flows * packets * wire - bdp;
    size_t from = s->n_samples / 2;
    for (size_t i = from; i < s->n_samples; i++)
        // convert frame bytes of the queue to wire bytes
        mean += s->lines[SERIES_QUEUE][0].values[i] * wire / (wire - 20) /
                (double)(s->n_samples - from);
    print_message("%3.0fG MTU %4u, %2u windows of %3.0f packets: queue %.2f KB, theory %.2f KB\n",
                  gbps, mtu, flows, packets, mean / 1e3, expected / 1e3);
    assert_true(fabs(mean - expected) < 1.5 * wire);
    fixture_free(&f);
}

static void test_queue(void **state)
{
    (void)state;
    static const double rates[] = {100, 400, 800};
    static const uint32_t mtus[] = {1000, 4096};
    for (size_t i = 0; i < 6; i++) {
        check(rates[i / 2], mtus[i % 2], 8, "k=1.1");
        check(rates[i / 2], mtus[i % 2], 32, "k=0.5");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

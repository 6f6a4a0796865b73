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
    const struct sender *sender = f.sim->fabric.hosts.senders[0];
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

// A flow alone fills its line however many packets an ACK covers: beside what is on its way, its
// window has room for what the receiver holds. The wire carries mtu of each full_wire_bytes; the
// message ends an RTT after its last byte, and HPCC aims at 95 % of the line.
static void check_ack_interval(const char *policy, double share, unsigned interval)
{
    struct fixture f;
    const uint64_t rate = UINT64_C(400000000000), bytes = 20000000;
    fixture_switch(&f, 2, rate, PS_PER_US);
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 4096;
    roce_spec_of(&f.spec.dims[0].transport)->ack_interval = interval;
    fixture_cc(&f, policy, NULL, NULL);
    fixture_flow(&f, 0, 1, bytes, 0);
    fixture_run(&f);
    const struct cc_env *env = sender_env(f.sim->fabric.hosts.senders[0]);
    double wire_ps = (double)bytes * 8e12 / (double)rate * env->full_wire_bytes / env->mtu_bytes;
    double least_ps = wire_ps / share + (double)env->base_rtt_ps;
    double took_ps = (double)f.result->flows[0].fct_ps;
    print_message("%-14s an ACK for %2u packets: %.1f us, theory %.1f us\n", policy, interval,
                  took_ps / 1e6, least_ps / 1e6);
    assert_true(fabs(took_ps - least_ps) < 0.01 * least_ps);
    fixture_free(&f);
}

static void test_ack_interval(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        double share;
    } policies[] = {{"window", 1}, {"dctcp", 1}, {"hpcc", 0.95}, {"powertcp", 1}};
    static const unsigned intervals[] = {1, 4, 16, 64};
    for (size_t i = 0; i < 16; i++)
        check_ack_interval(policies[i / 4].policy, policies[i / 4].share, intervals[i % 4]);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_ack_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

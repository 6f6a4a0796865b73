// SPDX-License-Identifier: MIT
// The equilibrium of n PowerTCP flows that are configured to expect N: a queue of n/N
// bandwidth-delay products, each flow at W = (BDP + queue)/n (Addanki et al., NSDI 2022, section 3:
// power 1 + queue/BDP, and W (1 - 1/power) = beta = BDP/N). Both policies are tested on a slotted
// link without a transport, with a tolerance of 3 % and upwards half a packet per flow, since bytes
// in flight are the window rounded up. Both are also tested in the complete simulator, with
// synchronized and unsynchronized flows, from 25G to 800G, against the equilibrium that includes
// that half packet (cc/powertcp_common.h): with L the wire bytes of a packet and r = n L/(2 BDP),
// the queue is x BDPs with
//   x^2 + x (1 - n/N - r) - n/N = 0.
// Tolerance 5 %: for windows of a few packets the mean rounding differs from half a packet.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/cc_lab.h"
#include "tests/support/fixture.h"

#define G UINT64_C(1000000000)

// ---- a slotted link ----

// A link of 100G that carries a packet of 1000 B per slot of 80 ns after one queue; the base RTT of
// all flows is LOOP slots.
enum { LOOP = 250, RING = 4096, FLOWS = 16, PACKET = 1000 };
#define SLOT (80 * PS_PER_NS)

struct slot_packet {
    unsigned flow;
    ps_t sent_ps;
    struct int_hop hop;
};

struct slotted {
    struct cc_flow *flows[FLOWS];
    uint64_t una[FLOWS], nxt[FLOWS];
    double next_slot[FLOWS]; // pacing
    unsigned n;
    struct slot_packet arriving[RING][FLOWS], back[RING], queue[RING * FLOWS];
    unsigned n_arriving[RING];
    bool has_back[RING];
    uint64_t head, tail; // of the queue
};

static void slot_ack(struct slotted *s, const struct slot_packet *p, ps_t now)
{
    unsigned i = p->flow;
    s->una[i] += PACKET;
    struct cc_ack ack = {.now_ps = now,
                         .rtt_ps = now - p->sent_ps,
                         .seq = s->una[i],
                         .snd_una = s->una[i],
                         .snd_nxt = s->nxt[i],
                         .acked_bytes = PACKET,
                         .inflight_bytes = s->nxt[i] - s->una[i],
                         .hops = &p->hop,
                         .n_hops = 1};
    cc_flow_ack(s->flows[i], &ack);
}

static void slot_send(struct slotted *s, unsigned t)
{
    unsigned at = (t + LOOP / 2) % RING;
    for (unsigned k = 0; k < s->n; k++) {
        unsigned i = (t + k) % s->n;
        const struct cc *cc = s->flows[i]->cc;
        if (s->nxt[i] - s->una[i] >= cc->cwnd_bytes || s->next_slot[i] > t)
            continue;
        s->nxt[i] += PACKET;
        s->arriving[at][s->n_arriving[at]++] = (struct slot_packet){.flow = i, .sent_ps = t * SLOT};
        double from = s->next_slot[i] > t - 1.0 ? s->next_slot[i] : t;
        s->next_slot[i] = from + 100e9 / (double)cc->rate_bps;
    }
}

static void slot_run(struct slotted *s, unsigned t)
{
    unsigned here = t % RING, back = (t + LOOP - LOOP / 2) % RING;
    if (s->has_back[here])
        slot_ack(s, &s->back[here], t * SLOT);
    s->has_back[here] = false;
    slot_send(s, t);
    for (unsigned k = 0; k < s->n_arriving[here]; k++)
        s->queue[s->tail++ % (RING * FLOWS)] = s->arriving[here][k];
    s->n_arriving[here] = 0;
    if (s->head == s->tail)
        return;
    struct slot_packet p = s->queue[s->head++ % (RING * FLOWS)];
    p.hop = (struct int_hop){.t_ps = t * SLOT,
                             .tx_bytes = (s->head - 1) * PACKET,
                             .rate_bps = 100 * G,
                             .queue_bytes = (uint32_t)(s->tail - s->head) * PACKET,
                             .port = 1};
    s->back[back] = p;
    s->has_back[back] = true;
}

static void test_on_a_slotted_link(void **state)
{
    (void)state;
    static const char *const policies[] = {"powertcp", "powertcp_delay"};
    static const struct {
        unsigned n;
        const char *expected_flows;
    } cases[] = {{2, "10"}, {3, "10"}, {8, "10"}, {16, "10"}, {2, "100"}, {16, "100"}, {5, "4"}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        unsigned n = cases[i / 2].n, slots = 200000;
        const char *expected = cases[i / 2].expected_flows;
        struct cc_preset_value changes[] = {{"expected_flows", expected}, CC_END};
        struct cc_env env = {.line_bps = 100 * G,
                             .base_rtt_ps = LOOP * SLOT,
                             .mtu_bytes = PACKET,
                             .full_wire_bytes = PACKET};
        struct slotted *s = calloc(1, sizeof *s);
        s->n = n;
        for (unsigned k = 0; k < n; k++)
            s->flows[k] = cc_flow_new(policies[i % 2], NULL, &env, changes);
        double mean = 0, equilibrium = (double)LOOP * (double)n / atof(expected);
        for (unsigned t = 0; t < slots; t++) {
            slot_run(s, t);
            if (t >= slots / 2)
                mean += (double)(s->tail - s->head) / (slots - slots / 2);
        }
        print_message("%-14s %2u flows of %3s: queue of %5.1f packets, theory %5.1f\n",
                      policies[i % 2], n, expected, mean, equilibrium);
        assert_true(mean > equilibrium * 0.97);
        assert_true(mean < equilibrium * 1.03 + n / 2.0);
        for (unsigned k = 0; k < n; k++)
            cc_flow_free(s->flows[k]);
        free(s);
    }
}

// ---- the simulator ----

struct point {
    unsigned flows;
    double gbps, delay_us; // two links on the path
    uint32_t mtu_bytes;
    const char *expected_flows;
    double jitter_us;
};

static double equilibrium_bdps(double share, double r)
{
    double b = share + r - 1;
    return (b + sqrt(b * b + 4 * share)) / 2;
}

static void check(const char *policy, const struct point *pt)
{
    struct fixture f;
    fixture_switch(&f, pt->flows + 1, (uint64_t)(pt->gbps * 1e9), (ps_t)(pt->delay_us * 1e6));
    struct dim_spec *dim = &f.spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = pt->mtu_bytes;
    dim->transport.overhead = OVERHEAD_CUSTOM; // so that wire, frame and payload bytes are equal
    dim->transport.overhead_data = 0;
    dim->transport.overhead_ack = 48;
    dim->transport.start_jitter_ps = (ps_t)(pt->jitter_us * 1e6);
    dim->sw.buffer_bytes = 1 << 30; // large enough to avoid PFC in the first windows
    char expected[32];
    snprintf(expected, sizeof expected, "expected_flows=%s", pt->expected_flows);
    fixture_cc(&f, policy, NULL, expected, NULL);
    for (unsigned i = 0; i < pt->flows; i++)
        fixture_flow(&f, i, pt->flows, UINT64_C(1000000000000), 0);
    f.spec.duration_ps = 10 * PS_PER_MS;
    static char place[32];
    static const char *at[] = {place};
    snprintf(place, sizeof place, "*->rank%u", pt->flows);
    f.spec.report.sample_ps = PS_PER_US;
    f.spec.report.sample_at = at;
    f.spec.report.n_sample_at = 1;
    fixture_run(&f);

    const struct series *s = f.result->series;
    size_t from = s->n_samples / 2;
    double n = (double)(s->n_samples - from), mean = 0, sum = 0, squares = 0;
    for (size_t i = from; i < s->n_samples; i++)
        mean += s->lines[SERIES_QUEUE][0].values[i] / n;
    for (unsigned q = 0; q < pt->flows; q++) {
        double rate = 0;
        for (size_t i = from; i < s->n_samples; i++)
            rate += s->lines[SERIES_RATE][q].values[i] / n;
        sum += rate;
        squares += rate * rate;
    }
    double jain = sum * sum / (pt->flows * squares), bytes_per_us = pt->gbps * 1e3 / 8;
    const struct cc_env *env =
        sender_env(f.sim->fabric.hosts.senders[0]); // INT makes packets longer
    double wire = env->full_wire_bytes, bdp = (double)env->base_rtt_ps * 1e-6 * bytes_per_us;
    double equilibrium =
        bdp * equilibrium_bdps(pt->flows / atof(pt->expected_flows), pt->flows * wire / 2 / bdp);
    print_message("%-14s MTU %4u, %2u flows of %3s at %3.0fG: queue of %7.1f KB, theory %7.1f "
                  "KB (%+.1f %%), Jain %.4f\n",
                  policy, pt->mtu_bytes, pt->flows, pt->expected_flows, pt->gbps, mean / 1e3,
                  equilibrium / 1e3, 100 * (mean / equilibrium - 1), jain);
    assert_int_equal(f.result->pause_frames, 0);
    assert_true(fabs(mean / equilibrium - 1) < 0.05);
    // Synchronized flows always send in the same order, and with telemetry the first one of a round
    // measures least.
    bool by_telemetry = strcmp(policy, "powertcp") == 0;
    assert_true(jain > (by_telemetry && pt->jitter_us == 0 ? 0.97 : 0.99));
    fixture_free(&f);
}

static void test_in_the_simulator(void **state)
{
    (void)state;
    static const struct point points[] = {
        {2, 100, 5, 1000, "10", 0},  {2, 100, 5, 1000, "10", 20},  {4, 25, 5, 1000, "10", 20},
        {8, 100, 5, 1000, "10", 0},  {8, 100, 5, 1000, "10", 20},  {16, 400, 2, 4096, "10", 3},
        {8, 100, 5, 1000, "100", 0}, {32, 100, 5, 1000, "100", 7}, {8, 800, 5, 4096, "40", 10},
        {16, 100, 1, 1000, "10", 0}, {16, 100, 1, 4096, "10", 0},  {4, 400, 1, 1000, "10", 3},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        check("powertcp", &points[i]);
        if (i < 9) // with three packets per window the resolution of its RTTs is too coarse
            check("powertcp_delay", &points[i]);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_a_slotted_link),
        cmocka_unit_test(test_in_the_simulator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// NICs that are not ideal, against closed forms: the rate of the bus in each direction and in both,
// packet rates, contexts of queue pairs, doorbells and completions, and the pauses of a slow
// receiver.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/fabric/fabric_internal.h"
#include "tests/support/fixture.h"
#include "transport/nic/adapter.h"

#define RATE UINT64_C(100000000000)
#define DELAY (500 * PS_PER_NS)
enum { MTU = 4096, HEADERS = 64, DATA = MTU + HEADERS, ACK = 64, N = 400 };

static struct fixture f;

static double ps(double bytes) { return bytes * 8 * 1e12 / (double)RATE; }

static void custom_sizes(void)
{
    struct dim_spec *dim = &f.spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = MTU;
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_data = HEADERS;
    dim->transport.overhead_ack = ACK;
}

static struct nic_spec *begin(uint32_t ranks)
{
    fixture_switch(&f, ranks, RATE, DELAY);
    custom_sizes();
    return &f.spec.dims[0].nic;
}

static void run(void)
{
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->dropped_packets, 0);
}

static const struct nic_result *nic_of(uint32_t rank) { return &f.result->nics[rank]; }

// The way of a packet to the receiver, and of its ACK back.
static double there(void) { return 2 * (ps(DATA) + (double)DELAY); }
static double back(void) { return 2 * (ps(ACK) + (double)DELAY); }

// A full packet takes S = (payload + bursts * 24) / bus rate on the bus.
static double on_bus(double payload, double bus_bps)
{
    return (payload + 24 * ceil(payload / 256)) * 8e12 / bus_bps;
}

// One flow: the sender's bus is as slow as the receiver's. Packet i starts at i S, and the last one
// is written S after its arrival.
static void test_bus_of_sender(void **state)
{
    (void)state;
    for (double share = 0.1; share < 1.05; share += 0.3) {
        struct nic_spec *nic = begin(2);
        nic->bus_rate_bps = (uint64_t)(share * (double)RATE);
        double s = on_bus(MTU, share * (double)RATE);
        fixture_flow(&f, 0, 1, (uint64_t)N * MTU, 0);
        run();
        double gap = s > ps(DATA) ? s : ps(DATA);
        double fct = (N - 1) * gap + there() + s + back();
        assert_true(fabs((double)f.result->flows[0].fct_ps - fct) <= 2 * N);
        assert_int_equal(f.result->pause_frames, 0);
        fixture_free(&f);
    }
}

// Two kinds of NIC: each flow has the gap of its own sender's bus, or of its receiver's where that
// is slower; a rank that no pattern names has the kind without one.
static void test_two_kinds(void **state)
{
    (void)state;
    static const double share[] = {0.2, 0.2, 0.5, 0.5};
    begin(4);
    struct nic_kinds *nics = &f.spec.dims[0].nics;
    nic_spec_init(&nics->list[1], nics->list[0].preset);
    nics->list[0].bus_rate_bps = RATE / 2;
    nics->list[1].bus_rate_bps = RATE / 5;
    nics->list[1].at = "rank0,rank1";
    nics->more = 1;
    for (uint32_t src = 0; src < 4; src++) // to a rank of the same kind
        fixture_flow(&f, src, src ^ 1, (uint64_t)N * MTU, 0);
    run();
    for (uint32_t src = 0; src < 4; src++) {
        double s = on_bus(MTU, share[src] * (double)RATE), fct = (N - 1) * s + there() + s + back();
        assert_true(fabs((double)f.result->flows[src].fct_ps - fct) <= 2 * N);
    }
    fixture_free(&f);
    begin(4);
    nics = &f.spec.dims[0].nics;
    nic_spec_init(&nics->list[1], nics->list[0].preset);
    nics->list[0].bus_rate_bps = RATE / 2;
    nics->list[1].bus_rate_bps = RATE / 5;
    nics->list[1].at = "rank0";
    nics->more = 1;
    fixture_flow(&f, 0, 2, (uint64_t)N * MTU, 0); // the sender's bus
    fixture_flow(&f, 3, 1, (uint64_t)N * MTU, 0);
    run();
    for (uint32_t i = 0; i < 2; i++) {
        double from = on_bus(MTU, (i == 0 ? 0.2 : 0.5) * (double)RATE),
               to = on_bus(MTU, 0.5 * (double)RATE), fct = (N - 1) * from + there() + to + back();
        assert_true(fabs((double)f.result->flows[i].fct_ps - fct) <= 2 * N);
    }
    fixture_free(&f);
}

// Four senders, one receiver with a bus at half its line rate: it writes without a break from the
// first arrival on, pauses its link, and loses nothing; its buffer is never exceeded.
static void test_slow_receiver(void **state)
{
    (void)state;
    struct nic_spec *nic = begin(5);
    nic->bus_rate_bps = RATE / 2;
    nic->buffer_bytes = 300000;
    for (uint32_t s = 1; s < 5; s++)
        fixture_flow(&f, s, 0, (uint64_t)N * MTU, 0);
    run();
    double s = on_bus(MTU, (double)RATE / 2), fct = there() + 4 * N * s + back();
    double last = 0;
    for (size_t i = 0; i < 4; i++)
        last = fmax(last, (double)f.result->flows[i].fct_ps);
    assert_true(fabs(last - fct) <= 4 * N);
    assert_true(nic_of(0)->pauses > 5);
    assert_true(nic_of(0)->max_held_bytes <= nic->buffer_bytes);
    assert_true(nic_of(0)->max_held_bytes > nic->buffer_bytes / 2);
    assert_true(nic_of(0)->busy_share[1] > 0.99);
    // the receiver's link is stopped for the share of the time that it does not need
    double paused = (double)f.result->pfc_ports[0].paused_ps / last, need = ps(DATA) / s;
    assert_string_equal(f.result->pfc_ports[0].at, "dim0.sw0->rank0");
    assert_true(fabs(paused - (1 - need)) < 0.05);
    // most of the time of the last flow is attributed to the NIC, PFC and queues, and adds up
    const struct critical_result *path = &f.result->slowest->critical;
    assert_true(path->parts[PATH_HOST] > 0);
    fixture_free(&f);
}

// With credits in place of PFC: the same time, no pause frame, and a buffer within the credits.
static void test_slow_receiver_with_credits(void **state)
{
    (void)state;
    struct nic_spec *nic = begin(5);
    nic->bus_rate_bps = RATE / 2;
    f.spec.dims[0].sw.flow_control = FLOW_CONTROL_CREDIT;
    for (uint32_t s = 1; s < 5; s++)
        fixture_flow(&f, s, 0, (uint64_t)N * MTU, 0);
    run();
    double s = on_bus(MTU, (double)RATE / 2), fct = there() + 4 * N * s + back(), last = 0;
    for (size_t i = 0; i < 4; i++)
        last = fmax(last, (double)f.result->flows[i].fct_ps);
    assert_true(fabs(last - fct) <= 4 * N);
    assert_int_equal(f.result->pause_frames, 0);
    assert_true(nic_of(0)->max_held_bytes <=
                fabric_credit_bytes(&f.sim->fabric, f.sim->fabric.net.first_port[0]));
    fixture_free(&f);
}

// Without PFC a full buffer drops packets, and they are counted.
static void test_lossy_receiver(void **state)
{
    (void)state;
    struct nic_spec *nic = begin(17);
    nic->bus_rate_bps = RATE / 2;
    nic->buffer_bytes = 100000;
    f.spec.dims[0].sw.pfc.enabled = false;
    roce_spec_of(&f.spec.dims[0].transport)->recovery = RECOVERY_SELECTIVE_REPEAT;
    for (uint32_t s = 1; s < 17; s++)
        fixture_flow(&f, s, 0, (uint64_t)N / 8 * MTU, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(f.result->drops[DROP_NIC_BUFFER] > 0);
    assert_int_equal(nic_of(0)->dropped_packets, f.result->drops[DROP_NIC_BUFFER]);
    assert_true(nic_of(0)->max_held_bytes <= nic->buffer_bytes);
    fixture_free(&f);
}

// Ultra Ethernet, incast: with destination flow control a receiver requests smaller windows before
// its NIC's buffer is full. It loses less than half as many packets as without, and is as busy.
static void test_destination_control(void **state)
{
    (void)state;
    extern const struct transport_ops uec_transport;
    uint64_t lost[2];
    for (int control = 0; control < 2; control++) {
        struct nic_spec *nic = begin(16);
        struct dim_spec *dim = &f.spec.dims[0];
        nic->bus_rate_bps = RATE / 2;
        nic->buffer_bytes = 200000;
        transport_spec_init(&dim->transport, &uec_transport);
        fixture_cc(&f, "nscc", NULL, NULL);
        struct err err = {0};
        struct param key =
            param_find(uec_transport.params, uec_transport.n_params, "destination_control");
        assert_int_equal(param_set(&key, dim->transport.own, control ? "true" : "false", "", &err),
                         0);
        key = param_find(uec_transport.params, uec_transport.n_params, "rto");
        assert_int_equal(param_set(&key, dim->transport.own, "200us", "", &err), 0);
        for (uint32_t s = 1; s < 9; s++)
            fixture_flow(&f, s, 0, (uint64_t)N * MTU, 0);
        f.jobs[0].cls = 0; // lossy
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        lost[control] = f.result->drops[DROP_NIC_BUFFER];
        assert_true(nic_of(0)->busy_share[1] > 0.7);
        fixture_free(&f);
    }
    assert_true(lost[0] > 20);
    assert_true(2 * lost[1] < lost[0]);
}

// Two ranks that exchange messages: on a bus for both directions every packet of either takes its
// turn, so N packets each way take 2 N S, and with a full-duplex bus N S.
static void test_duplex(void **state)
{
    (void)state;
    for (int duplex = BUS_FULL_DUPLEX; duplex <= BUS_HALF_DUPLEX; duplex++) {
        struct nic_spec *nic = begin(2);
        nic->bus_rate_bps = RATE / 2;
        nic->bus_duplex = duplex;
        double s = on_bus(MTU, (double)RATE / 2);
        fixture_flow(&f, 0, 1, (uint64_t)N * MTU, 0);
        fixture_flow(&f, 1, 0, (uint64_t)N * MTU, 0);
        run();
        double most = fmax((double)f.result->flows[0].fct_ps, (double)f.result->flows[1].fct_ps);
        double least = fmin((double)f.result->flows[0].fct_ps, (double)f.result->flows[1].fct_ps);
        double want = (duplex == BUS_HALF_DUPLEX ? 2 : 1) * N * s;
        assert_true(fabs(most - want) < 12 * s);
        assert_true(most - least < 4 * s);
        fixture_free(&f);
    }
}

// A rank that sends by two ports: they share its bus equally, or its packet rate.
static void test_ports_share(void **state)
{
    (void)state;
    for (int limit = 0; limit < 2; limit++) {
        fixture_direct(&f, "ring", 5, RATE, DELAY);
        custom_sizes();
        double s = limit == 0 ? on_bus(MTU, (double)RATE / 2) : 1e6;
        if (limit == 0)
            f.spec.dims[0].nic.bus_rate_bps = RATE / 2;
        else
            f.spec.dims[0].nic.message_rate = 1000000;
        roce_spec_of(&f.spec.dims[0].transport)->ack_interval = 10000; // ACKs take packet rate too
        fixture_flow(&f, 0, 1, (uint64_t)N * MTU, 0);
        fixture_flow(&f, 0, 4, (uint64_t)N * MTU, 0);
        run();
        for (size_t i = 0; i < 2; i++)
            assert_true(fabs((double)f.result->flows[i].fct_ps - 2 * N * s) < 6 * s);
        fixture_free(&f);
    }
}

// A lossy class has filled the buffer of a slow receiver when a lossless class begins. Headroom is
// kept for the lossless class, so that no packet of it is lost and sent again.
static void test_headroom_is_kept(void **state)
{
    (void)state;
    struct nic_spec *nic = begin(9);
    nic->bus_rate_bps = RATE / 4;
    nic->buffer_bytes = 150000;
    roce_spec_of(&f.spec.dims[0].transport)->rto_ps = PS_PER_MS;
    f.spec.dims[0].sw.classes[0].lossless = LOSSLESS_OFF;
    for (uint32_t s = 1; s < 9; s++)
        fixture_flow(&f, s, 0, (uint64_t)N / 4 * MTU, s < 5 ? 100 * PS_PER_US : 0);
    fixture_flow_job(&f, 0, "lossless", 3, 0, 4);
    fixture_flow_job(&f, 1, "lossy", 0, 4, 4);
    f.spec.n_jobs = 2;
    fixture_run(&f);
    assert_true(f.result->drops[DROP_NIC_BUFFER] > 0);
    for (size_t i = 0; i < f.result->n_flows; i++)
        if (f.result->flows[i].job == 0) {
            assert_int_equal(f.result->flows[i].status, MESSAGE_DONE);
            assert_int_equal(f.result->flows[i].retransmitted, 0);
        }
    fixture_free(&f);
}

// Messages of one packet: the NIC handles message_rate packets a second, whatever the link could
// carry.
static void test_message_rate(void **state)
{
    (void)state;
    struct nic_spec *nic = begin(2);
    const double t = 100e3; // 10 million packets a second
    nic->message_rate = 10000000;
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 256;
    fixture_flow(&f, 0, 1, (uint64_t)N * 256, 0);
    run();
    double way = 2 * (ps(256 + HEADERS) + (double)DELAY);
    double fct = (N - 1) * t + way + t + back() + t;
    assert_true(fabs((double)f.result->flows[0].fct_ps - fct) <= 2 * N);
    fixture_free(&f);
}

// Hits of n contexts used in turn where c fit: h = (1 - 1/c)^((n - 1)(1 - h)), the smallest
// solution.
static double hits(double n, double c)
{
    double h = n <= c ? 1 : 0;
    for (int i = 0; n > c && i < 100000; i++)
        h = pow(1 - 1 / c, (n - 1) * (1 - h));
    return h;
}

// One NIC sends by n queue pairs in turn. A packet starts L / R after the last one, or, if its
// successor's context is missing, `miss` after it: so the mean gap is h L / R + (1 - h) max(L / R,
// miss).
static void test_qp_cache(void **state)
{
    (void)state;
    const double c = 32, miss = 1e6;
    enum { EACH = 60 };
    for (uint32_t n = 8; n <= 256; n *= 2) {
        struct nic_spec *nic = begin(9);
        nic->qp_cache = (uint64_t)c;
        nic->qp_miss_ps = (ps_t)miss;
        roce_spec_of(&f.spec.dims[0].transport)->ack_interval = 10000;
        for (uint32_t i = 0; i < n; i++)
            fixture_flow(&f, 0, 1 + i % 8, (uint64_t)EACH * MTU, 0);
        run();
        double h = hits(n, c), gap = h * ps(DATA) + (1 - h) * fmax(ps(DATA), miss);
        double want = n * EACH * gap + fmin(n, c) * miss; // each context is missing at first
        double seen = (double)f.result->sim_time_ps;
        const struct nic_result *r = nic_of(0);
        if (fabs(seen / want - 1) > 0.03)
            print_message("n %u: %g us, expected %g; hits %g, expected %g\n", n, seen * 1e-6,
                          want * 1e-6, 1 - (double)r->qp_misses[0] / (double)r->qp_lookups[0], h);
        assert_true(fabs(seen / want - 1) < 0.03);
        fixture_free(&f);
    }
}

// A doorbell delays the first packet, a completion the end; both are named as the NIC's.
static void test_doorbell_and_completion(void **state)
{
    (void)state;
    const ps_t doorbell = 700 * PS_PER_NS, completion = 400 * PS_PER_NS;
    struct nic_spec *nic = begin(2);
    nic->doorbell_ps = doorbell;
    nic->completion_ps = completion;
    fixture_flow(&f, 0, 1, (uint64_t)N * MTU, 0);
    run();
    double fct = (N - 1) * ps(DATA) + there() + back() + (double)(doorbell + completion);
    assert_true(fabs((double)f.result->flows[0].fct_ps - fct) <= 8);
    const struct critical_result *path = &f.result->slowest->critical;
    assert_int_equal(path->parts[PATH_HOST], doorbell + completion);
    assert_int_equal(f.result->flows[0].life_ps[PATH_HOST], doorbell + completion);
    assert_int_equal(f.result->n_nics, 0); // nothing waits in such a NIC
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bus_of_sender),    cmocka_unit_test(test_two_kinds),
        cmocka_unit_test(test_slow_receiver),    cmocka_unit_test(test_slow_receiver_with_credits),
        cmocka_unit_test(test_lossy_receiver),   cmocka_unit_test(test_destination_control),
        cmocka_unit_test(test_duplex),           cmocka_unit_test(test_ports_share),
        cmocka_unit_test(test_headroom_is_kept), cmocka_unit_test(test_message_rate),
        cmocka_unit_test(test_qp_cache),         cmocka_unit_test(test_doorbell_and_completion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Critical paths against closed forms: one flow, a window, a pace, an incast, rings, phases. In all
// of them a packet of payload B takes s = (B + overhead) / C on a link, and a link's delay is D.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)
#define D PS_PER_US
#define N 100 // packets of a message

static struct fixture f;

// Time of a data packet of the flow on a link: first and last have the header of the message or the
// remainder; all messages here are N full packets.
static ps_t packet_ps(bool first)
{
    const struct transport_dim *dim = &f.sim->fabric.hosts.dims[0];
    struct packet_sizes size = roce_data_sizes(&dim->spec, dim->mtu_bytes, first);
    return serialization_ps(size.wire, LINE);
}

static uint32_t mtu(void) { return (uint32_t)roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes; }

static ps_t total(const ps_t parts[PATH_CAUSES])
{
    ps_t sum = 0;
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        sum += parts[cause];
    return sum;
}

static const ps_t *parts(void) { return f.result->last->critical.parts; }

// All that senders waited for, and computing, is at a place.
static void assert_places(const struct critical_result *c)
{
    static const enum path_cause placed[] = {PATH_COMPUTE, PATH_SENDING, PATH_RESENDING,
                                             PATH_NIC,     PATH_WINDOW,  PATH_PACE,
                                             PATH_PAUSED,  PATH_TIMEOUT};
    ps_t sums[PATH_CAUSES] = {0};
    for (size_t i = 0; i < c->n_places; i++)
        sums[c->places[i].cause] += c->places[i].ps;
    assert_int_equal(c->error_ps, 0);
    ps_t all = c->elsewhere_ps, known = 0;
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        all += sums[cause];
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        known += c->parts[placed[i]];
    assert_in_range((uint64_t)all, (uint64_t)known, (uint64_t)(known + c->parts[PATH_QUEUED]));
    for (size_t i = 0; i < sizeof placed / sizeof *placed && c->elsewhere_ps == 0; i++)
        assert_int_equal(sums[placed[i]], c->parts[placed[i]]);
    assert_true(sums[PATH_QUEUED] + sums[PATH_HOST] <= c->parts[PATH_QUEUED] + c->parts[PATH_HOST]);
}

// What every run must satisfy: parts add up to the path, to the life of every message and to the
// time of every collective.
static void assert_sums(void)
{
    const struct result *r = f.result;
    assert_int_equal(total(parts()), r->last->end_ps - r->last->begin_ps);
    assert_places(&r->last->critical);
    for (size_t i = 0; i < r->n_flows; i++)
        if (r->flows[i].delivered_ps >= 0)
            assert_int_equal(total(r->flows[i].life_ps), r->flows[i].delivered_ps);
    for (size_t i = 0; i < r->n_collectives; i++)
        assert_int_equal(total(r->collectives[i].critical.parts),
                         r->collectives[i].end_ps - r->collectives[i].start_ps);
}

// A flow through one switch: N - 1 packets are transmitted before the last, which then crosses two
// links.
static void test_one_flow(void **state)
{
    (void)state;
    fixture_switch(&f, 2, LINE, D);
    fixture_flow(&f, 0, 1, (uint64_t)N * mtu(), 5 * D);
    fixture_run(&f);
    const ps_t *life = f.result->flows[0].life_ps;
    assert_int_equal(life[PATH_SENDING], packet_ps(true) + (N - 2) * packet_ps(false));
    assert_int_equal(life[PATH_NETWORK], 2 * packet_ps(false) + 2 * D);
    // The first packet is longer, so the others find the switch's port busy.
    assert_int_equal(life[PATH_QUEUED], packet_ps(true) - packet_ps(false));
    assert_int_equal(f.result->last->kind, SLOWEST_FLOW);
    assert_int_equal(f.result->last->begin_ps, 5 * D); // its post
    assert_sums();
    fixture_free(&f);
}

// A window of W packets on a path of round trip R: after W packets the sender waits R - W s for the
// first ACK, and so on for each of the N / W rounds but the last.
static void test_window(void **state)
{
    (void)state;
    enum { W = 10 };
    fixture_switch(&f, 2, LINE, D);
    char window[32];
    snprintf(window, sizeof window, "bytes=%uB", W * mtu());
    fixture_cc(&f, "window", NULL, window, NULL);
    fixture_flow(&f, 0, 1, (uint64_t)N * mtu(), 0);
    fixture_run(&f);
    const struct transport_dim *dim = &f.sim->fabric.hosts.dims[0];
    ps_t s = packet_ps(false), ack = serialization_ps(dim->ack.wire, LINE);
    ps_t round_trip = 2 * s + 2 * ack + 4 * D; // from the start of a packet to its ACK
    // The first packet of the message is longer; it delays only the first round.
    ps_t expected = (N / W - 1) * (round_trip - W * s);
    const ps_t *life = f.result->flows[0].life_ps;
    assert_in_range((uint64_t)life[PATH_WINDOW], (uint64_t)(expected - (packet_ps(true) - s) * 2),
                    (uint64_t)(expected + (packet_ps(true) - s) * 2));
    assert_int_equal(life[PATH_PACE] + life[PATH_PAUSED] + life[PATH_QUEUED], 0);
    assert_sums();
    fixture_free(&f);
}

// Eight flows of M bytes into one port without PFC and cuts: each sender transmits at the line
// rate, so the last packet waits until all others have left the port.
static void test_incast(void **state)
{
    (void)state;
    fixture_switch(&f, 9, LINE, D);
    f.spec.dims[0].sw.buffer_bytes = 400000000;
    for (unsigned i = 0; i < 8; i++)
        fixture_flow(&f, i, 8, (uint64_t)N * mtu(), 0);
    fixture_run(&f);
    ps_t first = packet_ps(true), s = packet_ps(false);
    ps_t all = 8 * (first + (N - 1) * s); // the port of the receiver is never idle
    assert_int_equal(parts()[PATH_SENDING], first + (N - 2) * s);
    assert_int_equal(parts()[PATH_PAUSED] + parts()[PATH_WINDOW] + parts()[PATH_PACE], 0);
    // first packet over the NIC's link, then all packets one after the other, then the link's delay
    ps_t delivered = first + D + all + D;
    assert_int_equal(parts()[PATH_QUEUED], delivered - (first + (N - 2) * s) - (2 * s + 2 * D));
    assert_int_equal(f.result->last->critical.places[0].cause, PATH_QUEUED);
    assert_string_equal(f.result->last->critical.places[0].at, "dim0.sw0->rank8");
    assert_sums();
    fixture_free(&f);
}

// The same with PFC: the sum of queue and pauses is the same, and most of it is pauses.
static void test_incast_paused(void **state)
{
    (void)state;
    fixture_switch(&f, 9, LINE, D);
    f.spec.dims[0].sw.buffer_bytes = 1000000;
    for (unsigned i = 0; i < 8; i++)
        fixture_flow(&f, i, 8, UINT64_C(20) * N * mtu(), 0);
    fixture_run(&f);
    assert_true(f.result->pause_frames > 0);
    assert_true(parts()[PATH_PAUSED] > 5 * parts()[PATH_SENDING]);
    assert_int_equal(parts()[PATH_WINDOW] + parts()[PATH_PACE] + parts()[PATH_TIMEOUT], 0);
    assert_sums();
    fixture_free(&f);
}

// A ring all-reduce of n ranks takes 2 (n - 1) steps; in each a chunk of N packets is transmitted,
// and its last packet crosses two links. ACKs share the NIC ports.
static void test_ring(void **state)
{
    (void)state;
    enum { RANKS = 4 };
    fixture_switch(&f, RANKS, LINE, D);
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", (uint64_t)RANKS * N * mtu(), 1);
    fixture_run(&f);
    ps_t first = packet_ps(true), s = packet_ps(false);
    unsigned steps = 2 * (RANKS - 1);
    assert_int_equal(f.result->last->kind, SLOWEST_COLLECTIVE);
    const ps_t *of = f.result->collectives[0].critical.parts;
    assert_int_equal(of[PATH_SENDING], steps * (first + (N - 2) * s));
    assert_int_equal(of[PATH_NETWORK], steps * (2 * s + 2 * D));
    assert_int_equal(of[PATH_OTHERS], 0);
    // ACKs of the neighbour's data wait for at most a data packet at the NIC, and delay one
    assert_true(of[PATH_NIC] + of[PATH_QUEUED] <= steps * N * serialization_ps(128, LINE));
    assert_sums();
    fixture_free(&f);
}

// In a ring of 40 ranks the path goes back through all of them, and over most flows twice: more
// places than a short list would hold, each with its exact time.
static void test_ring_places(void **state)
{
    (void)state;
    enum { RANKS = 40, STEPS = 2 * (RANKS - 1) };
    fixture_switch(&f, RANKS, LINE, D);
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", (uint64_t)RANKS * N * mtu(), 1);
    fixture_run(&f);
    const struct critical_result *c = &f.result->last->critical;
    ps_t step = packet_ps(true) + (N - 2) * packet_ps(false);
    unsigned once = 0, twice = 0;
    for (size_t i = 0; i < c->n_places; i++) {
        once += c->places[i].cause == PATH_SENDING && c->places[i].ps == step;
        twice += c->places[i].cause == PATH_SENDING && c->places[i].ps == 2 * step;
    }
    assert_int_equal(twice, STEPS - RANKS);
    assert_int_equal(once, RANKS - twice);
    assert_true(c->elsewhere_ps > 0);
    assert_sums();
    fixture_free(&f);
}

// A hierarchical all-reduce of 4 x 4 ranks: its path by phase. Reduce-scatter and all-gather take
// three steps of a quarter of the bytes, the all-reduce between them six of a sixteenth.
static void test_phases(void **state)
{
    (void)state;
    static const struct {
        unsigned dim, steps, packets;
    } expected[] = {{0, 3, 4 * N}, {1, 6, N}, {0, 3, 4 * N}};
    fixture_switch(&f, 16, LINE, D);
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", (uint64_t)16 * N * mtu(), 1);
    fixture_dims(&f, 2, (const uint32_t[]){4, 4}, (const char *const[]){"ring", "ring"});
    f.collectives[0].schedule.phases = COLL_BANDWIDTH_AWARE;
    fixture_run(&f);
    const struct collective_result *c = &f.result->collectives[0];
    ps_t first = packet_ps(true), s = packet_ps(false), sum = 0;
    assert_int_equal(c->n_phases, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct critical_stage *phase = &c->phases[i].critical;
        assert_int_equal(c->phases[i].dim, expected[i].dim);
        assert_int_equal(phase->parts[PATH_SENDING],
                         expected[i].steps * (first + (expected[i].packets - 2) * s));
        assert_int_equal(total(phase->parts), phase->total_ps);
        sum += phase->total_ps;
    }
    assert_int_equal(sum, c->critical.total_ps);
    assert_sums();
    fixture_free(&f);
}

// A lost last packet: the sender waits for its timer and sends the packet again. Go-back-N repeats
// from the first packet that is not acknowledged.
static void test_timeout(void **state)
{
    (void)state;
    fixture_switch(&f, 2, LINE, D);
    roce_spec_of(&f.spec.dims[0].transport)->rto_ps = PS_PER_MS;
    uint64_t lost[1] = {N};
    f.faults[0] = fixture_fault("dim0.sw0->rank1");
    f.faults[0].packets = lost;
    f.faults[0].n_packets = 1;
    f.faults[0].one_way = true;
    f.spec.faults = f.faults;
    f.spec.n_faults = 1;
    fixture_flow(&f, 0, 1, (uint64_t)N * mtu(), 0);
    fixture_run(&f);
    const ps_t *life = f.result->flows[0].life_ps;
    assert_int_equal(f.result->flows[0].timeouts, 1);
    // The timer is restarted by each ACK, so it expires 1 ms after the ACK of the packet before.
    ps_t wait = PS_PER_MS, rtt = sender_env(f.sim->fabric.hosts.senders[0])->base_rtt_ps;
    assert_in_range((uint64_t)life[PATH_TIMEOUT], (uint64_t)(wait - D), (uint64_t)(wait + 2 * rtt));
    assert_sums();
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_flow),    cmocka_unit_test(test_window),
        cmocka_unit_test(test_incast),      cmocka_unit_test(test_incast_paused),
        cmocka_unit_test(test_ring),        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_ring_places), cmocka_unit_test(test_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Tests of ECN: the marking probability, random decisions against it, and marks counted one by one
// at a switch whose queue grows between a packet's arrival and its departure.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "switch/marking.h"

#define RED(on, kmin, kmax, p)                                                                     \
    {                                                                                              \
        .enabled = (on), .kmin_bytes = (kmin), .kmax_bytes = (kmax), .pmax = (p)                   \
    }
#include "switch/switch.h"

static void test_probability(void **state)
{
    (void)state;
    const struct marking red = RED(true, 100000, 400000, 0.2),
                         step = RED(true, 300000, 300000, 0.5),
                         off = RED(false, 100000, 400000, 0.2);
    const struct {
        const struct marking *m;
        uint64_t bytes;
        double p;
    } cases[] = {
        {&red, 0, 0},         {&red, 99999, 0},      {&red, 100000, 0},     {&red, 250000, 0.1},
        {&red, 175000, 0.05}, {&red, 400000, 0.2}, // Pmax at Kmax
        {&red, 400001, 1},    {&red, UINT64_MAX, 1}, {&step, 299999, 0},    {&step, 300000, 1},
        {&step, 300001, 1},   {&off, 250000, 0},     {&off, UINT64_MAX, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(fabs(marking_probability(cases[i].m, cases[i].bytes) - cases[i].p) < 1e-12);
}

// The share of marks is within 4 sigma of the probability, at 20 queue lengths.
static void test_draws_follow_the_probability(void **state)
{
    (void)state;
    const struct marking m = RED(true, 5000, 200000, 0.3);
    enum { DRAWS = 20000 };
    for (uint32_t i = 0; i < 20; i++) {
        uint64_t bytes = 1000 + i * UINT64_C(10000);
        double p = bytes < 5000 ? 0 : 0.3 * (double)(bytes - 5000) / 195000;
        struct rng rng = rng_init(6, RNG_ECN, i);
        unsigned marks = 0;
        for (int n = 0; n < DRAWS; n++)
            marks += marking_draw(&m, bytes, &rng);
        assert_true(fabs(marks - (double)DRAWS * p) <= 4 * sqrt((double)DRAWS * p * (1 - p)));
    }
}

// Decisions that are certain draw no random number, so they do not shift the decisions for later
// packets.
static void test_certain_answers_draw_nothing(void **state)
{
    (void)state;
    const struct marking red = RED(true, 1000, 2000, 0.5), step = RED(true, 1000, 1000, 0.5),
                         off = {.enabled = false};
    struct rng rng = rng_init(1, RNG_ECN, 1);
    assert_false(marking_draw(&off, UINT64_MAX, &rng));
    assert_false(marking_draw(&red, 999, &rng));
    assert_true(marking_draw(&red, 2001, &rng));
    assert_false(marking_draw(&step, 999, &rng));
    assert_true(marking_draw(&step, 1000, &rng)); // q >= K
    assert_true(marking_draw(&step, 1001, &rng));
    assert_int_equal(rng.counter, 0);
    marking_draw(&red, 1500, &rng);
    assert_int_equal(rng.counter, 1);
}

/* ---- a switch: ranks 0 and 1 send at 100 Gb/s, rank 2 receives at a little less, so that
   departures and arrivals never meet at one instant ---- */

enum { RANKS = 3, SWITCH = 3, FRAME = 1000, OUT = 5, EACH = 20, PACKETS = 2 * EACH };
#define IN_PS ((double)FRAME * 80)
#define OUT_BPS UINT64_C(97300000000)
#define OUT_PS ((double)FRAME * 8e12 / 97.3e9)
#define LATE_PS 30000 // delay of rank 1's start

struct world {
    struct engine engine;
    struct network net;
    struct switches sw;
    struct mmu_ingress *ingress;
    const uint32_t *entropy[2];
    uint16_t next[RANKS];
    uint32_t group[RANKS];
    uint32_t arrived[64]; // packet numbers in the order of arrival at rank 2
    bool marked[64];
    size_t n;
};

static void on_arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    (void)local, (void)now;
    struct world *w = ctx;
    assert_int_equal(node, 2);
    assert_true(w->n < 64);
    w->marked[w->n] = p->flags & PACKET_CE;
    w->arrived[w->n++] = p->entropy;
}

static void on_depart(void *ctx, uint32_t node, uint32_t port, struct packet *p, uint64_t queue,
                      ps_t now)
{
    (void)ctx, (void)node, (void)port, (void)p, (void)queue, (void)now;
}

// Links without delay; port i of the switch leads to rank i.
static void world_begin(struct world *w, const struct marking *marking)
{
    *w = (struct world){0};
    engine_init(&w->engine, 1);
    network_init(&w->net, &w->engine, RANKS, RANKS + 1, 2 * RANKS, 1u << NET_CLASS_DATA);
    for (uint32_t p = 0; p < 2 * RANKS; p++) {
        bool up = p < RANKS;
        struct port_config config = {.node = up ? p : SWITCH,
                                     .local = up ? 0 : p - RANKS,
                                     .peer = up ? p + RANKS : p - RANKS,
                                     .peer_local = up ? p : 0,
                                     .peer_node = up ? SWITCH : p - RANKS,
                                     .rate_bps = p == OUT ? OUT_BPS : UINT64_C(100000000000)};
        network_set_port(&w->net, p, &config);
    }
    switches_init(&w->sw, &w->net, 0);
    w->net.ops[NET_RANK] = (struct node_ops){.arrive = on_arrive, .depart = on_depart, .ctx = w};
    switch_attach(&w->sw, 0, RANKS, RANKS);
    struct switch_node *s = &w->sw.nodes[0];
    struct mmu_config mmu = {.buffer_bytes = 1000000, .alpha = 1, .lossy_alpha = 1};
    w->ingress = calloc(RANKS, sizeof *w->ingress);
    assert_non_null(w->ingress);
    mmu_init(&s->mmu, &mmu, w->ingress, RANKS, 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        w->next[r] = (uint16_t)r;
        w->group[r] = r;
    }
    s->routes = (struct next_hops){.next = w->next, .group = w->group};
    *switch_marking(&w->sw, OUT, NET_CLASS_DATA) = *marking;
    w->sw.ports[OUT].rng = rng_init(1, RNG_ECN, OUT);
}

static void world_end(struct world *w)
{
    engine_drain(&w->engine, 100000);
    assert_int_equal(network_held(&w->net), 0);
    switches_free(&w->sw);
    network_free(&w->net);
    engine_free(&w->engine);
}

static void send(struct world *w, uint32_t src, uint32_t psn, uint8_t flags)
{
    struct packet p = {.entropy = psn,
                       .dst = 2,
                       .frame_bytes = FRAME,
                       .wire_bytes = FRAME,
                       .cls = NET_CLASS_DATA,
                       .flags = flags,
                       .arrives_ps = w->engine.now_ps};
    port_enqueue(&w->net, src, &p, w->engine.now_ps);
}

// Both senders send a burst at once. Packets of rank 0 have even numbers, those of rank 1 odd
// numbers.
static void send_bursts(struct world *w, uint8_t even_flags, uint8_t odd_flags)
{
    for (uint32_t i = 0; i < EACH; i++)
        send(w, 0, 2 * i, even_flags);
    w->engine.horizon_ps = LATE_PS;
    engine_drain(&w->engine, 1000);
    w->engine.horizon_ps = PS_NEVER;
    w->engine.now_ps = LATE_PS;
    for (uint32_t i = 0; i < EACH; i++)
        send(w, 1, 2 * i + 1, odd_flags);
}

struct queue_seen {
    uint64_t at_start, at_arrival; // queue in bytes, the packet itself included
};

// A reference model of the queue: packets arrive alternately, and each starts when the previous one
// has ended.
static void oracle(struct queue_seen seen[PACKETS])
{
    double arrival[PACKETS], start[PACKETS];
    for (unsigned i = 0; i < PACKETS; i++)
        arrival[i] = (i / 2 + 1) * IN_PS + (i % 2) * LATE_PS;
    for (unsigned i = 0; i < PACKETS; i++) {
        double free_at = i > 0 ? start[i - 1] + OUT_PS : 0;
        start[i] = arrival[i] > free_at ? arrival[i] : free_at;
    }
    for (unsigned i = 0; i < PACKETS; i++) {
        unsigned at_start = 0, at_arrival = 0;
        for (unsigned k = i; k < PACKETS && arrival[k] <= start[i]; k++)
            at_start++;
        for (unsigned k = 0; k <= i; k++)
            at_arrival += k == i || start[k] > arrival[i];
        seen[i] = (struct queue_seen){(uint64_t)at_start * FRAME, (uint64_t)at_arrival * FRAME};
    }
}

// A step at K marks exactly the packets that see K bytes or more when their transmission starts,
// including themselves and the packets behind them. Marking at arrival would mark other packets.
static void test_queue_at_transmission_start(void **state)
{
    (void)state;
    struct queue_seen seen[PACKETS];
    unsigned other_at_arrival = 0, other_without_itself = 0;
    oracle(seen);
    for (uint64_t k = 1; k <= 22; k++) {
        struct world w;
        const struct marking step = RED(true, k * FRAME, k * FRAME, 1);
        unsigned marks = 0;
        world_begin(&w, &step);
        send_bursts(&w, PACKET_ECT, PACKET_ECT);
        engine_drain(&w.engine, 100000);
        assert_int_equal(w.n, PACKETS);
        for (uint32_t i = 0; i < PACKETS; i++) {
            assert_int_equal(w.arrived[i], i);
            bool mark = seen[i].at_start >= k * FRAME;
            assert_int_equal(w.marked[i], mark);
            marks += mark;
            other_at_arrival += mark != (seen[i].at_arrival >= k * FRAME);
            other_without_itself += mark != (seen[i].at_start - FRAME >= k * FRAME);
        }
        assert_int_equal(w.sw.ports[OUT].counters.marked, marks);
        world_end(&w);
    }
    assert_true(other_at_arrival > 30 && other_without_itself > 30); // the test distinguishes the
                                                                     // rules
}

static void mark_at_arrival(struct world *w)
{
    w->sw.nodes[0].marking = SWITCH_MARKS_AT_ARRIVAL;
    w->sw.nodes[0].mark_from_bytes = UINT64_MAX;
}

// Marking at arrival (ecn.at): the threshold applies to the waiting packets, including the one that
// arrives and without the one in transmission. A packet that finds the port idle is alone.
static void test_queue_at_arrival(void **state)
{
    (void)state;
    struct queue_seen seen[PACKETS];
    unsigned other_at_start = 0, other_without_itself = 0;
    oracle(seen);
    for (uint64_t k = 1; k <= 22; k++) {
        struct world w;
        const struct marking step = RED(true, k * FRAME, k * FRAME, 1);
        world_begin(&w, &step);
        mark_at_arrival(&w);
        send_bursts(&w, PACKET_ECT, PACKET_ECT);
        engine_drain(&w.engine, 100000);
        assert_int_equal(w.n, PACKETS);
        for (uint32_t i = 0; i < PACKETS; i++) {
            bool mark = seen[i].at_arrival >= k * FRAME;
            assert_int_equal(w.marked[i], mark);
            other_at_start += mark != (seen[i].at_start >= k * FRAME);
            other_without_itself += mark != (seen[i].at_arrival - FRAME >= k * FRAME);
        }
        world_end(&w);
    }
    assert_true(other_at_start > 30 && other_without_itself > 20);
}

// Between the thresholds, in the order of arrival.
static void test_red_at_arrival(void **state)
{
    (void)state;
    struct queue_seen seen[PACKETS];
    struct world w;
    const struct marking red = RED(true, 2 * FRAME, 16 * FRAME, 0.8);
    struct rng rng = rng_init(1, RNG_ECN, OUT);
    oracle(seen);
    world_begin(&w, &red);
    mark_at_arrival(&w);
    send_bursts(&w, PACKET_ECT, PACKET_ECT);
    engine_drain(&w.engine, 100000);
    for (uint32_t i = 0; i < PACKETS; i++) {
        uint64_t q = seen[i].at_arrival;
        bool mark = q > 16 * FRAME;
        if (q >= 2 * FRAME && q <= 16 * FRAME)
            mark = rng_unit(&rng) < 0.8 * (double)(q - 2 * FRAME) / (14 * FRAME);
        assert_int_equal(w.marked[i], mark);
    }
    assert_true(rng.counter > 10);
    world_end(&w);
}

// Computes which packets are dropped if those of rank 0 (even numbers) are not ECN capable and the
// marking is a step at K packets. Where an ECN-capable packet would be marked, the other is
// dropped: it would have to wait, and K - 1 packets wait already. Dropped packets do not count as
// waiting.
static unsigned drop_oracle(uint64_t k, bool dropped[PACKETS])
{
    double start[PACKETS], free_at = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < PACKETS; i++) {
        double arrival = (i / 2 + 1) * IN_PS + (i % 2) * LATE_PS;
        unsigned queue = 1;
        for (unsigned j = 0; j < i; j++)
            queue += !dropped[j] && start[j] > arrival;
        dropped[i] = i % 2 == 0 && free_at > arrival && queue >= k;
        n += dropped[i];
        if (dropped[i])
            continue;
        start[i] = arrival > free_at ? arrival : free_at;
        free_at = start[i] + OUT_PS;
    }
    return n;
}

static void test_drop_of_what_cannot_be_marked(void **state)
{
    (void)state;
    unsigned all = 0;
    for (uint64_t k = 1; k <= 22; k++) {
        struct world w;
        bool dropped[PACKETS] = {0};
        const struct marking step = RED(true, k * FRAME, k * FRAME, 1);
        world_begin(&w, &step);
        w.sw.nodes[0].marking = SWITCH_DROPS_NOT_ECT;
        send_bursts(&w, 0, PACKET_ECT);
        engine_drain(&w.engine, 100000);
        unsigned n = drop_oracle(k, dropped);
        assert_int_equal(w.net.drops[DROP_RED].packets, n);
        assert_int_equal(w.n, PACKETS - n);
        for (uint32_t i = 0, at = 0; i < PACKETS; i++)
            if (!dropped[i])
                assert_int_equal(w.arrived[at++], i);
        all += n;
        world_end(&w);
    }
    assert_true(all > 100);
}

// Lossless classes drop nothing.
static void test_no_drop_in_a_lossless_class(void **state)
{
    (void)state;
    struct world w;
    const struct marking step = RED(true, FRAME, FRAME, 1);
    world_begin(&w, &step);
    w.sw.nodes[0].marking = SWITCH_DROPS_NOT_ECT;
    w.sw.nodes[0].lossless = 1u << NET_CLASS_DATA;
    send_bursts(&w, 0, PACKET_ECT);
    engine_drain(&w.engine, 100000);
    assert_int_equal(w.n, PACKETS);
    world_end(&w);
}

// RED between the thresholds: the port's own random stream decides, one draw for each packet in
// between.
static void test_red_uses_the_stream_of_the_port(void **state)
{
    (void)state;
    struct queue_seen seen[PACKETS];
    struct world w;
    const struct marking red = RED(true, 4 * FRAME, 16 * FRAME, 0.8);
    struct rng rng = rng_init(1, RNG_ECN, OUT);
    unsigned marks = 0;
    oracle(seen);
    world_begin(&w, &red);
    send_bursts(&w, PACKET_ECT, PACKET_ECT);
    engine_drain(&w.engine, 100000);
    for (uint32_t i = 0; i < PACKETS; i++) {
        uint64_t q = seen[i].at_start;
        bool mark = q > 16 * FRAME;
        if (q >= 4 * FRAME && q <= 16 * FRAME)
            mark = rng_unit(&rng) < 0.8 * (double)(q - 4 * FRAME) / (12 * FRAME);
        assert_int_equal(w.marked[i], mark);
        marks += mark;
    }
    assert_true(rng.counter > 10 && marks > 5);
    assert_int_equal(w.sw.ports[OUT].counters.marked, marks);
    world_end(&w);
}

// Packets without ECT are not marked, but count in the queue.
static void test_only_capable_packets_are_marked(void **state)
{
    (void)state;
    struct queue_seen seen[PACKETS];
    struct world w;
    const struct marking step = RED(true, 5 * FRAME, 5 * FRAME, 1);
    oracle(seen);
    world_begin(&w, &step);
    send_bursts(&w, 0, PACKET_ECT);
    engine_drain(&w.engine, 100000);
    for (uint32_t i = 0; i < PACKETS; i++)
        assert_int_equal(w.marked[i], i % 2 == 1 && seen[i].at_start >= 5 * FRAME);
    world_end(&w);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probability),
        cmocka_unit_test(test_draws_follow_the_probability),
        cmocka_unit_test(test_certain_answers_draw_nothing),
        cmocka_unit_test(test_queue_at_transmission_start),
        cmocka_unit_test(test_red_uses_the_stream_of_the_port),
        cmocka_unit_test(test_queue_at_arrival),
        cmocka_unit_test(test_red_at_arrival),
        cmocka_unit_test(test_drop_of_what_cannot_be_marked),
        cmocka_unit_test(test_no_drop_in_a_lossless_class),
        cmocka_unit_test(test_only_capable_packets_are_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

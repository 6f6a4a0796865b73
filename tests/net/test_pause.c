// SPDX-License-Identifier: MIT
// Tests of PFC at the port that receives pauses: two nodes, one link, stub nodes that record what
// starts and when.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/network.h"

#define RATE UINT64_C(100000000000) // 80 ps a byte: a packet of 1000 B takes 80 ns
#define DELAY (1000 * PS_PER_NS)
#define NS(n) ((n)*PS_PER_NS)
#define QUANTUM_PS 5120 // 512 bit times
#define LOW 1           // the other classes in use: one below the data class, one above
#define DATA NET_CLASS_DATA
#define HIGH NET_CLASS_CONTROL

struct start {
    ps_t at_ps;
    uint32_t psn;
    unsigned cls;
};

struct change {
    ps_t at_ps;
    unsigned cls;
    bool paused;
};

// Port 0 sends from node 0 to node 1, port 1 back.
struct world {
    struct engine engine;
    struct network net;
    struct start starts[64];
    struct change changes[64];
    size_t n_starts, n_changes, arrivals;
    ps_t last_arrival_ps;
};

static void on_arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    (void)node, (void)local, (void)p;
    struct world *w = ctx;
    w->arrivals++;
    w->last_arrival_ps = now;
}

static void on_depart(void *ctx, uint32_t node, uint32_t port, struct packet *p, uint64_t queue,
                      ps_t now)
{
    (void)ctx, (void)node, (void)port, (void)p, (void)queue, (void)now;
}

static void on_start(void *ctx, uint32_t port, const struct packet *p, ps_t start_ps, ps_t end_ps)
{
    (void)end_ps;
    struct world *w = ctx;
    if (port != 0)
        return;
    assert_true(w->n_starts < 64);
    w->starts[w->n_starts++] = (struct start){start_ps, p->entropy, p->cls};
}

static void on_change(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now)
{
    struct world *w = ctx;
    assert_int_equal(port, 0);
    assert_true(w->n_changes < 64);
    w->changes[w->n_changes++] = (struct change){now, cls, paused};
}

static void world_begin(struct world *w, uint64_t rate_bps)
{
    *w = (struct world){0};
    engine_init(&w->engine, 1);
    network_init(&w->net, &w->engine, 1, 2, 2, 1u << LOW | 1u << DATA | 1u << HIGH);
    for (uint32_t p = 0; p < 2; p++) {
        struct port_config config = {
            .node = p, .peer = 1 - p, .peer_node = 1 - p, .rate_bps = rate_bps, .delay_ps = DELAY};
        network_set_port(&w->net, p, &config);
    }
    w->net.pfc_wire_bytes = 84;
    w->net.ops[NET_RANK] = w->net.ops[NET_SWITCH] = (struct node_ops){
        .arrive = on_arrive, .depart = on_depart, .pause_changed = on_change, .ctx = w};
    w->net.tap = (struct tap){.seen = on_start, .ctx = w};
    network_tap_port(&w->net, 0);
    network_set_reference(&w->net); // so that starts are recorded when they happen
}

static void world_end(struct world *w)
{
    engine_drain(&w->engine, 100000);
    assert_int_equal(network_held(&w->net), 0);
    network_free(&w->net);
    engine_free(&w->engine);
}

// Process all events up to `at_ps` and set the clock to it.
static void run_to(struct world *w, ps_t at_ps)
{
    w->engine.horizon_ps = at_ps;
    engine_drain(&w->engine, 100000);
    w->engine.horizon_ps = PS_NEVER;
    w->engine.now_ps = at_ps;
}

static void enqueue(struct world *w, uint32_t port, unsigned cls, uint32_t first_psn, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct packet p = {.entropy = first_psn + i,
                           .frame_bytes = 980,
                           .wire_bytes = 1000,
                           .cls = cls & 7,
                           .arrives_ps = w->engine.now_ps};
        port_enqueue(&w->net, port, &p, w->engine.now_ps);
    }
}

// Deliver a PFC frame to port 0 now.
static void receive(struct world *w, unsigned classes, uint16_t quanta)
{
    struct packet p = {.kind = PACKET_PFC, .pfc = packet_pfc((uint8_t)classes, quanta)};
    port_receive_pfc(&w->net, 0, &p, w->engine.now_ps);
}

static void expect_start(const struct world *w, size_t i, ps_t at_ps, uint32_t psn)
{
    assert_true(i < w->n_starts);
    assert_int_equal(w->starts[i].at_ps, at_ps);
    assert_int_equal(w->starts[i].psn, psn);
}

static void expect_change(const struct world *w, size_t i, ps_t at_ps, unsigned cls, bool paused)
{
    assert_true(i < w->n_changes);
    assert_int_equal(w->changes[i].at_ps, at_ps);
    assert_int_equal(w->changes[i].cls, cls);
    assert_int_equal(w->changes[i].paused, paused);
}

// The current transmission ends and the next does not start. Quanta 0 starts it at once.
static void test_stops_from_the_next_packet(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, RATE);
    enqueue(&w, 0, DATA, 0, 5);
    run_to(&w, NS(100));
    receive(&w, 1u << DATA, 65535);
    run_to(&w, NS(5000));
    assert_int_equal(w.n_starts, 2);
    expect_start(&w, 0, 0, 0);
    expect_start(&w, 1, NS(80), 1);
    assert_int_equal(w.arrivals, 2);
    assert_int_equal(w.last_arrival_ps, NS(160) + DELAY);
    receive(&w, 1u << DATA, 0);
    world_end(&w);
    assert_int_equal(w.n_starts, 5);
    for (uint32_t i = 2; i < 5; i++)
        expect_start(&w, i, NS(5000) + (i - 2) * NS(80), i);
    assert_int_equal(w.n_changes, 2);
    expect_change(&w, 0, NS(100), DATA, true);
    expect_change(&w, 1, NS(5000), DATA, false);
}

// A resume during a transmission takes effect at its end.
static void test_resume_waits_for_the_wire(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, RATE);
    enqueue(&w, 0, DATA, 0, 3);
    run_to(&w, NS(10));
    receive(&w, 1u << DATA, 100);
    run_to(&w, NS(20));
    receive(&w, 1u << DATA, 0);
    world_end(&w);
    for (uint32_t i = 0; i < 3; i++)
        expect_start(&w, i, i * NS(80), i);
}

static void test_other_classes_go_on(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, RATE);
    receive(&w, 1u << DATA, 1000); // until 5120 ns
    enqueue(&w, 0, DATA, 100, 3);
    run_to(&w, NS(50));
    enqueue(&w, 0, HIGH, 200, 2);
    enqueue(&w, 0, LOW, 300, 2); // strict priority must not delay other classes for a paused one
    world_end(&w);
    static const uint32_t psn[] = {200, 201, 300, 301, 100, 101, 102};
    assert_int_equal(w.n_starts, 7);
    for (size_t i = 0; i < 7; i++)
        expect_start(&w, i, i < 4 ? NS(50) + (ps_t)i * NS(80) : NS(5120) + (ps_t)(i - 4) * NS(80),
                     psn[i]);
}

// Only the classes of the vector, and only those in use, are affected.
static void test_class_vector(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, RATE);
    receive(&w, 1u << LOW | 1u << HIGH | 1u << 0 | 1u << 7, 10);
    assert_true(port_class_paused(&w.net, 0, LOW));
    assert_false(port_class_paused(&w.net, 0, DATA));
    assert_true(port_class_paused(&w.net, 0, HIGH));
    enqueue(&w, 0, DATA, 0, 1);
    assert_int_equal(w.n_starts, 1);
    run_to(&w, NS(10));
    receive(&w, 1u << LOW, 0);
    assert_false(port_class_paused(&w.net, 0, LOW));
    assert_true(port_class_paused(&w.net, 0, HIGH));
    world_end(&w);
    assert_int_equal(w.n_changes, 4);
    expect_change(&w, 2, NS(10), LOW, false);
    expect_change(&w, 3, 10 * QUANTUM_PS, HIGH, false);
}

// A pause lasts exactly quanta * 512 bit times (rounded down to 1 ps), at any rate.
static void test_expiry(void **state)
{
    (void)state;
    static const uint64_t rates[] = {25000000000,   40000000000,  100000000000, 400000000000,
                                     2400000000000, 99990012345u, 99999999977u};
    static const uint16_t quanta[] = {1, 2, 100, 32768, 65535};
    __extension__ typedef unsigned __int128 u128;
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t q = 0; q < sizeof quanta / sizeof *quanta; q++) {
            struct world w;
            world_begin(&w, rates[r]);
            run_to(&w, 777);
            receive(&w, 1u << DATA, quanta[q]);
            enqueue(&w, 0, DATA, 1, 1);
            assert_int_equal(w.n_starts, 0);
            ps_t length = (ps_t)((u128)quanta[q] * 512 * PS_PER_S / rates[r]);
            world_end(&w);
            assert_int_equal(w.n_starts, 1);
            expect_start(&w, 0, 777 + length, 1);
            expect_change(&w, 1, 777 + length, DATA, false);
        }
}

// The quanta of a frame count from its own arrival: later, earlier, and at the very instant of
// expiry.
static void test_refresh(void **state)
{
    (void)state;
    static const struct {
        ps_t again_ps;
        uint16_t quanta;
        ps_t end_ps;
    } cases[] = {
        {NS(400), 100, NS(400) + 100 * QUANTUM_PS},
        {NS(400), 1000, NS(400) + 1000 * QUANTUM_PS},
        {NS(400), 10, NS(400) + 10 * QUANTUM_PS}, // the last frame counts, even if it ends earlier
        {100 * QUANTUM_PS - 1, 100, 200 * QUANTUM_PS - 1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct world w;
        world_begin(&w, RATE);
        receive(&w, 1u << DATA, 100); // 512 ns
        enqueue(&w, 0, DATA, 0, 1);
        run_to(&w, cases[c].again_ps);
        receive(&w, 1u << DATA, cases[c].quanta);
        run_to(&w, cases[c].end_ps - 1);
        assert_int_equal(w.n_starts, 0);
        assert_int_equal(w.net.pfc[0].cls[DATA].pauses, 1); // one pause, extended
        assert_int_equal(w.net.pfc[0].rx_frames, 2);
        run_to(&w, cases[c].end_ps);
        expect_start(&w, 0, cases[c].end_ps, 0);
        assert_int_equal(port_paused_ps(&w.net, 0, DATA, NS(100000)), cases[c].end_ps);
        assert_int_equal(w.n_changes, 2);
        world_end(&w);
    }
}

// PFC frames over the link: a refresh that arrives at the instant of expiry takes effect first.
static void test_refresh_at_the_instant_of_expiry(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, RATE);
    enqueue(&w, 0, DATA, 0, 1);
    enqueue(&w, 0, DATA, 1, 30); // packets to be held back
    port_send_pfc(&w.net, 1, 1u << DATA, 300, NULL, 0);
    ps_t first = 84 * 80 + DELAY, again = 300 * QUANTUM_PS;
    run_to(&w, again);
    port_send_pfc(&w.net, 1, 1u << DATA, 300, NULL, again);
    run_to(&w, NS(3500));
    assert_int_equal(w.net.pfc[0].rx_frames, 2);
    assert_int_equal(w.net.pfc[0].cls[DATA].pauses, 1);
    assert_int_equal(w.n_changes, 1);
    expect_change(&w, 0, first, DATA, true);
    world_end(&w);
    assert_int_equal(w.n_changes, 2);
    expect_change(&w, 1, first + 600 * QUANTUM_PS, DATA, false);
}

// A PFC frame takes effect exactly `response` after its arrival, also a resume, and its quanta
// count from there. Frames received in the meantime keep their order.
static void test_response_delay(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, RATE);
    w.net.pfc[0].response_ps = NS(300);
    enqueue(&w, 0, DATA, 0, 20);
    run_to(&w, NS(100));
    receive(&w, 1u << DATA, 10000);
    run_to(&w, NS(250));
    receive(&w, 1u << DATA, 0);
    run_to(&w, NS(260));
    receive(&w, 1u << DATA, 100); // 512 ns
    world_end(&w);
    assert_int_equal(w.n_changes, 4);
    expect_change(&w, 0, NS(400), DATA, true);
    expect_change(&w, 1, NS(550), DATA, false);
    expect_change(&w, 2, NS(560), DATA, true);
    expect_change(&w, 3, NS(560) + 100 * QUANTUM_PS, DATA, false);
    for (uint32_t i = 0; i < 6; i++) // at 400 ns the departure precedes the pause
        expect_start(&w, i, i * NS(80), i);
    expect_start(&w, 6, NS(550), 6);
    expect_start(&w, 7, NS(560) + 100 * QUANTUM_PS, 7);
    assert_int_equal(w.n_starts, 20);
}

static void test_paused_time(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, RATE);
    run_to(&w, NS(100));
    assert_int_equal(port_paused_ps(&w.net, 0, DATA, NS(100)), 0);
    receive(&w, 1u << DATA | 1u << LOW, 100);
    run_to(&w, NS(130));
    assert_int_equal(port_paused_ps(&w.net, 0, DATA, NS(130)), NS(30)); // the current pause counts
    receive(&w, 1u << DATA, 0);
    receive(&w, 1u << DATA, 0); // a second resume has no effect
    run_to(&w, NS(1000));
    assert_int_equal(port_paused_ps(&w.net, 0, DATA, NS(1000)), NS(30));
    // until an earlier time, such as the end of the last job
    assert_int_equal(port_paused_ps(&w.net, 0, DATA, NS(110)), NS(10));
    assert_int_equal(port_paused_ps(&w.net, 0, DATA, NS(90)), 0);
    assert_int_equal(port_paused_ps(&w.net, 0, LOW, NS(1000)), 100 * QUANTUM_PS);
    assert_int_equal(port_paused_ps(&w.net, 0, HIGH, NS(1000)), 0);
    assert_int_equal(port_paused_ps(&w.net, 0, 0, NS(1000)), 0); // class not in use
    receive(&w, 1u << DATA, 20);
    run_to(&w, NS(2000));
    assert_int_equal(port_paused_ps(&w.net, 0, DATA, NS(2000)), NS(30) + 20 * QUANTUM_PS);
    assert_int_equal(w.net.pfc[0].cls[DATA].pauses, 2);
    assert_int_equal(w.net.pfc[0].cls[LOW].pauses, 1);
    assert_int_equal(w.net.pfc[0].rx_frames, 4);
    world_end(&w);
}

// A PFC frame waits for the current transmission, precedes all queued packets and is never paused.
static void test_frame_on_the_way_back(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, RATE);
    receive(&w, 1u << DATA, 65535); // received by port 0, so it must not stop port 1
    enqueue(&w, 1, HIGH, 0, 5);
    run_to(&w, NS(30));
    port_send_pfc(&w.net, 1, 1u << HIGH, 50, NULL, NS(30));
    port_send_pfc(&w.net, 1, 1u << HIGH, 0, NULL, NS(30));
    assert_int_equal(w.net.pfc[1].tx_pause, 1);
    assert_int_equal(w.net.pfc[1].tx_resume, 1);
    assert_int_equal(w.net.ports[1].queued_bytes, 4 * 980); // PFC frames are not counted
    run_to(&w, NS(3000));
    ps_t first = NS(80) + 84 * 80 + DELAY;
    expect_change(&w, 1, first, HIGH, true);
    expect_change(&w, 2, first + 84 * 80, HIGH, false);
    assert_int_equal(w.last_arrival_ps, 5 * NS(80) + 2 * 84 * 80 + DELAY);
    world_end(&w);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stops_from_the_next_packet),
        cmocka_unit_test(test_resume_waits_for_the_wire),
        cmocka_unit_test(test_other_classes_go_on),
        cmocka_unit_test(test_class_vector),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_refresh_at_the_instant_of_expiry),
        cmocka_unit_test(test_response_delay),
        cmocka_unit_test(test_paused_time),
        cmocka_unit_test(test_frame_on_the_way_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

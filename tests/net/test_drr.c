// SPDX-License-Identifier: MIT
// Tests of sharing an output port among data classes: two nodes, one link, stub nodes that record
// the transmissions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/network.h"

#define RATE UINT64_C(100000000000)
#define LARGEST 1000 // wire bytes
#define CONTROL NET_CLASS_CONTROL

struct world {
    struct engine engine;
    struct network net;
    uint64_t bytes[NET_CLASSES]; // wire bytes sent per class
    uint64_t weight[NET_CLASSES];
    unsigned order[64]; // classes of the first transmissions
    size_t n_starts;
    bool check_fairness;
};

static void on_arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    (void)ctx, (void)node, (void)local, (void)p, (void)now;
}

static void on_depart(void *ctx, uint32_t node, uint32_t port, struct packet *p, uint64_t queue,
                      ps_t now)
{
    (void)ctx, (void)node, (void)port, (void)p, (void)queue, (void)now;
}

// While all classes have packets waiting, their bytes divided by weight differ at any instant by at
// most a quantum and two of the largest frames (Shreedhar & Varghese, theorem 4.7).
static void check_fairness(const struct world *w)
{
    for (unsigned a = 0; a < NET_DATA_CLASSES; a++)
        for (unsigned b = 0; b < NET_DATA_CLASSES; b++) {
            if (w->weight[a] == 0 || w->weight[b] == 0)
                continue;
            double apart = (double)w->bytes[a] / (double)w->weight[a] -
                           (double)w->bytes[b] / (double)w->weight[b];
            assert_true(apart <= 3 * LARGEST && apart >= -3 * LARGEST);
        }
}

static void on_start(void *ctx, uint32_t port, const struct packet *p, ps_t start_ps, ps_t end_ps)
{
    (void)port, (void)start_ps, (void)end_ps;
    struct world *w = ctx;
    if (w->n_starts < 64)
        w->order[w->n_starts] = p->cls;
    w->n_starts++;
    w->bytes[p->cls] += p->wire_bytes;
    if (w->check_fairness)
        check_fairness(w);
}

static void world_begin(struct world *w, const uint64_t weight[NET_DATA_CLASSES])
{
    *w = (struct world){0};
    uint8_t classes = 1u << CONTROL;
    for (unsigned cls = 0; cls < NET_DATA_CLASSES; cls++) {
        w->weight[cls] = weight[cls];
        classes |= (uint8_t)((weight[cls] > 0) << cls);
    }
    engine_init(&w->engine, 1);
    network_init(&w->net, &w->engine, 1, 2, 2, classes);
    for (uint32_t p = 0; p < 2; p++) {
        struct port_config config = {
            .node = p, .peer = 1 - p, .peer_node = 1 - p, .rate_bps = RATE, .delay_ps = PS_PER_US};
        network_set_port(&w->net, p, &config);
    }
    for (unsigned cls = 0; cls < NET_DATA_CLASSES; cls++)
        if (weight[cls] > 0)
            network_set_quantum(&w->net, 0, cls, (uint32_t)weight[cls] * LARGEST);
    w->net.pfc_wire_bytes = 84;
    w->net.ops[NET_RANK] = w->net.ops[NET_SWITCH] =
        (struct node_ops){.arrive = on_arrive, .depart = on_depart, .ctx = w};
    w->net.tap = (struct tap){.seen = on_start, .ctx = w};
    network_tap_port(&w->net, 0);
}

static void world_end(struct world *w)
{
    engine_drain(&w->engine, SIZE_MAX);
    assert_int_equal(network_held(&w->net), 0);
    network_free(&w->net);
    engine_free(&w->engine);
}

static void run_to(struct world *w, ps_t at_ps)
{
    w->engine.horizon_ps = at_ps;
    engine_drain(&w->engine, SIZE_MAX);
    w->engine.horizon_ps = PS_NEVER;
    w->engine.now_ps = at_ps;
    port_catch_up(&w->net, 0, at_ps);
}

static void enqueue(struct world *w, unsigned cls, uint16_t wire_bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct packet p = {.cls = cls & 7,
                           .wire_bytes = wire_bytes,
                           .frame_bytes = wire_bytes,
                           .arrives_ps = w->engine.now_ps};
        port_enqueue(&w->net, 0, &p, w->engine.now_ps);
    }
}

// One byte takes 80 ps.
#define BYTES_PS(n) ((ps_t)(n)*80)

static void assert_share(const struct world *w, unsigned cls, uint64_t total, double share)
{
    double got = (double)w->bytes[cls] / (double)total;
    assert_true(got > share - 0.01 && got < share + 0.01);
}

// Weights 1:3 give 25 and 75 % of the bytes, whatever the sizes of the packets.
static void test_weights(void **state)
{
    (void)state;
    static const struct {
        uint16_t light, heavy; // wire bytes
    } cases[] = {{1000, 1000}, {1000, 84}, {84, 1000}, {700, 999}, {333, 90}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct world w;
        world_begin(&w, (uint64_t[NET_DATA_CLASSES]){[0] = 1, [3] = 3});
        w.check_fairness = true;
        enqueue(&w, 0, cases[c].light, 6000);
        enqueue(&w, 3, cases[c].heavy, 6000);
        run_to(&w, BYTES_PS(400000));
        assert_share(&w, 0, 400000, 0.25);
        assert_share(&w, 3, 400000, 0.75);
        w.check_fairness = false;
        world_end(&w);
    }
}

static void test_three_classes(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, (uint64_t[NET_DATA_CLASSES]){[1] = 2, [3] = 5, [5] = 1});
    w.check_fairness = true;
    enqueue(&w, 1, 1000, 2000);
    enqueue(&w, 3, 400, 2000);
    enqueue(&w, 5, 150, 2000);
    run_to(&w, BYTES_PS(800000));
    assert_share(&w, 1, 800000, 0.25);
    assert_share(&w, 3, 800000, 0.625);
    assert_share(&w, 5, 800000, 0.125);
    w.check_fairness = false;
    world_end(&w);
}

// Bandwidth that a class does not use goes to the other class, and is not credited for later.
static void test_idle_share(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, (uint64_t[NET_DATA_CLASSES]){[0] = 1, [3] = 3});
    enqueue(&w, 0, 1000, 2000);
    run_to(&w, BYTES_PS(500000));
    assert_share(&w, 0, 500000, 1);
    uint64_t before = w.bytes[0];
    enqueue(&w, 3, 1000, 2000);
    run_to(&w, BYTES_PS(520000));
    assert_in_range(w.bytes[0] - before, 4000, 7000); // a quarter of 20 packets, without a burst
    world_end(&w);
}

// A class whose last packet has left loses its deficit, even if more packets arrive before the link
// is free.
static void test_empty_forfeits(void **state)
{
    (void)state;
    static const unsigned order[] = {CONTROL, 3, 0, 3, 0, 0};
    struct world w;
    world_begin(&w, (uint64_t[NET_DATA_CLASSES]){[0] = 3, [3] = 1});
    enqueue(&w, CONTROL, 1000, 1);
    enqueue(&w, 3, 1000, 2);
    enqueue(&w, 0, 1000, 1);
    run_to(&w, BYTES_PS(2500)); // class 0 sends its only packet
    enqueue(&w, 0, 1000, 2);
    world_end(&w);
    assert_int_equal(w.n_starts, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(w.order[i], order[i]);
}

// Control packets are sent before all data packets.
static void test_control_first(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, (uint64_t[NET_DATA_CLASSES]){[0] = 1, [3] = 3});
    enqueue(&w, 0, 1000, 10);
    enqueue(&w, 3, 1000, 10);
    run_to(&w, BYTES_PS(2500));
    enqueue(&w, CONTROL, 100, 3);
    world_end(&w);
    for (size_t i = 3; i < 6; i++) // the third data packet was already being sent
        assert_int_equal(w.order[i], CONTROL);
}

// PFC stops only its class: the other class has the whole link, and afterwards each has its share
// again.
static void test_pause_of_one_class(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, (uint64_t[NET_DATA_CLASSES]){[0] = 1, [3] = 3});
    enqueue(&w, 0, 1000, 3000);
    enqueue(&w, 3, 600, 5000);
    run_to(&w, BYTES_PS(100000));
    struct packet pause = {.kind = PACKET_PFC, .pfc = packet_pfc(1u << 3, 65535)};
    port_receive_pfc(&w.net, 0, &pause, w.engine.now_ps);
    uint64_t light = w.bytes[0], heavy = w.bytes[3];
    run_to(&w, BYTES_PS(500000));
    assert_int_equal(w.bytes[3], heavy);
    assert_in_range(w.bytes[0] - light, 398000, 401000);
    pause.pfc = packet_pfc(1u << 3, 0);
    port_receive_pfc(&w.net, 0, &pause, w.engine.now_ps);
    light = w.bytes[0];
    run_to(&w, BYTES_PS(900000));
    assert_in_range(w.bytes[0] - light, 96000, 104000);
    assert_in_range(w.bytes[3] - heavy, 296000, 304000);
    world_end(&w);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_three_classes),
        cmocka_unit_test(test_idle_share),
        cmocka_unit_test(test_control_first),
        cmocka_unit_test(test_pause_of_one_class),
        cmocka_unit_test(test_empty_forfeits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

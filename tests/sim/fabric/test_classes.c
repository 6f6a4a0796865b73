// SPDX-License-Identifier: MIT
// Traffic classes end to end: shares of switches and NICs, a lossy and a lossless class together,
// and PFC that pauses one class only.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/advice/advice.h"
#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

// Add a job; its flows follow those of the earlier jobs.
static void add_flow(struct fixture *f, size_t job, unsigned cls, uint32_t src, uint32_t dst,
                     uint64_t bytes)
{
    size_t n = 0;
    for (size_t j = 0; j < f->spec.n_jobs; j++)
        n += f->lists[j].list.n;
    if (job == f->spec.n_jobs) {
        fixture_flow_job(f, job, "more", cls, n, 0);
        f->spec.n_jobs++;
    }
    assert_true(job + 1 == f->spec.n_jobs && n < sizeof f->flows / sizeof *f->flows);
    f->flows[n] = (struct raw_flow){src, dst, bytes, 0, 0};
    f->lists[job].list.n++;
}

static void set_class(struct fixture *f, unsigned cls, int lossless, uint64_t weight)
{
    f->spec.dims[0].sw.classes[cls] =
        (struct class_spec){.lossless = lossless, .weight = weight, .alpha = PARAM_AUTO_RATIO};
}

static uint64_t delivered(const struct fixture *f, uint32_t job)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < f->result->n_flows; i++)
        bytes += f->result->flows[i].job == job ? f->result->flows[i].delivered_bytes : 0;
    return bytes;
}

// Light, weight 1: one flow of full packets; heavy, weight 3: many one-packet messages of 1500 B.
// Their wire bytes: 4096 + 86 without, 1500 + 102 with RETH.
static void check_shares(uint32_t src_heavy, uint32_t dst_heavy, const char *what)
{
    struct fixture f;
    fixture_switch(&f, 4, RATE, PS_PER_US);
    set_class(&f, 1, LOSSLESS_ON, 1);
    set_class(&f, 4, LOSSLESS_ON, 3);
    roce_spec_of(&f.spec.dims[0].transport)->ack_class = ACK_CLASS_CONTROL;
    f.spec.duration_ps = 120 * PS_PER_US;
    add_flow(&f, 0, 1, 0, 2, 10000000);
    for (int i = 0; i < 1000; i++)
        add_flow(&f, 1, 4, src_heavy, dst_heavy, 1500);
    fixture_run(&f);
    double light = (double)delivered(&f, 0) * (4096 + 82) / 4096;
    double heavy = (double)delivered(&f, 1) * (1500 + 98) / 1500;
    if (heavy / (light + heavy) < 0.74 || heavy / (light + heavy) > 0.76)
        fail_msg("%s: %.3f", what, heavy / (light + heavy));
    assert_true(light + heavy > 0.95 * 100e9 / 8 * 117e-6); // the link is full
    assert_int_equal(f.result->dropped_packets, 0);
    fixture_free(&f);
}

static void test_shares(void **state)
{
    (void)state;
    check_shares(1, 2, "two senders, one receiver: the switch shares");
    check_shares(0, 3, "one sender, two receivers: its NIC shares");
}

// A lossless class 3 and a lossy class 0, the defaults of RDMA beside TCP, share switches and NICs
// by their weights, and only the lossless one has headroom.
static void check_mixed(uint64_t weight0, uint64_t weight3, uint32_t src3, uint32_t dst3)
{
    struct fixture f;
    fixture_switch(&f, 4, RATE, PS_PER_US);
    set_class(&f, 0, LOSSLESS_AUTO, weight0);
    set_class(&f, 3, LOSSLESS_AUTO, weight3);
    roce_spec_of(&f.spec.dims[0].transport)->ack_class = ACK_CLASS_CONTROL;
    f.spec.duration_ps = 300 * PS_PER_US;
    add_flow(&f, 0, 0, 0, 2, 10000000);
    add_flow(&f, 1, 3, src3, dst3, 10000000);
    fixture_run(&f);
    double lossy = (double)delivered(&f, 0), lossless = (double)delivered(&f, 1);
    double want = (double)weight3 / (double)(weight0 + weight3),
           got = lossless / (lossy + lossless);
    if (got < want - 0.01 || got > want + 0.01)
        fail_msg("weights %u and %u: class 3 has %.3f", (unsigned)weight0, (unsigned)weight3, got);
    assert_true(lossy + lossless > 0.95 * 100e9 / 8 * 297e-6 * 4096 / 4178); // the link is full
    assert_int_equal(f.result->dropped_packets, 0);
    const struct switch_node *s = &f.sim->fabric.switches.nodes[0];
    const struct network *net = &f.sim->fabric.net;
    assert_int_equal(s->lossless, 1u << 3);
    for (uint32_t p = 0; p < s->n_ports; p++)
        for (unsigned cls = 0; cls < NET_CLASSES; cls++)
            if (net->slot_of_class[cls] != NET_NO_SLOT) {
                const struct mmu_ingress *in =
                    &s->mmu.ingress[p * s->mmu.n_classes + mmu_class(net, cls)];
                assert_int_equal(in->headroom_limit > 0, cls == 3);
            }
    fixture_free(&f);
}

static void test_lossless_and_lossy_shares(void **state)
{
    (void)state;
    static const uint64_t weights[][2] = {{1, 1}, {1, 4}, {3, 1}};
    for (size_t w = 0; w < 3; w++) {
        check_mixed(weights[w][0], weights[w][1], 1, 2); // the switch shares
        check_mixed(weights[w][0], weights[w][1], 0, 3); // the NIC shares
    }
}

static void expect_headroom_advice(const struct sim *sim, bool wanted)
{
    struct advice *a = sim_advice(sim);
    bool found = false;
    for (size_t i = 0; i < a->n_warnings; i++)
        found |= a->warnings[i].kind == ADVICE_HEADROOM;
    assert_int_equal(found, wanted);
    advice_free(a);
}

// PFC for a class, TCP's for example, needs headroom: 25002 B of link, 3 * 4194 B of frames and 84
// B for each of 3 PFC frames, or of 6 with two classes.
static void test_lossless_without_headroom(void **state)
{
    (void)state;
    static const struct {
        uint64_t headroom_bytes;
        bool lossless0, error;
        const char *want;
    } cases[] = {
        {0, true, true,
         "switch.pfc.headroom: 0 B, but PFC is to keep classes 0, 3 lossless: what a sender "
         "still sends after a pause needs up to 38.1 KB (auto), or the class `lossless: false`"},
        {0, false, true,
         "switch.pfc.headroom: 0 B, but PFC is to keep class 3 lossless: what a sender still "
         "sends after a pause needs up to 37.8 KB (auto), or the class `lossless: false`"},
        {5000, false, false, NULL}, // less than 37836 is a warning before the run
        {37836, false, false, NULL},
        {PARAM_AUTO, true, false, NULL},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct fixture f;
        struct err err = {0};
        fixture_switch(&f, 3, RATE, PS_PER_US);
        set_class(&f, 0, cases[c].lossless0 ? LOSSLESS_ON : LOSSLESS_OFF, 1);
        f.spec.dims[0].sw.pfc.headroom_bytes = cases[c].headroom_bytes;
        add_flow(&f, 0, 0, 0, 1, 1000);
        add_flow(&f, 1, 3, 0, 1, 1000);
        f.sim = sim_new(&f.spec, &err);
        assert_int_equal(f.sim == NULL, cases[c].error);
        assert_int_equal(err.n_items, cases[c].want != NULL);
        if (cases[c].want)
            assert_string_equal(err.items[0].text, cases[c].want);
        else
            expect_headroom_advice(f.sim, cases[c].headroom_bytes < 37836);
        err_free(&err);
        sim_free(f.sim);
    }
    // without a lossless class in use, no headroom is needed
    struct fixture f;
    struct err err = {0};
    fixture_switch(&f, 3, RATE, PS_PER_US);
    f.spec.dims[0].sw.pfc.headroom_bytes = 0;
    add_flow(&f, 0, 0, 0, 1, 1000);
    f.sim = sim_new(&f.spec, &err);
    assert_non_null(f.sim);
    assert_int_equal(err.n_items, 0);
    sim_free(f.sim);
}

// Lossy storage traffic and lossless RDMA in the same switch and to the same port.
static void test_lossy_beside_lossless(void **state)
{
    (void)state;
    struct fixture f;
    fixture_switch(&f, 10, RATE, PS_PER_US);
    f.spec.dims[0].sw.buffer_bytes = 3000000;
    roce_spec_of(&f.spec.dims[0].transport)->rto_ps = 200 * PS_PER_US;
    roce_spec_of(&f.spec.dims[0].transport)->retry_limit = 1000;
    for (uint32_t r = 1; r < 9; r++)
        add_flow(&f, 0, NET_CLASS_DATA, r, 0, 1000000);
    for (uint32_t r = 1; r < 9; r++)
        add_flow(&f, 1, 2, r, 0, 1000000);
    fixture_run(&f);
    const struct result *r = f.result;
    assert_int_equal(r->status, RUN_COMPLETED);
    assert_true(r->drops[DROP_LOSSY_THRESHOLD] > 0 && r->pause_frames > 0);
    assert_int_equal(r->drops[DROP_HEADROOM], 0);
    uint64_t again[2] = {0};
    for (size_t i = 0; i < r->n_flows; i++)
        again[r->flows[i].job] += r->flows[i].retransmitted;
    assert_int_equal(again[0], 0);
    assert_true(again[1] > 0);
    assert_true(r->n_pfc_ports > 0);
    for (size_t i = 0; i < r->n_pfc_ports; i++)
        assert_int_equal(r->pfc_ports[i].cls, NET_CLASS_DATA);
    fixture_free(&f);
}

// Four ranks send to one; one of them also sends elsewhere. In another class, this flow gets the
// NIC capacity that the incast leaves; in the same class it is a victim of the pauses.
static ps_t victim_fct(unsigned cls, bool *paused_alone)
{
    struct fixture f;
    ps_t fct = -1;
    fixture_switch(&f, 6, RATE, PS_PER_US);
    set_class(&f, 5, LOSSLESS_ON, 1);
    f.spec.dims[0].sw.buffer_bytes = 1500000;
    for (uint32_t r = 0; r < 4; r++)
        add_flow(&f, 0, NET_CLASS_DATA, r, 4, 4000000);
    add_flow(&f, 1, cls, 0, 5, 4000000);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(f.result->pause_frames > 0);
    *paused_alone = true;
    for (size_t i = 0; i < f.result->n_pfc_ports; i++)
        *paused_alone &= f.result->pfc_ports[i].cls == NET_CLASS_DATA;
    for (size_t i = 0; i < f.result->n_flows; i++)
        if (f.result->flows[i].job == 1)
            fct = f.result->flows[i].fct_ps;
    fixture_free(&f);
    return fct;
}

static void test_pause_of_one_class(void **state)
{
    (void)state;
    bool alone;
    ps_t line_ps = serialization_ps(4000000, RATE), other = victim_fct(5, &alone);
    assert_true(alone);
    // It starts with half of the NIC and has 3/4 of it once the incast is paused to a quarter.
    assert_true(other < 3 * line_ps / 2);
    ps_t same = victim_fct(NET_CLASS_DATA, &alone);
    assert_true(same > 3 * line_ps); // a quarter, like each flow of the incast
}

// Eight senders to one receiver, classes with different thresholds: an ingress holds at most alpha
// * B and its reserve, an egress queue of a lossy class alpha * B.
static void test_alpha_of_a_class(void **state)
{
    (void)state;
    static const double alphas[] = {0.01, 0.05, 0.5};
    for (size_t i = 0; i < 3; i++)
        for (int lossless = LOSSLESS_ON; lossless <= LOSSLESS_OFF; lossless++) {
            struct fixture f;
            fixture_switch(&f, 9, RATE, PS_PER_US);
            set_class(&f, 2, lossless, 1);
            f.spec.dims[0].sw.classes[2].alpha = alphas[i];
            f.spec.dims[0].sw.reserve_bytes = 4000;
            f.spec.dims[0].sw.buffer_bytes = 8000000;
            f.spec.duration_ps = 500 * PS_PER_US;
            for (uint32_t r = 1; r < 9; r++)
                add_flow(&f, 0, 2, r, 0, 4000000);
            fixture_run(&f);
            const struct switch_result *s = &f.result->switches[0];
            double most = alphas[i] * (double)s->shared_bytes;
            double held = lossless == LOSSLESS_ON ? (double)s->max_ingress_bytes - 4000
                                                  : (double)s->max_queue_bytes;
            if (lossless == LOSSLESS_OFF)
                most += 8 * 4000; // bytes within a reserve are always accepted
            double floor = lossless == LOSSLESS_ON ? most / (1 + 8 * alphas[i]) : most / 2;
            assert_true(held <= most && held > 0.8 * floor);
            assert_int_equal(f.result->drops[DROP_LOSSY_THRESHOLD] > 0, lossless == LOSSLESS_OFF);
            fixture_free(&f);
        }
}

// Each class's queue has a PI controller of its own.
static void test_marking_of_a_class(void **state)
{
    (void)state;
    struct fixture f;
    fixture_switch(&f, 10, RATE, PS_PER_US);
    set_class(&f, 1, LOSSLESS_ON, 1);
    set_class(&f, 4, LOSSLESS_ON, 1);
    f.spec.duration_ps = 300 * PS_PER_US;
    f.spec.dims[0].sw.ecn = (struct ecn_spec){.mode = ECN_ON,
                                              .kind = MARKING_PI,
                                              .qref_bytes = 50000,
                                              .pi_a = 0.0002,
                                              .pi_b = 0.00019,
                                              .pi_interval_ps = PS_PER_US};
    for (uint32_t r = 1; r < 9; r++)
        add_flow(&f, 0, 1, r, 0, 2000000);
    add_flow(&f, 1, 4, 9, 0, 20000); // its queue stays below qref
    fixture_run(&f);
    uint32_t port = f.sim->fabric.net.first_port[10]; // of the switch, to rank 0
    assert_int_equal(f.sim->fabric.net.ports[port].peer_node, 0);
    assert_true(switch_marking(&f.sim->fabric.switches, port, 1)->pi.p > 0.1);
    assert_true(switch_marking(&f.sim->fabric.switches, port, 4)->pi.p == 0);
    assert_true(f.result->marked_packets > 0);
    fixture_free(&f);
}

// Pauses of two classes on one port are refreshed independently: class 5 waits 400 us, 40 times its
// quanta, for a rank that pauses it, while class 3 is paused and resumed.
static void test_refresh_of_each_class(void **state)
{
    (void)state;
    struct fixture f;
    fixture_switch(&f, 7, RATE, PS_PER_US);
    set_class(&f, 5, LOSSLESS_ON, 1);
    f.spec.dims[0].sw.buffer_bytes = 1500000;
    f.spec.dims[0].sw.pfc.quanta = 2000; // 10 us
    for (uint32_t r = 0; r < 4; r++)
        add_flow(&f, 0, NET_CLASS_DATA, r, 4, 3000000);
    add_flow(&f, 1, 5, 0, 5, 3000000);
    f.faults[0] = fixture_fault("rank5");
    f.faults[0].storm_ps = 10 * PS_PER_US;
    f.faults[0].storm_end_ps = 400 * PS_PER_US;
    f.spec.faults = f.faults;
    f.spec.n_faults = 1;
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->dropped_packets, 0);
    uint64_t pauses[NET_CLASSES] = {0};
    for (size_t i = 0; i < f.result->n_pfc_ports; i++)
        if (f.result->pfc_ports[i].at[0] == 'r' && f.result->pfc_ports[i].at[4] == '0')
            pauses[f.result->pfc_ports[i].cls] = f.result->pfc_ports[i].pauses;
    assert_true(pauses[3] > 2);
    assert_int_equal(pauses[5], 1); // one pause, extended by refreshes
    fixture_free(&f);
}

static void run_to(struct fixture *f, ps_t at_ps)
{
    f->sim->fabric.engine.horizon_ps = at_ps;
    engine_drain(&f->sim->fabric.engine, SIZE_MAX);
    f->sim->fabric.engine.now_ps = at_ps;
}

// The retransmission timer stops while its own class is paused, and runs while another class is: a
// packet of class 1 is lost, then the NIC is paused for 335 us.
static void test_timer_of_a_class(void **state)
{
    (void)state;
    static const struct {
        uint8_t paused;
        bool fires;
    } cases[] = {{1u << 3, true}, {1u << 1, false}, {1u << 1 | 1u << 3, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct fixture f;
        struct err err = {0};
        fixture_switch(&f, 3, RATE, PS_PER_US);
        roce_spec_of(&f.spec.dims[0].transport)->rto_ps = 50 * PS_PER_US;
        add_flow(&f, 0, NET_CLASS_DATA, 0, 1, 1000);
        add_flow(&f, 1, 1, 0, 2, 1000);
        f.faults[0] = fixture_fault("dim0.sw0->rank2");
        f.faults[0].one_way = true;
        f.faults[0].loss = 1;
        f.spec.faults = f.faults;
        f.spec.n_faults = 1;
        f.sim = sim_new(&f.spec, &err);
        assert_non_null(f.sim);
        run_to(&f, 10 * PS_PER_US);
        struct packet p = {.kind = PACKET_PFC, .pfc = packet_pfc(cases[c].paused, UINT16_MAX)};
        port_receive_pfc(&f.sim->fabric.net, 0, &p, f.sim->fabric.engine.now_ps);
        run_to(&f, 300 * PS_PER_US);
        assert_int_equal(f.sim->fabric.hosts.counters.timeouts > 0, cases[c].fires);
        run_to(&f, 450 * PS_PER_US); // the pause has ended, and the timer has continued
        assert_true(f.sim->fabric.hosts.counters.timeouts > 0);
        fixture_free(&f);
    }
}

// A scale-up dimension may have a class of its own, which its traffic uses instead of the job's
// class.
static void test_class_of_a_dimension(void **state)
{
    (void)state;
    struct fixture f;
    fixture_switch(&f, 2, UINT64_C(100000000000), PS_PER_US);
    f.spec.dims[1] = f.spec.dims[0];
    f.spec.dims[1].transport.cls = 1;
    f.spec.n_dims = 2;
    fixture_flow(&f, 0, 1, 100000, 0);
    fixture_flow(&f, 0, 2, 100000, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.sim->fabric.hosts.flows.ids[0].cls, 3);
    assert_int_equal(f.sim->fabric.hosts.flows.ids[1].cls, 1);
    assert_int_equal(f.sim->fabric.hosts.flows.ids[0].data_dscp, 26);
    assert_int_equal(f.sim->fabric.hosts.flows.ids[1].data_dscp, 8);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_lossless_and_lossy_shares),
        cmocka_unit_test(test_lossless_without_headroom),
        cmocka_unit_test(test_lossy_beside_lossless),
        cmocka_unit_test(test_pause_of_one_class),
        cmocka_unit_test(test_refresh_of_each_class),
        cmocka_unit_test(test_alpha_of_a_class),
        cmocka_unit_test(test_marking_of_a_class),
        cmocka_unit_test(test_timer_of_a_class),
        cmocka_unit_test(test_class_of_a_dimension),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

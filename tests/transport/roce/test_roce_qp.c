// SPDX-License-Identifier: MIT
// Tests of RoCE's queue pairs over one switch: pacing, arbitration at the NIC, opening and reuse of
// queue pairs, and the notification point.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "tests/support/roce_lab.h"

#define BYTE_PS 80 // at LAB_LINE

/* ---- pacing ---- */

// The data packets of a flow start wire bytes / rate apart, to 1 ns and without drift.
static void test_paced_spacing(void **state)
{
    (void)state;
    static const uint64_t rates[] = {
        LAB_LINE / 3, LAB_LINE * 7 / 9, LAB_LINE / 100, 1000000000, LAB_LINE - 1, 123456789, 1000};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        struct lab l;
        // the lowest rate with the largest packets: 73 s per packet
        uint64_t mtu = rates[r] == 1000 ? 9000 : LAB_MTU;
        lab_begin(&l, 2, &lab_ack_ops)->mtu_bytes = mtu;
        lab_stub.rate_bps = rates[r];
        lab_build(&l);
        lab_post(&l, 0, 1, 500 * mtu - 123, 0);
        lab_post(&l, 0, 1, 500 * mtu, 1); // pacing continues across messages
        lab_run(&l);
        assert_int_equal(lab_count(&l, lab_is_data), 1000);
        double exact = 0;
        for (size_t i = 0; i < 999; i++) {
            const struct lab_seen *one = lab_nth(&l, lab_is_data, i);
            double gap = one->p.wire_bytes * 8e12 / (double)rates[r];
            ps_t next = lab_nth(&l, lab_is_data, i + 1)->at_ps;
            assert_true(fabs((double)(next - one->at_ps) - gap) <= 1000);
            exact += gap;
            assert_true(fabs((double)next - exact) <= 2000); // 2 ps per packet
        }
        lab_end(&l);
    }
}

static void test_line_rate_leaves_no_gap(void **state)
{
    (void)state;
    struct lab l;
    lab_begin(&l, 2, NULL);
    lab_build(&l);
    lab_post(&l, 0, 1, 50 * LAB_MTU, 0);
    lab_post(&l, 0, 1, 50 * LAB_MTU, 1);
    lab_run(&l);
    ps_t at = 0;
    for (size_t i = 0; i < 100; i++) {
        const struct lab_seen *one = lab_nth(&l, lab_is_data, i);
        assert_int_equal(one->at_ps, at);
        assert_int_equal(one->p.wire_bytes, LAB_WIRE + (i % 50 == 0 ? 16 : 0)); // RETH
        at += one->p.wire_bytes * BYTE_PS;
    }
    lab_end(&l);
}

// A new rate counts from the last start, also for a packet that waits for its pace.
static void test_rate_change_while_waiting(void **state)
{
    (void)state;
    static const struct {
        uint64_t before_bps, after_bps;
    } cases[] = {{1000000000, 4000000000}, {4000000000, 1000000000}, {1000000000, LAB_LINE}};
    for (size_t c = 0; c < 3; c++) {
        struct lab l;
        lab_begin(&l, 2, &lab_cnp_ops);
        lab_stub.rate_bps = cases[c].before_bps;
        lab_stub.cnp_rate_bps = cases[c].after_bps;
        struct hosts *hosts = lab_build(&l);
        lab_post(&l, 0, 1, 10 * LAB_MTU, 0);
        ps_t cut = PS_PER_US / 2; // while the second packet waits
        lab_run_to(&l, cut);
        assert_int_equal(lab_count(&l, lab_is_data), 1);
        struct packet cnp = {.kind = PACKET_CNP};
        sender_feedback(hosts->senders[0], &cnp, cut);
        lab_run(&l);
        ps_t due = (ps_t)((LAB_WIRE + 16) * 8e12 / (double)cases[c].after_bps);
        due = cases[c].after_bps == LAB_LINE ? 0 : due; // in the past: at once
        assert_true(llabs(lab_nth(&l, lab_is_data, 1)->at_ps - (due > cut ? due : cut)) <= 1000);
        lab_end(&l);
    }
}

// The same for a packet whose time has come but which PFC holds back: it may not be sent before its
// new time.
static void test_rate_cut_while_paused(void **state)
{
    (void)state;
    struct lab l;
    lab_begin(&l, 2, &lab_cnp_ops);
    lab_stub.cnp_rate_bps = 100000000;
    struct hosts *hosts = lab_build(&l);
    lab_post(&l, 0, 1, 10 * LAB_MTU, 0);
    lab_run_to(&l, PS_PER_US / 100);
    lab_pause(&l, 65535);
    lab_run_to(&l, PS_PER_US);
    assert_int_equal(lab_count(&l, lab_is_data), 1);
    struct packet cnp = {.kind = PACKET_CNP};
    sender_feedback(hosts->senders[0], &cnp, lab_now(&l));
    lab_run_to(&l, 5 * PS_PER_US);
    lab_pause(&l, 0);
    lab_run(&l);
    ps_t due = (LAB_WIRE + 16) * 80000; // 87.84 us at 100 Mb/s
    assert_true(llabs(lab_nth(&l, lab_is_data, 1)->at_ps - due) <= 1000);
    lab_end(&l);
}

// A CNP that arrives while the queue pair is idle sets the rate of its next message. A connection
// that ends with its message has no rate limiter any more, so the next message starts at line rate.
static bool mark_the_last(struct lab *l, struct packet *p)
{
    (void)l;
    if (lab_is_data(p) && p->flags & PACKET_LAST && lab_psn(l, p) < 10)
        p->flags |= PACKET_CE;
    return false;
}

static void test_cnp_while_idle(void **state)
{
    (void)state;
    for (int qp = QP_PERSISTENT; qp <= QP_PER_MESSAGE; qp++) {
        struct lab l;
        struct roce_spec *t = lab_begin(&l, 2, &lab_cnp_ops);
        t->qp = qp;
        t->ack_class = ACK_CLASS_CONTROL; // the CNP leaves the receiver before the ACK and arrives
                                          // before it
        lab_stub.cnp_rate_bps = LAB_LINE / 100;
        lab_build(&l);
        l.lose = mark_the_last;
        lab_post(&l, 0, 1, 10 * LAB_MTU, 0);
        lab_run(&l);
        struct packet cnp = {.kind = PACKET_CNP};
        assert_true(l.sent_ps[0] > 0);
        sender_feedback(l.sim->fabric.hosts.senders[0], &cnp, lab_now(&l));
        bool persistent = qp == QP_PERSISTENT;
        assert_int_equal(lab_stub.cnps, persistent ? 2 : 1);
        lab_post(&l, 0, 1, 2 * LAB_MTU, 1);
        lab_run(&l);
        ps_t gap = lab_nth(&l, lab_is_data, 11)->at_ps - lab_nth(&l, lab_is_data, 10)->at_ps;
        ps_t packet = (LAB_WIRE + 16) * BYTE_PS;
        assert_true(llabs(gap - (persistent ? 100 * packet : packet)) <= 1000);
        lab_end(&l);
    }
}

/* ---- arbitration ---- */

// Queue pairs at one NIC take turns packet by packet, and finished ones leave the round.
static void test_round_robin(void **state)
{
    (void)state;
    static const uint64_t packets[] = {40, 20, 30};
    struct lab l;
    lab_begin(&l, 4, NULL);
    lab_build(&l);
    for (uint32_t i = 0; i < 3; i++)
        lab_post(&l, 0, i + 1, packets[i] * LAB_MTU, i);
    lab_run(&l);
    uint64_t sent[3] = {0};
    uint32_t turn = 0;
    ps_t free_at = 0;
    for (size_t i = 0; i < 90; i++) {
        const struct lab_seen *one = lab_nth(&l, lab_is_data, i);
        if (i == 1) // the first one was sent before the others were posted
            turn = 0;
        while (sent[turn] == packets[turn])
            turn = (turn + 1) % 3;
        assert_int_equal(one->p.flow, turn);
        assert_int_equal(one->meta.seq, sent[turn]++);
        assert_int_equal(one->at_ps, free_at);
        free_at += one->p.wire_bytes * BYTE_PS;
        turn = (turn + 1) % 3;
    }
    lab_end(&l);
}

// Two paced queue pairs do not slow each other while the link has room for both. Four with a third
// of the rate each share it equally.
static void test_paced_queue_pairs_share_a_line(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 4; n += 2) {
        struct lab l;
        lab_begin(&l, n + 1, &lab_ack_ops);
        lab_stub.rate_bps = LAB_LINE / 3;
        lab_build(&l);
        for (uint32_t i = 0; i < n; i++)
            lab_post(&l, 0, i + 1, 300 * LAB_MTU, i);
        lab_run(&l);
        double share = n == 2 ? 1 / 3. : 1 / 4.;
        for (uint32_t i = 0; i < n; i++) {
            ps_t last = 0;
            for (size_t k = 0; k < l.n_tx; k++)
                if (l.tx[k].p.flow == i && lab_is_data(&l.tx[k].p))
                    last = l.tx[k].at_ps;
            double rate = 299 * LAB_WIRE * BYTE_PS / (double)last;
            assert_true(fabs(rate / share - 1) < 0.01);
        }
        lab_end(&l);
    }
}

/* ---- lives of queue pairs ---- */

static uint32_t flow_of_message(const struct lab *l, unsigned k) // flow of the k-th packet with
                                                                 // FIRST
{
    for (size_t i = 0; i < l->n_tx; i++)
        if (lab_is_data(&l->tx[i].p) && l->tx[i].p.flags & PACKET_FIRST && k-- == 0)
            return l->tx[i].p.flow;
    fail();
    return 0;
}

// A persistent queue pair keeps its congestion state and its numbers from message to message. A
// fresh one per message starts at line rate with new numbers.
static void test_congestion_state_survives_or_restarts(void **state)
{
    (void)state;
    for (int mode = QP_PERSISTENT; mode <= QP_PER_MESSAGE; mode++) {
        bool fresh = mode == QP_PER_MESSAGE;
        struct lab l;
        lab_begin(&l, 2, &lab_ack_ops)->qp = mode;
        lab_stub.ack_rate_bps = LAB_LINE / 10;
        struct hosts *hosts = lab_build(&l);
        for (uint64_t m = 0; m < 5; m++) {
            lab_post(&l, 0, 1, 30 * LAB_MTU, m);
            struct flow_id id = hosts->flows.ids[0];
            uint64_t rate = hosts->senders[0]->cc->rate_bps;
            assert_int_equal(rate, m == 0 || fresh ? LAB_LINE : LAB_LINE / 10);
            lab_run(&l);
            assert_true(l.sent_ps[m] > 0);
            ps_t gap = lab_nth(&l, lab_is_data, m * 31 + 1)->at_ps -
                       lab_nth(&l, lab_is_data, m * 31)->at_ps;
            assert_int_equal(gap / ((LAB_WIRE + 16) * BYTE_PS), rate == LAB_LINE ? 1 : 10);
            assert_int_equal(lab_stub.inits, fresh ? m + 1 : 1);
            assert_int_equal(hosts->flows.n, 1); // one after the other, so the memory is reused
            lab_post(&l, 0, 1, 0, 40 + m);       // an empty message in between
            assert_int_equal(hosts->flows.ids[0].src_conn != id.src_conn, fresh);
            lab_run(&l);
            lab_stub.inits -= fresh;
        }
        lab_end(&l);
    }
}

static void test_number_of_queue_pairs(void **state)
{
    (void)state;
    static const struct {
        int mode;
        uint64_t per_pair;
        uint32_t expected; // for 7 messages 0 -> 1 at once, and one 0 -> 2
    } cases[] = {{QP_PERSISTENT, 1, 2},
                 {QP_PERSISTENT, 3, 4},
                 {QP_PERSISTENT, 7, 8},
                 {QP_PERSISTENT, 9, 8},
                 {QP_PER_MESSAGE, 1, 8}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct lab l;
        struct roce_spec *t = lab_begin(&l, 3, NULL);
        t->qp = cases[c].mode;
        t->qps_per_pair = cases[c].per_pair;
        struct hosts *hosts = lab_build(&l);
        for (uint64_t m = 0; m < 7; m++)
            lab_post(&l, 0, 1, 3 * LAB_MTU, m);
        lab_post(&l, 0, 2, 3 * LAB_MTU, 7);
        assert_int_equal(hosts->flows.n, cases[c].expected);
        lab_run(&l);
        uint64_t packets[8] = {0};
        for (size_t i = 0; i < l.n_tx; i++)
            packets[l.tx[i].p.flow] += lab_is_data(&l.tx[i].p);
        for (uint32_t q = 0; q + 1 < cases[c].expected; q++) { // in turn, so as even as possible
            uint64_t qps = cases[c].expected - 1;
            assert_int_equal(packets[q], 3 * (7 / qps + (q < 7 % qps)));
        }
        for (uint32_t a = 0; a < hosts->flows.n; a++) // all numbers are different
            for (uint32_t b = 0; b < a; b++) {
                assert_true(hosts->flows.ids[a].src_conn != hosts->flows.ids[b].src_conn);
                assert_true(hosts->flows.ids[a].entropy != hosts->flows.ids[b].entropy);
            }
        for (uint64_t m = 0; m < 7; m++) // a second round opens no more than the pair may have
            lab_post(&l, 0, 1, LAB_MTU, 10 + m);
        lab_run(&l);
        assert_int_equal(hosts->flows.n, cases[c].expected + (cases[c].per_pair == 9 ? 2 : 0));
        assert_int_equal(hosts->n_running, 0);
        lab_end(&l);
    }
}

// Jobs, channels and directions have their own queue pairs, and raw flows have one each.
static void test_keys_of_queue_pairs(void **state)
{
    (void)state;
    struct lab l;
    lab_begin(&l, 2, NULL);
    struct hosts *hosts = lab_build(&l);
    struct transfer_request r = {.src = 0, .dst = 1, .bytes = 100, .cls = NET_CLASS_DATA};
    for (uint32_t i = 0; i < 10; i++, r.token++) {
        r.job = i & 1;
        r.channel = i >> 1 & 1;
        r.src = i >> 2 & 1;
        r.dst = 1 - r.src;
        hosts_post(hosts, &r, 0);
    }
    assert_int_equal(hosts->flows.n, 8); // the last two posts reused their queue pairs
    r.own_connection = true;
    for (int i = 0; i < 3; i++, r.token++)
        hosts_post(hosts, &r, 0);
    assert_int_equal(hosts->flows.n, 11);
    lab_run(&l);
    assert_int_equal(flow_of_message(&l, 0) == flow_of_message(&l, 1), false);
    assert_int_equal(hosts->counters.delivered_bytes, 1300);
    lab_end(&l);
}

/* ---- notification point ---- */

enum { NP_PACKETS = 1200 };
static bool np_mark[NP_PACKETS];

static bool mark_some(struct lab *l, struct packet *p)
{
    (void)l;
    if (lab_is_data(p) && np_mark[lab_psn(l, p)])
        p->flags |= PACKET_CE;
    return false;
}

// The rule (docs/models.md, section 2) applied to the marks that arrived. Returns the times of the
// CNPs.
static size_t np_oracle(const struct lab *l, ps_t interval, ps_t *cnps)
{
    size_t n = 0;
    ps_t open_until = -1;
    bool seen = false;
    for (size_t i = 0; i <= l->n_rx; i++) {
        ps_t at = i < l->n_rx ? l->rx[i].at_ps : PS_NEVER;
        while (seen && open_until < at) { // windows that end with a mark in them
            cnps[n++] = open_until;
            open_until += interval;
            seen = false;
        }
        if (i == l->n_rx || !lab_is_data(&l->rx[i].p) || !(l->rx[i].p.flags & PACKET_CE))
            continue;
        if (at < open_until) {
            seen = true;
            continue;
        }
        cnps[n++] = at;
        open_until = at + interval;
    }
    return n;
}

// A packet takes 0.87 us. The receiver sends nothing else, so CNPs leave when they are built.
static size_t np_run(ps_t interval, ps_t *cnps)
{
    struct lab l;
    ps_t expected[NP_PACKETS];
    struct roce_spec *t = lab_begin(&l, 2, &lab_cnp_ops);
    t->ack_interval = 1000000;
    t->cnp_interval_ps = interval;
    lab_stub.rate_bps = LAB_LINE / 10;
    struct hosts *hosts = lab_build(&l);
    l.lose = mark_some;
    lab_post(&l, 0, 1, (uint64_t)NP_PACKETS * LAB_MTU, 0);
    lab_run(&l);
    assert_true(l.sent_ps[0] > 0);
    size_t n = np_oracle(&l, interval, expected);
    assert_int_equal(lab_count(&l, lab_is_cnp), n);
    assert_int_equal(hosts->counters.cnps_sent, n);
    for (size_t i = 0; i < n; i++) {
        const struct lab_seen *cnp = lab_nth(&l, lab_is_cnp, i);
        if (cnp->at_ps != expected[i]) // unless the last ACK of the message is being sent
            assert_true(i + 1 == n && cnp->at_ps - expected[i] <= 86 * BYTE_PS);
        assert_int_equal(cnp->p.cls, NET_CLASS_CONTROL);
        cnps[i] = cnp->at_ps;
    }
    assert_int_equal(lab_stub.cnps, n); // one CNP may arrive after the end of the message and still
                                        // takes effect
    lab_end(&l);
    return n;
}

static void test_notification_point(void **state)
{
    (void)state;
    ps_t at[NP_PACKETS];
    const ps_t window = 50 * PS_PER_US;
    for (int i = 0; i < NP_PACKETS; i++)
        np_mark[i] = true;
    size_t n = np_run(window, at); // all packets are marked: exactly one CNP per window
    assert_true(n >= 20 && n <= 22);
    for (size_t i = 1; i + 1 < n; i++)
        assert_int_equal(at[i] - at[i - 1], window);

    for (int i = 0; i < NP_PACKETS; i++)
        np_mark[i] = i == 10;
    assert_int_equal(np_run(window, at), 1);

    np_mark[20] = np_mark[30] = true; // inside the window: remembered until its end, one CNP
    assert_int_equal(np_run(window, at), 2);
    assert_int_equal(at[1] - at[0], window);

    np_mark[300] = true; // long after the last window: at once
    assert_int_equal(np_run(window, at), 3);
    np_mark[100] = true; // inside the window opened by the CNP for the remembered mark
    assert_int_equal(np_run(window, at), 4);
    assert_int_equal(at[2] - at[1], window);

    struct rng rng = rng_init(2, RNG_WORKLOAD, 0);
    for (int seed = 0; seed < 30; seed++) {
        uint64_t share = 2 + rng_below(&rng, 200);
        for (int i = 0; i < NP_PACKETS; i++)
            np_mark[i] = rng_below(&rng, share) == 0;
        np_run(PS_PER_US * (1 + (ps_t)rng_below(&rng, 80)), at);
    }
}

// Without CNPs every ACK reports whether one of the packets it covers was marked.
static void test_marks_on_acks(void **state)
{
    (void)state;
    struct rng rng = rng_init(3, RNG_WORKLOAD, 0);
    for (uint64_t interval = 1; interval <= 5; interval += 2) {
        struct lab l;
        struct roce_spec *t = lab_begin(&l, 2, &lab_ack_ops);
        t->cnp = CNP_PER_ACK;
        t->ack_interval = interval;
        struct hosts *hosts = lab_build(&l);
        l.lose = mark_some;
        for (int i = 0; i < NP_PACKETS; i++)
            np_mark[i] = rng_below(&rng, 4) == 0;
        lab_post(&l, 0, 1, (uint64_t)NP_PACKETS * LAB_MTU, 0);
        lab_run(&l);
        assert_int_equal(lab_count(&l, lab_is_cnp), 0);
        assert_int_equal(lab_count(&l, lab_is_ack), NP_PACKETS / interval);
        uint64_t echoes = 0;
        for (size_t a = 0; a < NP_PACKETS / interval; a++) {
            bool marked = false;
            for (size_t i = a * interval; i < (a + 1) * interval; i++)
                marked |= np_mark[i];
            const struct packet *ack = &lab_nth(&l, lab_is_ack, a)->p;
            assert_int_equal((ack->flags & PACKET_ECHO_CE) != 0, marked);
            echoes += marked;
        }
        assert_int_equal(hosts->counters.echoed_marks, echoes);
        assert_int_equal(lab_stub.acks, NP_PACKETS / interval);
        assert_int_equal(lab_stub.ce_bytes, echoes * interval * LAB_MTU);
        lab_end(&l);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paced_spacing),
        cmocka_unit_test(test_line_rate_leaves_no_gap),
        cmocka_unit_test(test_rate_change_while_waiting),
        cmocka_unit_test(test_rate_cut_while_paused),
        cmocka_unit_test(test_cnp_while_idle),
        cmocka_unit_test(test_round_robin),
        cmocka_unit_test(test_paced_queue_pairs_share_a_line),
        cmocka_unit_test(test_congestion_state_survives_or_restarts),
        cmocka_unit_test(test_number_of_queue_pairs),
        cmocka_unit_test(test_keys_of_queue_pairs),
        cmocka_unit_test(test_notification_point),
        cmocka_unit_test(test_marks_on_acks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Tests of RoCE's reliability over one switch: ACKs, windows, go-back-N, timeouts, failure,
// callbacks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/roce_lab.h"

/* ---- acknowledgement and windows ---- */

static void test_ack_interval(void **state)
{
    (void)state;
    static const uint64_t intervals[] = {1, 2, 3, 16, 1000}, packets[] = {1, 2, 15, 16, 17, 100};
    for (unsigned c = 0; c < 5 * 6; c++) {
        uint64_t k = intervals[c % 5], n = packets[c / 5];
        struct lab l;
        lab_begin(&l, 2, NULL)->ack_interval = k;
        struct hosts *hosts = lab_build(&l);
        lab_post(&l, 0, 1, n * LAB_MTU, 0);
        lab_post(&l, 0, 1, n * LAB_MTU - 1, 1); // the last packet of a message always requests an
                                                // ACK
        lab_run(&l);
        assert_true(l.sent_ps[0] > 0 && l.sent_ps[1] > l.sent_ps[0]);
        assert_int_equal(lab_count(&l, lab_is_ack), 2 * ((n + k - 1) / k));
        assert_int_equal(lab_count(&l, lab_is_data), 2 * n);
        assert_int_equal(hosts->counters.delivered_bytes, 2 * n * LAB_MTU - 1);
        assert_int_equal(
            hosts->n_running + hosts->counters.retransmitted + hosts->counters.timeouts, 0);
        lab_end(&l);
    }
}

// The packet that fills the window requests an ACK, so an ACK interval larger than the window
// cannot stall the sender.
static void test_window_below_ack_interval(void **state)
{
    (void)state;
    static const uint64_t windows[] = {1, 999, 1000, 1001, 3500, 20000};
    for (size_t w = 0; w < 6; w++) {
        struct lab l;
        lab_begin(&l, 2, &lab_ack_ops)->ack_interval = 64;
        lab_stub.cwnd_bytes = windows[w];
        struct hosts *hosts = lab_build(&l);
        lab_post(&l, 0, 1, 300 * LAB_MTU, 0);
        lab_run(&l);
        uint64_t in_window = (windows[w] + LAB_MTU - 1) / LAB_MTU;
        assert_true(l.sent_ps[0] > 0);
        assert_int_equal(hosts->counters.timeouts, 0);
        assert_int_equal(l.max_inflight, in_window * LAB_MTU); // rounded up to packets, and fully
                                                               // used
        assert_int_equal(lab_count(&l, lab_is_ack), (300 + in_window - 1) / in_window);
        lab_end(&l);
    }
}

// A window that shrinks below the bytes in flight, for which no ACK is requested, must not stall
// the sender either.
static void test_window_that_shrinks(void **state)
{
    (void)state;
    static const uint64_t intervals[] = {5, 10, 23};
    for (size_t i = 0; i < 3; i++) {
        struct lab l;
        lab_begin(&l, 2, &lab_ack_ops)->ack_interval = intervals[i];
        lab_stub.ack_cwnd_bytes = 2 * LAB_MTU;
        l.window_shrinks = true;
        struct hosts *hosts = lab_build(&l);
        lab_post(&l, 0, 1, 300 * LAB_MTU, 0);
        lab_run_to(&l, 60 * PS_PER_MS); // earlier than a timeout, which would hide the stall
        assert_int_equal(hosts->counters.delivered_bytes, 300 * LAB_MTU);
        lab_run(&l);
        assert_int_equal(hosts->counters.timeouts, 0);
        lab_end(&l);
    }
}

/* ---- loss ---- */

static void test_one_loss_one_nak(void **state)
{
    (void)state;
    struct lab l;
    lab_begin(&l, 2, NULL);
    struct hosts *hosts = lab_build(&l);
    l.lose = lab_lose_psn;
    l.lose_psn = 5;
    l.lose_times = 1;
    lab_post(&l, 0, 1, 200 * LAB_MTU, 0);
    lab_run(&l);
    assert_true(l.sent_ps[0] > 0);
    assert_int_equal(hosts->counters.delivered_bytes, 200 * LAB_MTU);
    assert_int_equal(hosts->counters.naks, 1);
    assert_int_equal(lab_count(&l, lab_is_nak), 1);
    assert_int_equal(lab_nth(&l, lab_is_nak, 0)->meta.seq, 5);
    assert_int_equal(hosts->counters.timeouts, 0);
    // The sender goes back to the lost packet and retransmits all that it had sent by then.
    size_t again = lab_count(&l, lab_is_retx);
    assert_int_equal(again, hosts->counters.retransmitted);
    assert_int_equal(lab_count(&l, lab_is_data), 200 + again);
    for (size_t i = 0; i < again; i++)
        assert_int_equal(lab_nth(&l, lab_is_retx, i)->meta.seq, 5 + i);
    ps_t loop = lab_nth(&l, lab_is_retx, 0)->at_ps - lab_nth(&l, lab_is_data, 5)->at_ps;
    assert_true(loop > 4 * PS_PER_US && loop < 5 * PS_PER_US);
    assert_int_equal(again, (size_t)(loop + LAB_WIRE * 80 - 1) / (LAB_WIRE * 80));
    lab_end(&l);
}

// The first retransmitted packet requests an ACK, whatever the ACK interval.
static void test_going_back_asks(void **state)
{
    (void)state;
    struct lab l;
    lab_begin(&l, 2, NULL)->ack_interval = 1000;
    struct hosts *hosts = lab_build(&l);
    l.lose = lab_lose_psn;
    l.lose_psn = 5;
    l.lose_times = 1;
    lab_post(&l, 0, 1, 200 * LAB_MTU, 0);
    lab_run(&l);
    assert_int_equal(hosts->counters.delivered_bytes, 200 * LAB_MTU);
    assert_int_equal(lab_nth(&l, lab_is_retx, 0)->meta.seq, 5);
    assert_true(lab_nth(&l, lab_is_retx, 0)->p.flags & PACKET_ACKREQ);
    assert_false(lab_nth(&l, lab_is_retx, 1)->p.flags & PACKET_ACKREQ);
    assert_int_equal(lab_count(&l, lab_is_ack), 3); // the NAK, the ACK of that packet, and the ACK
                                                    // of the last packet
    lab_end(&l);
}

// The retransmission is lost too. There is no second NAK for the same gap, so the timeout recovers
// it.
static void test_lost_retransmission(void **state)
{
    (void)state;
    struct lab l;
    lab_begin(&l, 2, NULL)->rto_ps = PS_PER_MS;
    struct hosts *hosts = lab_build(&l);
    l.lose = lab_lose_psn;
    l.lose_psn = 5;
    l.lose_times = 2;
    lab_post(&l, 0, 1, 200 * LAB_MTU, 0);
    lab_run(&l);
    assert_true(l.sent_ps[0] > PS_PER_MS);
    assert_int_equal(hosts->counters.delivered_bytes, 200 * LAB_MTU);
    assert_int_equal(hosts->counters.naks, 1);
    assert_int_equal(hosts->counters.timeouts, 1);
    lab_end(&l);
}

// Incast into a tiny lossy buffer. A receiver model in the test checks the packets that arrive.
static void test_every_byte_once_over_a_lossy_switch(void **state)
{
    (void)state;
    enum { SENDERS = 6, BYTES = 150001 };
    struct lab l;
    uint64_t expected[SENDERS] = {0}, bytes[SENDERS] = {0}, naks = 0;
    bool gap[SENDERS] = {false};
    lab_begin(&l, SENDERS + 1, NULL)->rto_ps = 500 * PS_PER_US;
    l.f.spec.dims[0].sw.pfc.enabled = false;
    l.f.spec.dims[0].sw.buffer_bytes = 70000; // 42 KB of shared buffer
    struct hosts *hosts = lab_build(&l);
    for (uint32_t i = 0; i < SENDERS; i++)
        lab_post(&l, i, SENDERS, BYTES, i);
    lab_run(&l);
    for (size_t i = 0; i < l.n_rx; i++) {
        const struct packet *p = &l.rx[i].p;
        if (p->kind != PACKET_DATA)
            continue;
        uint32_t psn = l.rx[i].meta.seq;
        naks += psn > expected[p->flow] && !gap[p->flow];
        gap[p->flow] = psn > expected[p->flow] || (gap[p->flow] && psn < expected[p->flow]);
        if (psn != expected[p->flow])
            continue;
        expected[p->flow]++;
        bytes[p->flow] += l.rx[i].meta.payload_bytes;
    }
    for (uint32_t i = 0; i < SENDERS; i++) {
        assert_true(l.sent_ps[i] > 0);
        assert_int_equal(bytes[i], BYTES);
        assert_int_equal(expected[i], BYTES / LAB_MTU + 1);
    }
    assert_int_equal(hosts->counters.delivered_bytes, SENDERS * BYTES);
    assert_int_equal(hosts->counters.naks, naks);
    assert_int_equal(hosts->n_running + lab_failed(&l), 0);
    assert_true(l.sim->fabric.net.drops[DROP_LOSSY_THRESHOLD].packets > 100 && naks > 20);
    lab_end(&l);
}

static void test_timeout_of_the_last_packet(void **state)
{
    (void)state;
    struct lab l;
    lab_begin(&l, 2, NULL)->rto_ps = 100 * PS_PER_US;
    struct hosts *hosts = lab_build(&l);
    l.lose = lab_lose_psn;
    l.lose_psn = 4;
    l.lose_times = 2;
    lab_post(&l, 0, 1, 5 * LAB_MTU, 0);
    lab_run(&l);
    ps_t progress = l.rx[l.n_rx - 3].at_ps; // the ACK of packet 3; packet 4 and its ACK follow
    assert_int_equal(l.rx[l.n_rx - 3].meta.seq, 4);
    assert_int_equal(lab_count(&l, lab_is_retx), 2);
    assert_int_equal(lab_nth(&l, lab_is_retx, 0)->at_ps, progress + 100 * PS_PER_US);
    assert_int_equal(lab_nth(&l, lab_is_retx, 1)->at_ps, progress + 200 * PS_PER_US);
    assert_int_equal(hosts->counters.timeouts, 2);
    assert_int_equal(hosts->counters.naks, 0);
    assert_true(l.sent_ps[0] > 0);
    lab_end(&l);
}

// The same with the NIC paused, which stops the timer's clock. `on`, `off`: the pause, in us after
// the last progress.
static void rto_with_pause(ps_t on_us, ps_t off_us, ps_t expected_us)
{
    struct lab l;
    lab_begin(&l, 2, NULL)->rto_ps = 100 * PS_PER_US;
    struct hosts *hosts = lab_build(&l);
    l.lose = lab_lose_psn;
    l.lose_psn = 4;
    l.lose_times = 1;
    lab_post(&l, 0, 1, 5 * LAB_MTU, 0);
    lab_run_to(&l, 10 * PS_PER_US);
    ps_t progress = l.rx[l.n_rx - 1].at_ps;
    for (ps_t at = on_us; at < off_us; at += 150) { // refreshed
        lab_run_to(&l, progress + at * PS_PER_US);
        lab_pause(&l, 65535);
    }
    assert_int_equal(hosts->counters.timeouts, 0);
    lab_run_to(&l, progress + off_us * PS_PER_US);
    lab_pause(&l, 0);
    lab_run(&l);
    assert_int_equal(hosts->counters.timeouts, 1);
    assert_int_equal(lab_nth(&l, lab_is_retx, 0)->at_ps, progress + expected_us * PS_PER_US);
    assert_true(l.sent_ps[0] > 0);
    lab_end(&l);
}

static void test_timer_stands_while_paused(void **state)
{
    (void)state;
    rto_with_pause(40, 70, 130);
    rto_with_pause(40, 100, 160); // covers the instant at which the timer would have expired
    rto_with_pause(99, 1099, 1100);
    rto_with_pause(20, 5000, 5080);
}

/* ---- failure ---- */

static bool lose_all_data(struct lab *l, struct packet *p)
{
    (void)l;
    return lab_is_data(p);
}

// The message is sent once and then `limit` more times, one timeout apart. Then it fails.
static void test_retry_limit(void **state)
{
    (void)state;
    static const uint64_t limits[] = {0, 1, 7, 255, 256, 1000};
    for (size_t i = 0; i < 6; i++) {
        struct lab l;
        struct roce_spec *t = lab_begin(&l, 2, NULL);
        t->rto_ps = 10 * PS_PER_US;
        t->retry_limit = limits[i];
        struct hosts *hosts = lab_build(&l);
        l.lose = lose_all_data;
        lab_post(&l, 0, 1, 500, 0);
        lab_post(&l, 0, 1, 500, 1); // all messages of the queue pair fail with it
        lab_run_to(&l, 30 * PS_PER_MS);
        assert_int_equal(l.lost, 2 * (limits[i] + 1));
        assert_int_equal(l.failed_ps[0], (ps_t)(limits[i] + 1) * 10 * PS_PER_US);
        assert_int_equal(l.failed_ps[1], l.failed_ps[0]);
        assert_int_equal(hosts->counters.timeouts, limits[i] + 1);
        assert_int_equal(lab_failed(&l), 2);
        assert_int_equal(hosts->n_running, 0);
        lab_post(&l, 0, 1, 500, 2); // and later messages fail at once
        assert_int_equal(l.failed_ps[2], lab_now(&l));
        assert_int_equal(hosts->counters.delivered_bytes, 0);
        lab_end(&l);
    }
}

static bool lose_each_twice(struct lab *l, struct packet *p)
{
    return lab_is_data(p) && l->lost / 2 == lab_psn(l, p);
}

// Progress resets the retry count.
static void test_progress_restores_retries(void **state)
{
    (void)state;
    struct lab l;
    struct roce_spec *t = lab_begin(&l, 2, &lab_ack_ops);
    t->rto_ps = 20 * PS_PER_US;
    t->retry_limit = 2;
    lab_stub.cwnd_bytes = LAB_MTU; // one packet at a time, so that no NAK helps
    struct hosts *hosts = lab_build(&l);
    l.lose = lose_each_twice;
    lab_post(&l, 0, 1, 8 * LAB_MTU, 0);
    lab_run(&l);
    assert_true(l.sent_ps[0] > 0);
    assert_int_equal(hosts->counters.timeouts, 16);
    assert_int_equal(lab_failed(&l), 0);
    lab_end(&l);
}

// A whole run in which the switch has lost the route to a rank. Failed messages are counted and the
// run is incomplete.
static void test_failed_run_is_incomplete(void **state)
{
    (void)state;
    struct fixture f;
    fixture_switch(&f, 3, LAB_LINE, PS_PER_US);
    struct err err = {0};
    roce_spec_of(&f.spec.dims[0].transport)->rto_ps = 50 * PS_PER_US;
    roce_spec_of(&f.spec.dims[0].transport)->retry_limit = 3;
    fixture_flow(&f, 0, 1, 100000, 0);
    fixture_flow(&f, 0, 2, 20, 0);
    f.sim = sim_new(&f.spec, &err);
    assert_non_null(f.sim);
    // A column without a port is put behind those of the switch.
    uint32_t n_groups = f.sim->fabric.routes.n_groups;
    struct next_hops *routes = &f.sim->fabric.switches.nodes[0].routes;
    uint16_t next[9];
    assert_in_range(n_groups, 1, 8);
    memcpy(next, routes->next, n_groups * sizeof *next);
    next[n_groups] = NEXT_NONE;
    uint32_t group[3] = {routes->group[0], n_groups, routes->group[2]};
    routes->next = next;
    routes->group = group;
    sim_run(f.sim, NULL);
    f.result = sim_result(f.sim);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    assert_string_equal(f.result->reason, "1 message failed: retry limit exceeded");
    assert_int_equal(f.result->summary.failed, 1);
    assert_int_equal(f.result->summary.running, 0);
    assert_int_equal(f.result->timeouts, 4);
    assert_int_equal(f.result->flows[0].status, MESSAGE_FAILED);
    assert_int_equal(f.result->flows[0].fct_ps, -1);
    assert_int_equal(f.result->flows[0].delivered_bytes, 0);
    assert_int_equal(f.result->flows[0].timeouts, 4);
    assert_int_equal(f.result->flows[1].status, MESSAGE_DONE);
    fixture_free(&f);
}

// Without recovery a lost packet is never retransmitted, and the run reports why it ended.
static void test_no_recovery(void **state)
{
    (void)state;
    for (int lossy = 0; lossy < 2; lossy++) {
        struct fixture f;
        fixture_switch(&f, 5, LAB_LINE, PS_PER_US);
        f.spec.dims[0].sw.pfc.enabled = false;
        f.spec.dims[0].sw.buffer_bytes = lossy ? 60000 : 32000000;
        roce_spec_of(&f.spec.dims[0].transport)->recovery = RECOVERY_NONE;
        for (uint32_t i = 0; i < 4; i++)
            fixture_flow(&f, i, 4, 500000, 0);
        fixture_run(&f);
        assert_int_equal(f.result->naks + f.result->timeouts + f.result->retransmitted, 0);
        assert_int_equal(f.result->status, lossy ? RUN_INCOMPLETE : RUN_COMPLETED);
        assert_int_equal(f.result->dropped_packets > 0, lossy);
        assert_int_equal(f.sim->fabric.hosts.counters.delivered_bytes < 4 * 500000, lossy);
        if (lossy) {
            assert_true(f.result->summary.running > 0);
            assert_non_null(f.result->reason);
            assert_non_null(strstr(f.result->reason, "stalled"));
            assert_true(f.result->n_waiting > 0);
            assert_non_null(strstr(f.result->waiting[0], "without recovery"));
        }
        fixture_free(&f);
    }
}

/* ---- callbacks may post ---- */

static void post_two_more(struct lab *l, uint64_t token, ps_t now)
{
    (void)now;
    if (token > 1)
        return;
    lab_post(l, 0, 1, 3 * LAB_MTU, 2 + 2 * token);
    lab_post(l, 0, 1, 3 * LAB_MTU, 3 + 2 * token);
}

static bool lose_first_ack(struct lab *l, struct packet *p)
{
    return lab_is_ack(p) && l->lost == 0;
}

// One ACK ends one or two messages, and each of their callbacks posts two more messages on the same
// queue pair. The lab checks that no message is sent before it is delivered.
static void test_sent_may_post(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 2; n++) {
        struct lab l;
        lab_begin(&l, 2, NULL);
        struct hosts *hosts = lab_build(&l);
        l.on_end = post_two_more;
        l.lose = n == 2 ? lose_first_ack : NULL;
        for (uint64_t t = 0; t < n; t++)
            lab_post(&l, 0, 1, LAB_MTU, t);
        lab_run(&l);
        for (uint64_t t = 0; t < n; t++)
            assert_true(l.sent_ps[t] > 0 && l.sent_ps[2 + 2 * t] > 0 && l.sent_ps[3 + 2 * t] > 0);
        assert_int_equal(hosts->counters.delivered_bytes, n * 7 * LAB_MTU);
        assert_int_equal(hosts->n_running, 0);
        lab_end(&l);
    }
}

static void post_again(struct lab *l, uint64_t token, ps_t now)
{
    (void)now;
    if (token < 4)
        lab_post(l, 0, 1, LAB_MTU, token + 10);
}

static void test_failed_may_post(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 4; n++) {
        struct lab l;
        struct roce_spec *t = lab_begin(&l, 2, NULL);
        t->rto_ps = 10 * PS_PER_US;
        t->retry_limit = 1;
        struct hosts *hosts = lab_build(&l);
        l.on_end = post_again;
        l.lose = lose_all_data;
        for (uint64_t m = 0; m < n; m++)
            lab_post(&l, 0, 1, LAB_MTU, m);
        lab_run(&l);
        for (uint64_t m = 0; m < n; m++)
            assert_true(l.failed_ps[m] > 0 && l.failed_ps[m + 10] > 0);
        assert_int_equal(hosts->n_running, 0);
        assert_int_equal(lab_failed(&l), 2 * n);
        lab_end(&l);
    }
}

/* ---- numbers ---- */

// Packet numbers pass 2^32, where their 32 bits in the packet wrap, with a loss before and after.
static void test_packet_numbers_wrap(void **state)
{
    (void)state;
    for (uint32_t lose = UINT32_MAX - 3; lose != 4; lose++) {
        struct lab l;
        lab_begin(&l, 2, NULL)->ack_interval = 3;
        struct hosts *hosts = lab_build(&l);
        lab_post(&l, 0, 1, 1, 0);
        lab_run(&l);
        struct sender *s = hosts->senders[0];
        uint64_t near = (UINT64_C(1) << 32) - 20;
        s->una = s->nxt = s->max = s->tail = near;
        ((struct roce_receiver *)hosts->receivers[0])->expected_psn = near;
        l.lose = lab_lose_psn;
        l.lose_psn = lose;
        l.lose_times = 1;
        lab_post(&l, 0, 1, 40 * LAB_MTU, 1);
        lab_run(&l);
        assert_int_equal(l.lost, 1);
        assert_true(l.sent_ps[1] > 0);
        assert_int_equal(hosts->counters.delivered_bytes, 40 * LAB_MTU + 1);
        assert_int_equal(hosts->counters.naks, 1);
        assert_int_equal(hosts->counters.timeouts, 0);
        lab_end(&l);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ack_interval),
        cmocka_unit_test(test_window_below_ack_interval),
        cmocka_unit_test(test_window_that_shrinks),
        cmocka_unit_test(test_one_loss_one_nak),
        cmocka_unit_test(test_going_back_asks),
        cmocka_unit_test(test_lost_retransmission),
        cmocka_unit_test(test_every_byte_once_over_a_lossy_switch),
        cmocka_unit_test(test_timeout_of_the_last_packet),
        cmocka_unit_test(test_timer_stands_while_paused),
        cmocka_unit_test(test_retry_limit),
        cmocka_unit_test(test_progress_restores_retries),
        cmocka_unit_test(test_failed_run_is_incomplete),
        cmocka_unit_test(test_no_recovery),
        cmocka_unit_test(test_sent_may_post),
        cmocka_unit_test(test_failed_may_post),
        cmocka_unit_test(test_packet_numbers_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

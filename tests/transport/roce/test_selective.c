// SPDX-License-Identifier: MIT
// Tests of selective repeat, packet by packet: what is retransmitted and when, and what the
// receiver does with it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fixture.h"
#include "tests/support/roce_lab.h"

static struct lab lab;

static struct roce_spec *begin(void)
{
    struct roce_spec *t = lab_begin(&lab, 2, NULL);
    t->recovery = RECOVERY_SELECTIVE_REPEAT;
    t->bdp_cap = false;
    lab.lose = lab_lose_psn;
    return t;
}

// Packet 5 of 20 is lost. It alone is retransmitted, as soon as the NAK of packet 6 arrives.
static void test_only_the_lost_one(void **state)
{
    (void)state;
    begin();
    lab.lose_psn = 5;
    lab.lose_times = 1;
    lab_build(&lab);
    lab_post(&lab, 0, 1, 20 * LAB_MTU, 0);
    lab_run(&lab);
    assert_int_equal(lab_count(&lab, lab_is_retx), 1);
    assert_int_equal(lab_nth(&lab, lab_is_retx, 0)->meta.seq, 5);
    assert_int_equal(lab_count(&lab, lab_is_data), 21);
    assert_int_equal(lab_count(&lab, lab_is_nak), 14); // packets 6 to 19 arrived early
    for (size_t i = 0; i < 14; i++) {
        assert_int_equal(lab_nth(&lab, lab_is_nak, i)->meta.seq, 5);
        assert_int_equal(lab_nth(&lab, lab_is_nak, i)->meta.sack_seq, 6 + i);
    }
    // The NAK takes 2 us of propagation and its serialization on two links; the NIC is idle by
    // then.
    ps_t nak = lab_nth(&lab, lab_is_nak, 0)->at_ps;
    ps_t again = lab_nth(&lab, lab_is_retx, 0)->at_ps;
    assert_true(again >= nak + 2 * PS_PER_US && again < nak + 3 * PS_PER_US);
    assert_true(lab.delivered_ps[0] > again && lab.sent_ps[0] > lab.delivered_ps[0]);
    assert_int_equal(lab.sim->fabric.hosts.counters.timeouts, 0);
    lab_end(&lab);
}

// No packet follows the last one to reveal its loss. The short timeout recovers it: 100 us, but not
// longer than the timeout that covers the buffers of the path and not shorter than two base RTTs.
static void test_the_last_one_waits_for_the_short_timeout(void **state)
{
    (void)state;
    const ps_t high[] = {PARAM_AUTO_TIME, 50 * PS_PER_US, 6 * PS_PER_US};
    for (size_t i = 0; i < 3; i++) {
        begin()->rto_high_ps = high[i];
        lab.lose_psn = 19;
        lab.lose_times = 1;
        struct hosts *hosts = lab_build(&lab);
        lab_post(&lab, 0, 1, 20 * LAB_MTU, 0);
        lab_run(&lab);
        const struct sender *s = hosts->senders[0];
        ps_t base = sender_env(s)->base_rtt_ps;
        const ps_t want[] = {100 * PS_PER_US, 50 * PS_PER_US, 2 * base};
        assert_int_equal(hosts->counters.timeouts, 1);
        assert_int_equal(lab_count(&lab, lab_is_retx), 1);
        assert_int_equal(roce_selective_of(s)->rto_low_ps, want[i]);
        ps_t first = lab_nth(&lab, lab_is_data, 19)->at_ps,
             again = lab_nth(&lab, lab_is_retx, 0)->at_ps;
        assert_true(again - first >= want[i] && again - first < want[i] + base);
        lab_end(&lab);
    }
}

// A packet lost again waits for a timeout. No packet that has arrived is retransmitted.
static void test_lost_again(void **state)
{
    (void)state;
    struct roce_spec *t = begin();
    t->rto_high_ps = 50 * PS_PER_US;
    lab.lose_psn = 3;
    lab.lose_times = 2;
    struct hosts *hosts = lab_build(&lab);
    lab_post(&lab, 0, 1, 30 * LAB_MTU, 0);
    lab_run(&lab);
    assert_int_equal(hosts->counters.timeouts, 1);
    assert_int_equal(lab_count(&lab, lab_is_retx), 2);
    assert_int_equal(lab_nth(&lab, lab_is_retx, 1)->meta.seq, 3);
    ps_t apart = lab_nth(&lab, lab_is_retx, 1)->at_ps - lab_nth(&lab, lab_is_retx, 0)->at_ps;
    assert_true(apart > 40 * PS_PER_US && apart < 60 * PS_PER_US);
    assert_true(lab.delivered_ps[0] > 0);
    lab_end(&lab);
}

// With a tolerance of 8 the packet counts as lost when the packet sent 9 later has arrived.
static void test_reordering_is_tolerated(void **state)
{
    (void)state;
    struct roce_spec *t = begin();
    t->reorder_packets = 8;
    lab.lose_psn = 2;
    lab.lose_times = 1;
    lab_build(&lab);
    lab_post(&lab, 0, 1, 400 * LAB_MTU, 0);
    lab_run(&lab);
    assert_int_equal(lab_count(&lab, lab_is_retx), 1);
    size_t nth = 0;
    while (lab_nth(&lab, lab_is_nak, nth)->meta.sack_seq != 11)
        nth++;
    ps_t nak = lab_nth(&lab, lab_is_nak, nth)->at_ps;
    ps_t again = lab_nth(&lab, lab_is_retx, 0)->at_ps;
    assert_true(again > nak + 2 * PS_PER_US && again < nak + 3 * PS_PER_US);
    lab_end(&lab);
}

// Two messages whose boundary is in the gap are delivered in order, as soon as the gap closes.
static void test_messages_in_order(void **state)
{
    (void)state;
    begin();
    lab.lose_psn = 4;
    lab.lose_times = 1;
    struct hosts *hosts = lab_build(&lab);
    lab_post(&lab, 0, 1, 5 * LAB_MTU, 0);
    lab_post(&lab, 0, 1, 5 * LAB_MTU + 1, 1);
    lab_run(&lab);
    assert_true(lab.delivered_ps[0] > 0 && lab.delivered_ps[0] == lab.delivered_ps[1]);
    assert_int_equal(((struct roce_receiver *)hosts->receivers[0])->msn, 2);
    assert_int_equal(hosts->counters.delivered_bytes, 10 * LAB_MTU + 1);
    assert_int_equal(((struct roce_receiver *)hosts->receivers[0])->early->psns.n, 0);
    assert_int_equal(roce_selective_of(hosts->senders[0])->sacked.n, 0);
    lab_end(&lab);
}

// IRN's cap: at most one BDP in flight, rounded up to packets. Two senders share a link, so ACKs
// are late and each would send more without the cap.
static void test_bdp_cap(void **state)
{
    (void)state;
    struct roce_spec *t = lab_begin(&lab, 3, NULL);
    t->recovery = RECOVERY_SELECTIVE_REPEAT;
    struct hosts *hosts = lab_build(&lab);
    lab_post(&lab, 0, 2, 1000 * LAB_MTU, 0);
    lab_post(&lab, 1, 2, 1000 * LAB_MTU, 1);
    lab_run(&lab);
    uint64_t bdp = cc_bdp_bytes(sender_env(hosts->senders[0]));
    assert_true(lab.max_inflight >= bdp && lab.max_inflight < bdp + LAB_MTU);
    lab_end(&lab);
}

// A flow on a dead path fails after its retries, and the run reports it.
static void test_gives_up(void **state)
{
    (void)state;
    struct roce_spec *t = begin();
    t->retry_limit = 3;
    lab.lose_psn = 0;
    lab.lose_times = 1000;
    struct hosts *hosts = lab_build(&lab);
    lab_post(&lab, 0, 1, LAB_MTU, 0);
    lab_run(&lab);
    assert_int_equal(hosts->counters.timeouts, 4);
    assert_int_equal(lab_failed(&lab), 1);
    assert_true(lab.failed_ps[0] > 0);
    lab_end(&lab);
}

// Ranks below a switch of 100 Gb/s.
static struct roce_spec *begin_switch(struct fixture *f, uint32_t ranks)
{
    fixture_switch(f, ranks, UINT64_C(100000000000), 100 * PS_PER_NS);
    return roce_spec_of(&f->spec.dims[0].transport);
}

// 32 senders of three packets each meet at a queue that drains in 31 us. The automatic short
// timeout covers it. A short timeout of 1 us does not and expires, but no packet is lost, so no
// flow may fail.
static void test_a_queue_is_no_loss(void **state)
{
    (void)state;
    for (int set = 0; set < 2; set++) {
        struct fixture f;
        struct roce_spec *roce = begin_switch(&f, 33);
        roce->recovery = RECOVERY_SELECTIVE_REPEAT;
        if (set)
            roce->rto_low_ps = PS_PER_US;
        f.spec.dims[0].sw.pfc.enabled = false;
        for (uint32_t r = 0; r < 32; r++)
            fixture_flow(&f, r, 32, 12000, 0);
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        assert_int_equal(f.result->dropped_packets, 0);
        assert_int_equal(f.result->timeouts > 0, set);
        fixture_free(&f);
    }
}

// One NIC sends to 40 ranks in turn, and every 16th packet of a flow requests an ACK: it leaves 215
// us after the first packet of the flow. The timer of 50 us starts with that request, so it does
// not expire.
static void test_waiting_for_the_nic_is_no_loss(void **state)
{
    (void)state;
    for (int go_back_n = 0; go_back_n < 2; go_back_n++) {
        struct fixture f;
        struct roce_spec *roce = begin_switch(&f, 41);
        roce->recovery = go_back_n ? RECOVERY_GO_BACK_N : RECOVERY_SELECTIVE_REPEAT;
        roce->bdp_cap = false;
        roce->ack_interval = 16;
        roce->rto_ps = roce->rto_low_ps = roce->rto_high_ps = 50 * PS_PER_US;
        for (uint32_t r = 1; r < 41; r++)
            fixture_flow(&f, 0, r, 262144, 0);
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        assert_true(f.result->sim_time_ps > 16 * 50 * PS_PER_US);
        assert_int_equal(f.result->timeouts, 0);
        fixture_free(&f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_lost_one),
        cmocka_unit_test(test_the_last_one_waits_for_the_short_timeout),
        cmocka_unit_test(test_lost_again),
        cmocka_unit_test(test_reordering_is_tolerated),
        cmocka_unit_test(test_messages_in_order),
        cmocka_unit_test(test_bdp_cap),
        cmocka_unit_test(test_gives_up),
        cmocka_unit_test(test_a_queue_is_no_loss),
        cmocka_unit_test(test_waiting_for_the_nic_is_no_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Clear-to-send admission: the queue of an incast is bounded by the slots, a slot is granted again
// after delivery and copy, and lost grants are sent again. Messages split over queue pairs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

static struct fixture f;

static struct transport_spec *admit(uint64_t channels, uint64_t slots, uint64_t slot_bytes)
{
    struct transport_spec *t = &f.spec.dims[0].transport;
    t->admission = ADMISSION_CTS;
    t->channels = channels;
    t->slots = slots;
    t->slot_bytes = slot_bytes;
    return t;
}

// Frames of `n` bytes in packets of 4096 B: 14 Ethernet, 20 IPv4, 8 UDP, 12 BTH, 4 ICRC, 4 FCS, and
// a RETH of 16 per message.
static uint64_t queued_bytes(uint64_t n) { return n + n / 4096 * 62 + 16; }

// Each of n senders starts with all its slots, so all packets of the slots arrive together, n for
// each one that leaves: (n - 1) * channels * slots * slot_bytes are queued, and at most one packet
// more while they arrive. Where messages are longer than the slots, a later piece takes the place
// of an earlier one that has left, so the queue is never longer than all slots of all senders.
static void check_incast(uint32_t senders, uint64_t channels, uint64_t slots, uint64_t pieces)
{
    fixture_switch(&f, senders + 1, RATE, 500 * PS_PER_NS);
    admit(channels, slots, 65536);
    f.spec.dims[0].sw.buffer_bytes = 64000000;
    for (uint32_t r = 0; r < senders; r++)
        fixture_flow(&f, r, senders, pieces * 65536, 0);
    fixture_run(&f);
    uint64_t window = channels * slots * queued_bytes(65536), first = (senders - 1) * window;
    bool fits = pieces == channels * slots;
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_in_range(f.result->max_queue_bytes, first,
                    fits ? first + 4096 + 62 + 16 : first + window);
    assert_int_equal(f.result->pause_frames, 0);
    assert_int_equal(f.result->n_flows, senders); // one record a message
    for (uint32_t i = 0; i < senders; i++)
        assert_int_equal(f.result->flows[i].bytes, pieces * 65536);
    assert_int_equal(f.result->admission->pieces, senders * pieces);
    assert_int_equal(f.result->admission->held, senders * (pieces - channels * slots));
    assert_int_equal(f.result->admission->grants, senders * pieces);
    fixture_free(&f);
}

static void test_incast(void **state)
{
    (void)state;
    check_incast(2, 1, 1, 1);
    check_incast(8, 2, 2, 4);
    check_incast(15, 3, 4, 12);
    check_incast(2, 1, 1, 31);
    check_incast(8, 1, 2, 31);
    check_incast(8, 2, 2, 31);
}

// An all-to-all that pauses without admission does not pause with it.
static void test_no_pauses(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        fixture_switch(&f, 16, RATE, 500 * PS_PER_NS);
        fixture_collective(&f, COLL_ALL_TO_ALL, "ring", 4000000, 1);
        f.spec.dims[0].sw.buffer_bytes = 1000000;
        f.spec.dims[0].transport.start_jitter_ps = 50 * PS_PER_US;
        if (with)
            admit(1, 2, 4096);
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        if (with)
            assert_int_equal(f.result->pause_frames, 0);
        else
            assert_true(f.result->pause_frames > 0);
        // at most 15 senders at a receiver
        assert_true(!with || f.result->max_queue_bytes <= UINT64_C(15) * 2 * queued_bytes(4096));
        assert_true(f.result->collectives[0].efficiency <= 1);
        fixture_free(&f);
    }
}

static ps_t alone(uint64_t bytes)
{
    fixture_switch(&f, 2, RATE, 10 * PS_PER_US);
    fixture_flow(&f, 0, 1, bytes, 0);
    fixture_run(&f);
    ps_t delivered = f.result->flows[0].delivered_ps;
    fixture_free(&f);
    return delivered;
}

static ps_t one_slot(uint64_t bytes, ps_t copy_ps)
{
    fixture_switch(&f, 2, RATE, 10 * PS_PER_US);
    admit(1, 1, 65536)->slot_copy_ps = copy_ps;
    fixture_flow(&f, 0, 1, bytes, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    ps_t delivered = f.result->flows[0].delivered_ps, life = 0;
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        life += f.result->flows[0].life_ps[cause];
    assert_true(life == delivered);
    fixture_free(&f);
    return delivered;
}

// With one slot a piece follows the delivery of the one before it, the copy, and the grant's way.
// The grant may wait at both ports for ACKs (62 + 4 + 20 wire bytes, 7 ns each).
static void test_one_slot(void **state)
{
    (void)state;
    const ps_t n = 9;
    ps_t least = n * alone(65536) + (n - 1) * alone(64);
    ps_t time = one_slot(9 * UINT64_C(65536), 0);
    assert_true(time >= least && time <= least + (n - 1) * 4 * 7 * PS_PER_NS);
    ps_t copied = one_slot(9 * UINT64_C(65536), 25 * PS_PER_US);
    ps_t extra = copied - time - (n - 1) * 25 * PS_PER_US; // the grant meets no ACK
    assert_true(extra <= 0 && extra >= -(n - 1) * 4 * 7 * PS_PER_NS);
}

// A grant that is lost is sent again.
static void test_lost_grants(void **state)
{
    (void)state;
    fixture_switch(&f, 2, RATE, PS_PER_US);
    admit(1, 2, 4096);
    roce_spec_of(&f.spec.dims[0].transport)->rto_ps = 50 * PS_PER_US;
    roce_spec_of(&f.spec.dims[0].transport)->retry_limit = 100;
    f.faults[0] = fixture_fault("rank1->dim0.sw0");
    f.faults[0].one_way = true;
    f.faults[0].loss = 0.2;
    f.spec.faults = f.faults;
    f.spec.n_faults = 1;
    fixture_flow(&f, 0, 1, 400000, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->admission->pieces, 98);
    assert_true(f.result->timeouts > 0 || f.result->retransmitted > 0);
    fixture_free(&f);
}

// Messages that wait for slots behind one that fails, fail too; each has one record.
static void test_failure(void **state)
{
    (void)state;
    fixture_switch(&f, 3, RATE, PS_PER_US);
    admit(2, 2, 4096);
    roce_spec_of(&f.spec.dims[0].transport)->rto_ps = 50 * PS_PER_US;
    f.faults[0] = fixture_fault("rank1");
    f.faults[0].down_ps = 10 * PS_PER_US;
    f.spec.faults = f.faults;
    f.spec.n_faults = 1;
    for (int i = 0; i < 3; i++)
        fixture_flow(&f, 0, 1, 400000, 0);
    fixture_flow(&f, 0, 2, 400000, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    assert_int_equal(f.result->n_flows, 4);
    assert_int_equal(f.result->summary.failed, 3);
    assert_int_equal(f.result->summary.running, 0);
    fixture_free(&f);
}

// A run that ends early has records of the messages that wait.
static void test_horizon(void **state)
{
    (void)state;
    fixture_switch(&f, 3, RATE, PS_PER_US);
    admit(2, 2, 4096);
    f.spec.duration_ps = 10 * PS_PER_US;
    for (int i = 0; i < 3; i++)
        fixture_flow(&f, 0, 1, 400000, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->summary.count, 3);
    assert_int_equal(f.result->summary.running, 3);
    assert_int_equal(f.result->summary.bytes, 1200000);
    assert_int_equal(f.result->n_flows, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(f.result->flows[i].bytes, 400000);
    fixture_free(&f);
}

// Wherever the run is cut off, each message has one record, and the summary counts those of each
// status. The timer is far below the round trip, so messages fail while pieces of theirs are in
// flight.
static void test_any_end(void **state)
{
    (void)state;
    bool seen[3] = {false};
    for (uint64_t events = 1; events < 120; events++) {
        fixture_direct(&f, "mesh", 2, RATE, PS_PER_US);
        struct roce_spec *roce = roce_spec_of(admit(1, 8, 4096));
        roce->rto_ps = PS_PER_US;
        roce->retry_limit = 1;
        roce->qp = QP_PER_MESSAGE;
        f.spec.limits.events = events;
        for (int i = 0; i < 3; i++)
            fixture_flow(&f, 0, 1, 40002, i * PS_PER_US);
        fixture_run(&f);
        uint64_t n[3] = {0};
        for (size_t i = 0; i < f.result->n_flows; i++)
            n[f.result->flows[i].status]++;
        assert_int_equal(f.result->n_flows, f.result->summary.count);
        assert_int_equal(n[MESSAGE_RUNNING], f.result->summary.running);
        assert_int_equal(n[MESSAGE_FAILED], f.result->summary.failed);
        for (int status = 0; status < 3; status++)
            seen[status] |= n[status] > 0;
        fixture_free(&f);
    }
    assert_true(seen[MESSAGE_RUNNING] && seen[MESSAGE_FAILED]);
}

// Two leaves and four spines: a message on one queue pair has one spine, split over 64 it has all.
static void test_split(void **state)
{
    (void)state;
    ps_t times[2];
    for (int split = 0; split < 2; split++) {
        struct link_spec link = {.rate_bps = RATE, .delay_ps = PS_PER_US}, trunk = link;
        trunk.rate_bps = RATE / 4;
        fixture_leaf_spine(&f, 2, 1, 4, link, trunk);
        struct roce_spec *roce = roce_spec_of(&f.spec.dims[0].transport);
        roce->qps_per_pair = 64;
        roce->qp_scaling = split ? QP_SCALING_SPLIT : QP_SCALING_TURN;
        fixture_flow(&f, 0, 1, 8000000, 0);
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        assert_int_equal(f.result->n_flows, 1);
        assert_int_equal(f.sim->fabric.hosts.flows.n, split ? 64 : 1);
        assert_true(f.result->flows[0].fct_ps >= f.result->flows[0].ideal_ps);
        times[split] = f.result->flows[0].fct_ps;
        fixture_free(&f);
    }
    assert_true(times[1] * 2 < times[0]);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incast),   cmocka_unit_test(test_no_pauses),
        cmocka_unit_test(test_one_slot), cmocka_unit_test(test_lost_grants),
        cmocka_unit_test(test_failure),  cmocka_unit_test(test_horizon),
        cmocka_unit_test(test_any_end),  cmocka_unit_test(test_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

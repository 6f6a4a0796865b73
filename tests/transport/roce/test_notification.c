// SPDX-License-Identifier: MIT
// Tests of how ECN marks are reported: the scope of the notification point, and the echo in ACKs.
//
// Flows share a window of the notification point by queue pair, by the sender's address or by port.
// Three ranks send to one, the first over two queue pairs, and packets are marked at random. The
// receiver must send the CNPs of the rule: at once if no window of the scope is open, else at its
// end, to the first queue pair that was marked in it.
// queue pair that was marked in it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "tests/support/roce_lab.h"

enum { SENDERS = 3, FLOWS = 4, PACKETS = 400, RECEIVER = SENDERS };
#define INTERVAL (5 * PS_PER_US)

static bool mark[FLOWS][PACKETS];

static bool mark_some(struct lab *l, struct packet *p)
{
    (void)l;
    if (lab_is_data(p) && mark[p->flow][lab_psn(l, p)])
        p->flags |= PACKET_CE;
    return false;
}

struct expected {
    ps_t at_ps;
    uint32_t flow;
};

static uint32_t scope_key(const struct lab *l, int scope, uint32_t flow)
{
    if (scope == CNP_SCOPE_QP)
        return flow;
    return scope == CNP_SCOPE_DESTINATION ? l->sim->fabric.hosts.flows.ids[flow].src : 0;
}

// The CNPs for the marks of one window, in order of time.
static size_t window_cnps(const struct lab *l, int scope, uint32_t key, struct expected *cnps)
{
    size_t n = 0;
    ps_t end = -1;
    bool marked = false;
    uint32_t first = 0;
    for (size_t i = 0; i <= l->n_rx; i++) {
        ps_t at = i < l->n_rx ? l->rx[i].at_ps : PS_NEVER;
        for (; marked && end < at; marked = false) {
            cnps[n++] = (struct expected){end, first};
            end += INTERVAL;
        }
        if (i == l->n_rx)
            break;
        const struct packet *p = &l->rx[i].p;
        if (!lab_is_data(p) || !(p->flags & PACKET_CE) || scope_key(l, scope, p->flow) != key)
            continue;
        if (marked)
            continue; // also at the very end, because the arrival precedes the timer
        if (at >= end) {
            cnps[n++] = (struct expected){at, p->flow};
            end = at + INTERVAL;
        } else {
            marked = true;
            first = p->flow;
        }
    }
    return n;
}

// A CNP waits for the current transmission and for earlier CNPs.
#define SOON (FLOWS * 200 * 80)

static void check(int scope, double share, size_t *total)
{
    struct lab l;
    struct roce_spec *t = lab_begin(&l, SENDERS + 1, &lab_cnp_ops);
    t->ack_interval = 1000000;
    t->cnp_interval_ps = INTERVAL;
    t->cnp_scope = scope;
    t->qps_per_pair = 2;
    lab_stub.rate_bps = LAB_LINE / 10;
    struct rng rng = rng_init(7, RNG_FAULT, 1);
    for (int f = 0; f < FLOWS; f++)
        for (int i = 0; i < PACKETS; i++)
            mark[f][i] = rng_unit(&rng) < share;
    lab_build(&l);
    l.lose = mark_some;
    for (uint32_t f = 0; f < FLOWS; f++)
        lab_post(&l, f < SENDERS ? f : 0, RECEIVER, PACKETS * LAB_MTU, f);
    lab_run(&l);
    assert_int_equal(l.sim->fabric.hosts.flows.n, FLOWS);

    static struct expected cnps[FLOWS * PACKETS];
    static bool taken[FLOWS * PACKETS];
    size_t n = 0, n_tx = lab_count(&l, lab_is_cnp);
    for (uint32_t key = 0; key < FLOWS; key++)
        n += window_cnps(&l, scope, key, cnps + n);
    assert_int_equal(n_tx, n);
    memset(taken, 0, sizeof taken);
    for (size_t i = 0; i < n; i++) { // each CNP expected exists, for that flow and at that time
        size_t k = 0;
        for (; k < n_tx; k++) {
            const struct lab_seen *cnp = lab_nth(&l, lab_is_cnp, k);
            if (!taken[k] && cnp->p.flow == cnps[i].flow && cnp->at_ps >= cnps[i].at_ps &&
                cnp->at_ps - cnps[i].at_ps <= SOON)
                break;
        }
        assert_true(k < n_tx);
        taken[k] = true;
    }
    *total = n;
    lab_end(&l);
}

static void test_scopes(void **state)
{
    (void)state;
    static const double shares[] = {1, .3, .02};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t by_qp, by_address, by_port;
        check(CNP_SCOPE_QP, shares[i], &by_qp);
        check(CNP_SCOPE_DESTINATION, shares[i], &by_address);
        check(CNP_SCOPE_PORT, shares[i], &by_port);
        print_message("marked %g: %zu CNPs by queue pair, %zu by address, %zu by port\n", shares[i],
                      by_qp, by_address, by_port);
        assert_true(by_qp >= by_address && by_address >= by_port);
        assert_true(shares[i] < 1 || (by_qp > by_address && by_address > by_port));
    }
}

// A policy that needs the share of marked bytes is sent an ACK at every change of CE (RFC 8257,
// section 3.2), so that each ACK covers packets that were all marked or all not. A policy without
// that need receives only the ACKs that its packets request (AckReq).
static void test_ack_at_a_change_of_ce(void **state)
{
    (void)state;
    struct cc_ops ops = lab_ack_ops;
    for (unsigned needs = 0; needs <= CC_NEEDS_CE_SHARE; needs += CC_NEEDS_CE_SHARE) {
        struct lab l;
        ops.needs = needs;
        struct roce_spec *t = lab_begin(&l, 2, &ops);
        t->ack_interval = 8;
        struct rng rng = rng_init(3, RNG_FAULT, 1);
        uint64_t marked = 0, changes = 0;
        for (int i = 0; i < PACKETS; i++) {
            mark[0][i] = rng_below(&rng, 5) == 0;
            marked += mark[0][i];
            changes += i % 8 != 0 && mark[0][i] != mark[0][i - 1]; // otherwise an ACK has just been
                                                                   // sent
        }
        lab_build(&l);
        l.lose = mark_some;
        lab_post(&l, 0, 1, PACKETS * LAB_MTU, 0);
        lab_run(&l);
        size_t n = lab_count(&l, lab_is_ack);
        assert_int_equal(n, PACKETS / 8 + (needs ? changes : 0));
        uint32_t from = 0;
        for (size_t k = 0; needs && k < n; k++) {
            const struct lab_seen *ack = lab_nth(&l, lab_is_ack, k);
            assert_true(ack->meta.seq > from);
            for (; from < ack->meta.seq; from++)
                assert_int_equal(mark[0][from], !!(ack->p.flags & PACKET_ECHO_CE));
        }
        if (needs)
            assert_int_equal(lab_stub.ce_bytes, marked * LAB_MTU);
        else
            assert_true(lab_stub.ce_bytes > 2 * marked * LAB_MTU);
        lab_end(&l);
    }
}

enum { MARK_PORT = 7, MARK_BYTES = 123456 };

// A switch marks the packet and says where; then no slot of meta-data is left.
static bool mark_with_note(struct lab *l, struct packet *p)
{
    struct meta_pool *pool = &l->sim->fabric.net.meta;
    if (!lab_is_data(p))
        return false;
    p->flags |= PACKET_CE;
    struct packet_note *note = meta_note(pool, p->meta);
    note->set |= NOTE_MARK;
    note->mark = (struct note_mark){MARK_PORT, MARK_BYTES, 0.5};
    while (pool->free_head != 0)
        meta_alloc(pool);
    return false;
}

static void ignore_note(void *ctx, uint64_t token, struct packet_note *note)
{
    (void)ctx, (void)token, (void)note;
}

// The memory of notes moves when the CNP's slot is made, and the CNP has the mark all the same.
static void test_note_of_cnp(void **state)
{
    (void)state;
    struct lab l;
    lab_begin(&l, 2, &lab_cnp_ops);
    lab_build(&l);
    struct meta_pool *pool = &l.sim->fabric.net.meta;
    pool->keeps_notes = true;
    l.sim->fabric.hosts.observer.note = ignore_note;
    l.lose = mark_with_note;
    lab_post(&l, 0, 1, LAB_MTU, 0);
    lab_run(&l);
    const struct lab_seen *cnp = lab_nth(&l, lab_is_cnp, 0);
    const struct packet_note *note = meta_note(pool, cnp->p.meta);
    assert_int_equal(cnp->p.meta, pool->n_slots / 2 + 1); // the first slot of the second half
    assert_int_equal(note->set & NOTE_MARK, NOTE_MARK);
    assert_int_equal(note->mark.port, MARK_PORT);
    assert_int_equal(note->mark.queue_bytes, MARK_BYTES);
    fixture_free(&l.f); // slots are left
    free(l.tx);
    free(l.rx);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_ack_at_a_change_of_ce),
        cmocka_unit_test(test_note_of_cnp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

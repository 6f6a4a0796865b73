// SPDX-License-Identifier: MIT
// Tables for the segments of a TCP sender: counts by state, the search for pending segments and for
// bytes, growth of the ring; and random operations against counts made from the states themselves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "transport/tcp/segments.h"

#define MSS 100

static void append(struct tcp_segments *segs, uint64_t una, uint64_t number)
{
    segments_reserve(segs, una, number);
    *segment_at(segs, number) =
        (struct tcp_segment){.end = (uint32_t)(number + 1) * MSS, .bytes = MSS};
}

static void check_counts(const struct tcp_segments *segs, uint32_t lost, uint32_t retx,
                         uint32_t pending)
{
    assert_int_equal(segs->lost, lost);
    assert_int_equal(segs->retx, retx);
    assert_int_equal(segs->pending, pending);
}

static void test_states(void **state)
{
    (void)state;
    struct tcp_segments segs = {0};
    for (uint64_t n = 0; n < 5; n++)
        append(&segs, 0, n);
    segment_lose(&segs, 3);
    segment_lose(&segs, 1);
    check_counts(&segs, 2, 0, 2);
    assert_int_equal(segments_pending(&segs), 1);
    segment_lose(&segs, 1); // again: nothing changes
    check_counts(&segs, 2, 0, 2);
    segment_resend(&segs, 1, 7);
    check_counts(&segs, 2, 1, 1);
    assert_int_equal(segment_at(&segs, 1)->sent_ps, 7);
    assert_int_equal(segs.resent_end, 2);
    assert_int_equal(segments_pending(&segs), 3);
    segment_lose(&segs, 1); // the retransmission is lost, too
    check_counts(&segs, 2, 0, 2);
    assert_int_equal(segments_pending(&segs), 1);
    segment_resend(&segs, 1, 8);
    segment_delivered(&segs, segment_at(&segs, 1));
    check_counts(&segs, 1, 0, 1);
    segment_resend(&segs, 4, 9); // a probe: not lost
    check_counts(&segs, 1, 1, 1);
    assert_int_equal(segs.resent_end, 5);
    segment_delivered(&segs, segment_at(&segs, 4));
    segment_delivered(&segs, segment_at(&segs, 3));
    segment_delivered(&segs, segment_at(&segs, 0)); // neither lost nor resent
    check_counts(&segs, 0, 0, 0);
    segments_free(&segs);
    assert_null(segs.ring);
}

// A probe may repeat a segment that has arrived meanwhile; it is not in flight.
static void test_resent_after_arrival(void **state)
{
    (void)state;
    struct tcp_segments segs = {0};
    append(&segs, 0, 0);
    segment_at(&segs, 0)->state = SEGMENT_SACKED;
    segment_resend(&segs, 0, 5);
    check_counts(&segs, 0, 0, 0);
    assert_int_equal(segment_at(&segs, 0)->state, SEGMENT_SACKED | SEGMENT_RESENT);
    segments_free(&segs);
}

static void test_find(void **state)
{
    (void)state;
    struct tcp_segments segs = {0};
    const uint64_t first = UINT32_MAX / MSS - 20; // byte numbers wrap among these segments
    for (uint64_t n = first; n < first + 40; n++)
        append(&segs, first, n);
    for (uint64_t byte = first * MSS; byte < (first + 40) * MSS; byte += 33)
        assert_int_equal(segments_find(&segs, first, first + 40, (uint32_t)byte), byte / MSS);
    assert_int_equal(segments_find(&segs, first, first + 40, (uint32_t)((first + 40) * MSS)),
                     first + 40);
    assert_int_equal(segments_find(&segs, first + 5, first + 40, (uint32_t)(first * MSS)),
                     first + 5);
    segments_free(&segs);
}

static void test_random(void **state)
{
    (void)state;
    struct rng rng = rng_init(3, RNG_WORKLOAD, 0);
    struct tcp_segments segs = {0};
    uint64_t una = 0, nxt = 0;
    for (unsigned step = 0; step < 20000; step++) {
        uint64_t number = una + (nxt > una ? rng_below(&rng, nxt - una) : 0);
        switch (nxt > una ? rng_below(&rng, 5) : 0) {
        case 0:
            if (nxt < una + 300)
                append(&segs, una, nxt++);
            break;
        case 1:
            if (!(segment_at(&segs, number)->state & SEGMENT_SACKED))
                segment_lose(&segs, number);
            break;
        case 2:
            if (segs.pending > 0)
                segment_resend(&segs, segments_pending(&segs), step);
            break;
        case 3:
            segment_resend(&segs, number, step);
            break;
        default:
            segment_delivered(&segs, segment_at(&segs, una++));
            if (segs.retx_from < una)
                segs.retx_from = una;
        }
        uint32_t lost = 0, retx = 0, pending = 0;
        uint64_t first = nxt;
        for (uint64_t n = una; n < nxt; n++) {
            int s = segment_at(&segs, n)->state;
            bool waits = s & SEGMENT_LOST && !(s & SEGMENT_RETX);
            lost += (s & SEGMENT_LOST) != 0;
            retx += (s & SEGMENT_RETX) != 0;
            pending += waits;
            first = waits && n < first ? n : first;
        }
        check_counts(&segs, lost, retx, pending);
        if (pending > 0)
            assert_int_equal(segments_pending(&segs), first);
    }
    segments_free(&segs);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_resent_after_arrival),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

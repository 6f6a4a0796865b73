// SPDX-License-Identifier: MIT
// Tests of the shared buffer: tables of packets in and out with the expected state after each,
// random loads against invariants, and the headroom formula computed by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "switch/mmu.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

// Two ports, two classes: class 0 lossless with 5000 B of headroom, class 1 lossy.
// B = 60000 - 4 * 4000 - 2 * 5000 = 34000.
static const struct mmu_config config = {.buffer_bytes = 60000,
                                         .reserve_bytes = 4000,
                                         .xon_offset_bytes = 2000,
                                         .alpha = 0.5,
                                         .lossy_alpha = 1};
enum { HEADROOM = 5000, SHARED = 34000 };

static void begin(struct mmu *mmu, struct mmu_ingress ingress[4], const struct mmu_config *c)
{
    for (int i = 0; i < 4; i++)
        ingress[i] = (struct mmu_ingress){.headroom_limit = i % 2 ? 0 : HEADROOM};
    mmu_init(mmu, c, ingress, 2, 2);
}

// One packet, and the expected state after it.
struct move {
    uint32_t port, cls, bytes;
    uint64_t egress_bytes; // egress queue in bytes when the packet arrives, for lossy classes
    enum { IN, OUT } way;
    int answer; // enum mmu_verdict, or whether an XON is due
    uint64_t ingress_bytes, headroom_bytes, shared_used;
};

static void play(const struct mmu_config *c, const struct move *moves, size_t n)
{
    struct mmu mmu;
    struct mmu_ingress ingress[4];
    begin(&mmu, ingress, c);
    for (size_t i = 0; i < n; i++) {
        const struct move *m = &moves[i];
        struct mmu_queue egress = {.bytes = m->egress_bytes};
        int answer = m->way == IN ? (int)mmu_admit(&mmu, m->port, m->cls, m->bytes, egress)
                                  : (int)mmu_release(&mmu, m->port, m->cls, m->bytes);
        const struct mmu_ingress *in = &ingress[m->port * 2 + m->cls];
        if (answer != m->answer || in->bytes != m->ingress_bytes ||
            in->headroom_bytes != m->headroom_bytes || mmu.shared_used != m->shared_used)
            fail_msg("move %zu: answer %d, ingress %llu, headroom %llu, shared %llu", i, answer,
                     (unsigned long long)in->bytes, (unsigned long long)in->headroom_bytes,
                     (unsigned long long)mmu.shared_used);
    }
}

static void test_split_of_the_buffer(void **state)
{
    (void)state;
    struct mmu mmu;
    struct mmu_ingress ingress[4];
    begin(&mmu, ingress, &config);
    assert_int_equal(mmu.shared_bytes, SHARED);
    struct mmu_config small = config;
    small.buffer_bytes = 26000; // exactly the sum of reserve and headroom
    begin(&mmu, ingress, &small);
    assert_int_equal(mmu.shared_bytes, 0);
    small.buffer_bytes = 26001;
    begin(&mmu, ingress, &small);
    assert_int_equal(mmu.shared_bytes, 1);
    small.buffer_bytes = 1000;
    begin(&mmu, ingress, &small);
    assert_int_equal(mmu.shared_bytes, 0);
}

// The reserve fills first and does not count as shared buffer. A packet may use the end of the
// reserve and shared buffer.
static void test_reserve_first(void **state)
{
    (void)state;
    static const struct move moves[] = {
        {0, 0, 3000, 0, IN, MMU_ADMIT, 3000, 0, 0},  {0, 0, 1000, 0, IN, MMU_ADMIT, 4000, 0, 0},
        {0, 0, 1, 0, IN, MMU_ADMIT, 4001, 0, 1},     {1, 0, 3900, 0, IN, MMU_ADMIT, 3900, 0, 1},
        {1, 0, 300, 0, IN, MMU_ADMIT, 4200, 0, 201}, {0, 0, 3000, 0, OUT, false, 1001, 0, 200},
        {1, 0, 250, 0, OUT, false, 3950, 0, 0},      {0, 0, 1001, 0, OUT, false, 0, 0, 0},
        {1, 0, 3950, 0, OUT, false, 0, 0, 0},
    };
    play(&config, moves, LENGTH(moves));
}

// XOFF when shared bytes would exceed alpha * free, then headroom. XON when headroom is empty and
// the occupancy is below the offset.
static void test_threshold_headroom_xon(void **state)
{
    (void)state;
    static const struct move moves[] = {
        // free 34000, threshold 17000; with 10000 in use: free 24000, threshold 12000
        {0, 0, 14000, 0, IN, MMU_ADMIT, 14000, 0, 10000},
        {0, 0, 2001, 0, IN, MMU_ADMIT_XOFF, 14000, 2001, 10000}, // 12001 > 12000
        {0, 0, 100, 0, IN, MMU_ADMIT, 14000, 2101, 10000}, // it would fit, but headroom is in use
        {0, 0, 2899, 0, IN, MMU_ADMIT, 14000, 5000, 10000},
        {0, 0, 1, 0, IN, MMU_DROP, 14000, 5000, 10000},
        {0, 0, 4999, 0, OUT, false, 14000, 1, 10000},    // headroom empties first
        {0, 0, 1, 0, OUT, true, 14000, 0, 10000},        // 10000 + 2000 <= 12000
        {0, 0, 1, 0, OUT, false, 13999, 0, 9999},        // only one XON
        {0, 0, 2001, 0, IN, MMU_ADMIT, 16000, 0, 12000}, // 12000 <= 0.5 * 24001
        {0, 0, 1, 0, IN, MMU_ADMIT_XOFF, 16000, 1, 12000},
        {0, 0, 1, 0, OUT, false, 16000, 0, 12000},    // 14000 > 11000
        {0, 0, 1000, 0, OUT, false, 15000, 0, 11000}, // 13000 > 11500
        {0, 0, 999, 0, OUT, false, 14001, 0, 10001},  // 12001 > 11999
        {0, 0, 1, 0, OUT, true, 14000, 0, 10000},     // 12000 <= 12000
        {0, 0, 14000, 0, OUT, false, 0, 0, 0},
    };
    play(&config, moves, LENGTH(moves));
}

// One byte decides: exactly alpha * free is still admitted.
static void test_threshold_is_inclusive(void **state)
{
    (void)state;
    static const struct move at[] = {{0, 0, 21000, 0, IN, MMU_ADMIT, 21000, 0, 17000}};
    static const struct move above[] = {{0, 0, 21001, 0, IN, MMU_DROP, 0, 0, 0}};
    play(&config, at, 1);
    play(&config, above, 1); // larger than the headroom too
}

// With 0 shared bytes XON is sent even if the offset alone exceeds the threshold.
static void test_xon_with_empty_share(void **state)
{
    (void)state;
    struct mmu_config c = config;
    c.alpha = 0.01; // threshold 340 of 34000
    static const struct move moves[] = {
        {0, 0, 4100, 0, IN, MMU_ADMIT, 4100, 0, 100},
        {0, 0, 300, 0, IN, MMU_ADMIT_XOFF, 4100, 300, 100},
        {0, 0, 300, 0, OUT, false, 4100, 0, 100}, // 2100 > 339
        {0, 0, 99, 0, OUT, false, 4001, 0, 1},
        {0, 0, 1, 0, OUT, true, 4000, 0, 0},
    };
    play(&c, moves, LENGTH(moves));
}

// The bytes of other ingresses lower the threshold: alpha * free, not alpha * B.
static void test_threshold_is_dynamic(void **state)
{
    (void)state;
    static const struct move moves[] = {
        {1, 0, 20000, 0, IN, MMU_ADMIT, 20000, 0, 16000},  // of a threshold of 17000
        {0, 0, 13001, 0, IN, MMU_DROP, 0, 0, 16000},       // 9001 > 0.5 * 18000
        {0, 0, 13000, 0, IN, MMU_ADMIT, 13000, 0, 25000},  // free is 9000 from here on
        {0, 0, 1, 0, IN, MMU_ADMIT_XOFF, 13000, 1, 25000}, // 9001 > 4500
        {1, 0, 1, 0, IN, MMU_ADMIT_XOFF, 20000, 1, 25000}, // 16001 > 4500
        {1, 0, 20001, 0, OUT, true, 0, 0, 9000},           // from headroom and shared buffer in one
                                                           // release
        {0, 0, 1, 0, OUT, true, 13000, 0, 9000},           // 11000 <= 12500
        {0, 0, 13000, 0, OUT, false, 0, 0, 0},
    };
    play(&config, moves, LENGTH(moves));
}

// With alpha above 1 the limit is the shared buffer itself.
static void test_large_alpha_stops_at_the_buffer(void **state)
{
    (void)state;
    struct mmu_config c = config;
    c.alpha = 1000;
    c.lossy_alpha = 1e6;
    static const struct move moves[] = {
        {0, 0, 37999, 0, IN, MMU_ADMIT, 37999, 0, 33999},
        {0, 0, 2, 0, IN, MMU_ADMIT_XOFF, 37999, 2, 33999},
        {1, 1, 4001, 0, IN, MMU_ADMIT, 4001, 0, 34000}, // lossy: the last byte
        {1, 1, 1, 0, IN, MMU_DROP, 4001, 0, 34000},
        {1, 0, 4000, 0, IN, MMU_ADMIT, 4000, 0, 34000}, // reserves are never used by others
        {0, 1, 4000, 0, IN, MMU_ADMIT, 4000, 0, 34000},
        {0, 1, 1, 0, IN, MMU_DROP, 4000, 0, 34000},
    };
    play(&c, moves, LENGTH(moves));
}

// Lossy: the egress queue may hold lossy_alpha * free. There is no headroom and no XOFF, and the
// reserve is always available.
static void test_lossy_dynamic_threshold(void **state)
{
    (void)state;
    static const struct move moves[] = {
        {0, 1, 4000, 90000, IN, MMU_ADMIT, 4000, 0, 0},    // in the reserve, whatever the queue
        {0, 1, 1000, 33000, IN, MMU_ADMIT, 5000, 0, 1000}, // 34000 <= 34000
        {0, 1, 1000, 32001, IN, MMU_DROP, 5000, 0, 1000},  // 33001 > 33000
        {0, 1, 1000, 32000, IN, MMU_ADMIT, 6000, 0, 2000},
        {0, 1, 30000, 0, IN, MMU_ADMIT, 36000, 0, 32000},
        {0, 1, 1001, 1000, IN, MMU_DROP, 36000, 0, 32000}, // 2001 > 2000
        {0, 1, 1000, 1000, IN, MMU_ADMIT, 37000, 0, 33000},
        {0, 1, 37000, 0, OUT, false, 0, 0, 0},
    };
    play(&config, moves, LENGTH(moves));
}

// A fixed limit replaces the dynamic threshold of lossy classes, above and below it. Neither the
// reserve nor an empty ingress exempts from it; the buffer still bounds it; lossless classes ignore
// it.
static void test_fixed_limit(void **state)
{
    (void)state;
    enum { LOSSLESS, LOSSY };
    struct mmu mmu;
    struct mmu_ingress in[4];
    struct mmu_config c = config;
    c.queue_limit = (struct mmu_queue){.packets = 3};
    begin(&mmu, in, &c);
    // the third packet, whatever its size
    assert_int_equal(mmu_admit(&mmu, 0, LOSSY, 9000, (struct mmu_queue){2, 90000}), MMU_ADMIT);
    assert_int_equal(mmu_admit(&mmu, 0, LOSSY, 64, (struct mmu_queue){3, 100}), MMU_DROP_LIMIT);
    assert_int_equal(mmu_admit(&mmu, 1, LOSSY, 64, (struct mmu_queue){3, 100}), MMU_DROP_LIMIT);
    assert_int_equal(in[0 * 2 + LOSSY].bytes, 9000);
    assert_int_equal(in[1 * 2 + LOSSY].bytes, 0);
    assert_int_equal(mmu_admit(&mmu, 0, LOSSLESS, 4000, (struct mmu_queue){9, 0}), MMU_ADMIT);
    // 5000 B of the shared buffer are taken
    assert_int_equal(mmu_admit(&mmu, 1, LOSSY, 33000, (struct mmu_queue){0, 0}), MMU_ADMIT);
    assert_int_equal(mmu_admit(&mmu, 1, LOSSY, 1, (struct mmu_queue){1, 33000}), MMU_DROP);

    c.queue_limit = (struct mmu_queue){.bytes = 10000};
    c.lossy_alpha = 0.001;
    begin(&mmu, in, &c);
    assert_int_equal(mmu_admit(&mmu, 0, LOSSY, 6000, (struct mmu_queue){999, 4000}), MMU_ADMIT);
    assert_int_equal(mmu_admit(&mmu, 0, LOSSY, 6000, (struct mmu_queue){1, 4001}), MMU_DROP_LIMIT);
    assert_int_equal(mmu_admit(&mmu, 1, LOSSY, 1, (struct mmu_queue){1, 10000}), MMU_DROP_LIMIT);
    assert_int_equal(mmu_admit(&mmu, 1, LOSSY, 1, (struct mmu_queue){1, 9999}), MMU_ADMIT);
    assert_int_equal(mmu.shared_used, 2000);
}

// A packet that headroom cannot hold also pauses its sender.
static void test_xoff_with_too_little_headroom(void **state)
{
    (void)state;
    struct mmu mmu;
    struct mmu_ingress ingress[4];
    begin(&mmu, ingress, &config);
    ingress[0].headroom_limit = 1;
    mmu_admit(&mmu, 0, 0, 21000, (struct mmu_queue){0});
    mmu_admit(&mmu, 0, 0, 1000, (struct mmu_queue){0});
    assert_true(ingress[0].xoff);
    assert_int_equal(mmu.n_xoff, 1);
}

// Random loads: the buffer is never exceeded, all counters are consistent, XOFF is counted,
// headroom is respected.
static void test_random_loads_keep_the_invariants(void **state)
{
    (void)state;
    enum { HELD = 400 };
    struct {
        uint32_t port, cls, bytes;
    } held[HELD];
    static const double alphas[] = {0.125, 0.5, 1, 8};
    uint64_t drops = 0, xoffs = 0, xons = 0, full = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct mmu_config c = config;
        c.alpha = alphas[seed % 4];
        c.lossy_alpha = alphas[seed / 4 % 4];
        struct mmu mmu;
        struct mmu_ingress in[4];
        struct rng rng = rng_init(seed, RNG_WORKLOAD, 0);
        uint64_t egress = 0;
        size_t n = 0;
        begin(&mmu, in, &c);
        for (unsigned round = 0; round < 4000; round++) {
            if (n > 0 && (n == HELD || rng_below(&rng, 100) < (round / 300 % 2 ? 60 : 40))) {
                size_t i = rng_below(&rng, n); // in random order
                bool was = in[held[i].port * 2 + held[i].cls].xoff;
                bool on = mmu_release(&mmu, held[i].port, held[i].cls, held[i].bytes);
                assert_true(!on || was);
                xons += on;
                egress -= held[i].cls ? held[i].bytes : 0;
                held[i] = held[--n];
            } else {
                uint32_t bytes = 64 + (uint32_t)rng_below(&rng, 2000);
                uint32_t port = (uint32_t)rng_below(&rng, 2), cls = (uint32_t)rng_below(&rng, 2);
                bool was = in[port * 2 + cls].xoff;
                enum mmu_verdict v =
                    mmu_admit(&mmu, port, cls, bytes, (struct mmu_queue){.bytes = egress});
                assert_int_equal(v == MMU_ADMIT_XOFF && was, false);
                xoffs += !was && in[port * 2 + cls].xoff;
                if (v != MMU_ADMIT && v != MMU_ADMIT_XOFF) {
                    drops++;
                    continue;
                }
                held[n].port = port, held[n].cls = cls, held[n++].bytes = bytes;
                egress += cls ? bytes : 0;
            }
            uint64_t total = 0, sum = 0, shared = 0, off = 0;
            for (size_t i = 0; i < n; i++)
                sum += held[i].bytes;
            for (uint32_t i = 0; i < 4; i++) {
                total += in[i].bytes + in[i].headroom_bytes;
                shared += mmu_ingress_shared(&mmu, i / 2, i % 2);
                off += in[i].xoff;
                assert_true(in[i].headroom_bytes <= in[i].headroom_limit);
                assert_true(in[i].headroom_bytes == 0 || in[i].xoff);
                assert_true(in[i].max_bytes >= in[i].bytes);
                assert_true(in[i].max_headroom_bytes >= in[i].headroom_bytes);
            }
            assert_int_equal(total, sum);
            assert_true(total <= c.buffer_bytes);
            assert_int_equal(shared, mmu.shared_used);
            assert_true(mmu.shared_used <= mmu.shared_bytes);
            assert_int_equal(off, mmu.n_xoff);
            full = mmu.max_shared_used > full ? mmu.max_shared_used : full;
        }
        while (n > 0) {
            n--;
            xons += mmu_release(&mmu, held[n].port, held[n].cls, held[n].bytes);
        }
        assert_int_equal(mmu.shared_used, 0);
        assert_int_equal(mmu.n_xoff, 0); // every ingress has sent XON
        assert_int_equal(xons, xoffs);
    }
    print_message("%llu drops, %llu XOFF, %llu bytes shared at most\n", (unsigned long long)drops,
                  (unsigned long long)xoffs, (unsigned long long)full);
    assert_true(drops > 1000 && xoffs > 300 && full > SHARED * 9 / 10);
}

// Formula: 2 * prop * rate + 2 L + L_back + PFC frames (ahead + 1) + response * rate, with times
// rounded up.
static void test_headroom_by_hand(void **state)
{
    (void)state;
    struct headroom_link link = {.rate_bps = UINT64_C(100000000000),
                                 .back_rate_bps = UINT64_C(100000000000),
                                 .delay_ps = PS_PER_US,
                                 .back_delay_ps = PS_PER_US,
                                 .max_frame_in = 4194,
                                 .max_frame_back = 4194,
                                 .pfc_wire_bytes = 84,
                                 .pfc_ahead = 2};
    // 1 us at 12.5 GB/s = 12500 B: 25000 + 8388 + 4194 + 252, and one byte of rounding in each
    // direction
    uint64_t bytes = mmu_headroom_bytes(&link);
    assert_true(bytes >= 37834 && bytes <= 37834 + 2);
    link.response_ps = 60 * 5120; // 60 quanta: 3840 B
    bytes = mmu_headroom_bytes(&link);
    assert_true(bytes >= 41674 && bytes <= 41674 + 3);
    // 400G, 333 ns, small frames in the other direction: 2 * 16650 + 2 * 1100 + 86 + 84
    link = (struct headroom_link){.rate_bps = UINT64_C(400000000000),
                                  .back_rate_bps = UINT64_C(400000000000),
                                  .delay_ps = 333 * PS_PER_NS,
                                  .back_delay_ps = 333 * PS_PER_NS,
                                  .max_frame_in = 1100,
                                  .max_frame_back = 86,
                                  .pfc_wire_bytes = 84};
    bytes = mmu_headroom_bytes(&link);
    assert_true(bytes >= 35670 && bytes <= 35670 + 2);
    link.delay_ps = link.back_delay_ps = 0; // no cable: only frames count
    bytes = mmu_headroom_bytes(&link);
    assert_true(bytes >= 2370 && bytes <= 2370 + 2);
    // A slow direction back: 100G in over 1 us, 10G back over 3 us. 12500 + 37500 + 2 * 4194, and
    // ten times what is sent back first, 4194 + 3 * 84
    link = (struct headroom_link){.rate_bps = UINT64_C(100000000000),
                                  .back_rate_bps = UINT64_C(10000000000),
                                  .delay_ps = PS_PER_US,
                                  .back_delay_ps = 3 * PS_PER_US,
                                  .max_frame_in = 4194,
                                  .max_frame_back = 4194,
                                  .pfc_wire_bytes = 84,
                                  .pfc_ahead = 2};
    bytes = mmu_headroom_bytes(&link);
    assert_true(bytes >= 102848 && bytes <= 102848 + 3);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_of_the_buffer),
        cmocka_unit_test(test_reserve_first),
        cmocka_unit_test(test_threshold_headroom_xon),
        cmocka_unit_test(test_threshold_is_inclusive),
        cmocka_unit_test(test_xon_with_empty_share),
        cmocka_unit_test(test_threshold_is_dynamic),
        cmocka_unit_test(test_large_alpha_stops_at_the_buffer),
        cmocka_unit_test(test_lossy_dynamic_threshold),
        cmocka_unit_test(test_fixed_limit),
        cmocka_unit_test(test_xoff_with_too_little_headroom),
        cmocka_unit_test(test_random_loads_keep_the_invariants),
        cmocka_unit_test(test_headroom_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

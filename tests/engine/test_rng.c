// SPDX-License-Identifier: MIT
// Tests of the random streams: known answers of Philox4x32-10, independence of call order, bounds,
// uniformity.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/rng.h"

struct block {
    uint32_t v[4];
};

// Philox4x32-10 written from the paper (Salmon et al., SC 2011, section 3.3).
static struct block philox(struct block c, uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < 10; round++) {
        uint64_t a = UINT64_C(0xD2511F53) * c.v[0], b = UINT64_C(0xCD9E8D57) * c.v[2];
        c = (struct block){{(uint32_t)(b >> 32) ^ c.v[1] ^ k0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ c.v[3] ^ k1, (uint32_t)a}};
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return c;
}

// The kat_vectors of the Random123 distribution for philox4x32 with 10 rounds.
static void test_restated_philox_gives_the_known_answers(void **state)
{
    (void)state;
    static const struct {
        struct block counter;
        uint32_t key[2];
        struct block answer;
    } known[] = {
        {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
        {{{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}},
         {UINT32_MAX, UINT32_MAX},
         {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         {0xa4093822, 0x299f31d0},
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct block got = philox(known[i].counter, known[i].key[0], known[i].key[1]);
        assert_memory_equal(&got, &known[i].answer, sizeof got);
    }
}

static void test_zero_stream_is_the_known_answer(void **state)
{
    (void)state;
    static const uint32_t known[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    struct rng rng = rng_init(0, (enum rng_use)0, 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(rng_u32(&rng), known[i]);
}

// Draw n of a stream is word n % 4 of philox(counter = (n / 4, index, use), key = seed).
static void test_streams_are_blocks_of_philox(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {0, 1, UINT64_C(0x0123456789abcdef), UINT64_MAX};
    static const uint32_t indices[] = {0, 1, 77777, UINT32_MAX};
    static const uint64_t starts[] = {0, 4, UINT64_C(17179869180), UINT64_C(17179869184)}; // 2^34
    for (unsigned i = 0; i < 4 * 4 * 4 * 5; i++) {
        uint64_t seed = seeds[i % 4], first = starts[i / 16 % 4];
        enum rng_use use = (enum rng_use)(RNG_ECN + i / 64);
        struct rng rng = rng_init(seed, use, indices[i / 4 % 4]);
        rng.counter = first;
        for (uint64_t n = first; n < first + 9; n++) {
            struct block counter = {
                {(uint32_t)(n / 4), (uint32_t)(n / 4 >> 32), indices[i / 4 % 4], (uint32_t)use}};
            struct block want = philox(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
            assert_int_equal(rng_u32(&rng), want.v[n % 4]);
        }
    }
}

// A stream gives the same numbers whatever is drawn from other streams in between.
static void test_independence_of_call_order(void **state)
{
    (void)state;
    enum { STREAMS = 12, DRAWS = 100 };
    uint32_t alone[STREAMS][DRAWS];
    struct rng rng[STREAMS], chooser = rng_init(9, RNG_WORKLOAD, 0);
    size_t drawn[STREAMS] = {0};
    for (uint32_t s = 0; s < STREAMS; s++) {
        struct rng one = rng[s] = rng_init(42, s % 2 ? RNG_ECN : RNG_ECMP, s / 2);
        for (size_t i = 0; i < DRAWS; i++)
            alone[s][i] = rng_u32(&one);
        for (uint32_t t = 0; t < s; t++) // and no two streams are equal
            assert_memory_not_equal(alone[s], alone[t], sizeof alone[s]);
    }
    for (size_t left = (size_t)STREAMS * DRAWS; left > 0;) {
        size_t s = rng_below(&chooser, STREAMS);
        if (drawn[s] == DRAWS)
            continue;
        assert_int_equal(rng_u32(&rng[s]), alone[s][drawn[s]++]);
        left--;
    }
}

static void test_below_bounds(void **state)
{
    (void)state;
    static const uint64_t bounds[] = {
        1, 2, 3, 1000, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        struct rng rng = rng_init(5, RNG_JITTER, (uint32_t)b);
        uint64_t most = 0;
        for (int i = 0; i < 20000; i++) {
            uint64_t draw = rng_below(&rng, bounds[b]);
            assert_true(draw < bounds[b]);
            most = draw > most ? draw : most;
        }
        assert_true(most >= bounds[b] - 1 - bounds[b] / 1000); // the upper end is reached
    }
}

// Chi-square of counts against equal expected counts: mean `cells` - 1, standard deviation sqrt(2
// (cells - 1)).
static void assert_uniform(const uint64_t *count, unsigned cells, double draws)
{
    double expected = draws / cells, chi = 0, freedom = cells - 1;
    for (unsigned i = 0; i < cells; i++)
        chi += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
    assert_true(fabs(chi - freedom) < 4.5 * sqrt(2 * freedom)); // too even is as wrong as too
                                                                // uneven
}

static void test_below_is_uniform(void **state)
{
    (void)state;
    static const unsigned bounds[] = {2, 7, 10, 64, 1000};
    enum { DRAWS = 200000 };
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        uint64_t count[1000] = {0};
        struct rng rng = rng_init(8, RNG_ECN, (uint32_t)b);
        for (int i = 0; i < DRAWS; i++)
            count[rng_below(&rng, bounds[b])]++;
        assert_uniform(count, bounds[b], DRAWS);
    }
}

// The first draws of neighbouring entities are as uniform as one stream, because start jitter and
// ECMP seeds use them.
static void test_first_draws_of_neighbours_are_uniform(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    uint64_t by_index[50] = {0}, by_seed[50] = {0};
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct rng a = rng_init(1, RNG_JITTER, i), b = rng_init(i, RNG_JITTER, 1);
        by_index[rng_below(&a, 50)]++;
        by_seed[rng_below(&b, 50)]++;
    }
    assert_uniform(by_index, 50, DRAWS);
    assert_uniform(by_seed, 50, DRAWS);
}

static void test_unit(void **state)
{
    (void)state;
    enum { DRAWS = 200000 };
    struct rng rng = rng_init(3, RNG_ECN, 0), same = rng;
    uint64_t count[100] = {0};
    for (int i = 0; i < DRAWS; i++) {
        double u = rng_unit(&rng);
        assert_true(u >= 0 && u < 1);
        assert_true(u == (double)rng_u32(&same) / 4294967296.0);
        count[(unsigned)(u * 100)]++;
    }
    assert_uniform(count, 100, DRAWS);
}

// Inputs that differ in one bit give outputs that differ in half of their bits.
static void test_hash_mix(void **state)
{
    (void)state;
    assert_true(hash_mix(0) == 0);
    assert_true(hash_mix(1) == UINT64_C(0xb456bcfc34c2cb2c)); // fmix64 of MurmurHash3
    for (unsigned bit = 0; bit < 64; bit++) {
        unsigned flips = 0;
        for (uint64_t x = 1; x <= 1000; x++)
            flips += (unsigned)__builtin_popcountll(hash_mix(x * 77777) ^
                                                    hash_mix(x * 77777 ^ UINT64_C(1) << bit));
        assert_true(flips > 31 * 1000 && flips < 33 * 1000);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restated_philox_gives_the_known_answers),
        cmocka_unit_test(test_zero_stream_is_the_known_answer),
        cmocka_unit_test(test_streams_are_blocks_of_philox),
        cmocka_unit_test(test_independence_of_call_order),
        cmocka_unit_test(test_below_bounds),
        cmocka_unit_test(test_below_is_uniform),
        cmocka_unit_test(test_first_draws_of_neighbours_are_uniform),
        cmocka_unit_test(test_unit),
        cmocka_unit_test(test_hash_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

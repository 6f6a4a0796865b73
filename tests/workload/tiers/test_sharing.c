// SPDX-License-Identifier: MIT
// Shared channels against closed forms and against a reference that computes max-min rates anew at
// every event, in floating point and without lists: transfers may end at most some picoseconds
// apart.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "workload/tiers/sharing.h"

#define RATE UINT64_C(80000000000) // 100 ps a byte
#define TRANSFERS 40
#define CHANNELS 6

// A transfer of a case: begins at begin_ps, and ends as the code says or as a reference says.
struct job {
    uint32_t channels[SHARING_CHANNELS];
    uint64_t bytes;
    ps_t begin_ps, end_ps;
    double left, reference_ps;
    bool begun, ended;
};

/* ---- the code under test, event by event ---- */

static void run(struct sharing *s, struct job *jobs, unsigned n)
{
    uint32_t numbers[TRANSFERS];
    for (unsigned i = 0; i < n; i++)
        jobs[i].begun = jobs[i].ended = false;
    for (;;) {
        unsigned next = n;
        ps_t at = PS_NEVER;
        for (unsigned i = 0; i < n; i++) {
            ps_t due = jobs[i].ended   ? PS_NEVER
                       : jobs[i].begun ? s->transfers[numbers[i]].end_ps
                                       : jobs[i].begin_ps;
            if (due < at) {
                at = due;
                next = i;
            }
        }
        if (next == n)
            return;
        struct job *job = &jobs[next];
        if (job->begun) {
            sharing_end(s, numbers[next], at);
            job->ended = true;
            job->end_ps = at;
        } else {
            numbers[next] = sharing_begin(s, job->channels, job->bytes, job, at);
            job->begun = true;
        }
    }
}

/* ---- the reference ---- */

static bool uses(const struct job *job, uint32_t channel)
{
    return job->channels[0] == channel || job->channels[1] == channel;
}

// Max-min rates in bytes/ps of the transfers that run: raise all rates together; a transfer's rate
// stays where one of its channels is full.
static void fill(const struct sharing *s, const struct job *jobs, unsigned n, double *rates)
{
    bool fixed[TRANSFERS];
    for (unsigned i = 0; i < n; i++) {
        fixed[i] = !jobs[i].begun || jobs[i].ended;
        rates[i] = 0;
    }
    for (;;) {
        double rise = INFINITY, room[CHANNELS];
        unsigned open[CHANNELS] = {0};
        for (uint32_t c = 0; c < s->n_channels; c++) {
            room[c] = (double)s->channels[c].rate_bps / 8e12;
            for (unsigned i = 0; i < n; i++) {
                room[c] -= uses(&jobs[i], c) ? rates[i] : 0;
                open[c] += uses(&jobs[i], c) && !fixed[i];
            }
            if (open[c] > 0 && room[c] / open[c] < rise)
                rise = room[c] / open[c];
        }
        if (isinf(rise))
            return;
        for (unsigned i = 0; i < n; i++)
            rates[i] += fixed[i] ? 0 : rise;
        for (uint32_t c = 0; c < s->n_channels; c++)
            for (unsigned i = 0; i < n; i++)
                if (open[c] > 0 && room[c] / open[c] <= rise * (1 + 1e-12) && uses(&jobs[i], c))
                    fixed[i] = true;
    }
}

static void reference(const struct sharing *s, struct job *jobs, unsigned n)
{
    double now = 0, rates[TRANSFERS];
    for (unsigned i = 0; i < n; i++) {
        jobs[i].begun = jobs[i].ended = false;
        jobs[i].left = (double)jobs[i].bytes;
    }
    for (;;) {
        fill(s, jobs, n, rates);
        double next = INFINITY;
        for (unsigned i = 0; i < n; i++) {
            double due = jobs[i].ended   ? INFINITY
                         : jobs[i].begun ? now + jobs[i].left / rates[i]
                                         : (double)jobs[i].begin_ps;
            next = due < next ? due : next;
        }
        if (isinf(next))
            return;
        for (unsigned i = 0; i < n; i++) {
            if (jobs[i].begun && !jobs[i].ended) {
                jobs[i].left -= rates[i] * (next - now);
                jobs[i].ended = jobs[i].left < 1e-6;
                jobs[i].reference_ps = next;
            } else if (!jobs[i].begun) {
                jobs[i].begun = (double)jobs[i].begin_ps <= next;
            }
        }
        now = next;
    }
}

/* ---- closed forms ---- */

static void check_ends(struct sharing *s, struct job *jobs, unsigned n, const ps_t *ends)
{
    run(s, jobs, n);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(jobs[i].end_ps, ends[i]);
    sharing_free(s);
}

// A transfer alone takes its bytes at the rate, rounded up to a picosecond.
static void test_alone(void **state)
{
    (void)state;
    static const uint64_t rates[] = {RATE, 7000000000, 123456789000, 1000000};
    for (unsigned r = 0; r < sizeof rates / sizeof *rates; r++)
        for (uint64_t bytes = 1; bytes < 1000000000000; bytes = bytes * 7 + 3) {
            struct sharing s = {0};
            uint32_t channel = sharing_channel_new(&s, rates[r]);
            struct job job = {{channel, SHARING_NONE}, bytes, 5, 0, 0, 0, false, false};
            ps_t end = 5 + serialization_ps(bytes, rates[r]);
            check_ends(&s, &job, 1, &end);
        }
}

// k equal transfers take k times as long as one, also where k does not divide the rate.
static void test_equal(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= TRANSFERS; k++) {
        struct sharing s = {0};
        uint32_t channel = sharing_channel_new(&s, RATE);
        struct job jobs[TRANSFERS];
        ps_t ends[TRANSFERS];
        for (unsigned i = 0; i < k; i++) {
            jobs[i] = (struct job){{channel, SHARING_NONE}, 1000, 0, 0, 0, 0, false, false};
            ends[i] = k * INT64_C(100000);
        }
        check_ends(&s, jobs, k, ends);
    }
}

// A has the channel for 50 us, half of it for 60 us, a third for 90 us (1000 - 500 - 300 - 300 is
// 100 bytes short): with 1100 bytes it ends there. C then has half, and ends last, alone.
static void test_staggered(void **state)
{
    (void)state;
    struct sharing s = {0};
    uint32_t channel = sharing_channel_new(&s, RATE);
    struct job jobs[] = {
        {{channel, SHARING_NONE}, 1100, 0, 0, 0, 0, false, false},
        {{channel, SHARING_NONE}, 700, 50000, 0, 0, 0, false, false},
        {{channel, SHARING_NONE}, 1000, 110000, 0, 0, 0, false, false},
    };
    // at 110 us: A has 300 left, B 400, C 1000; at 200 us A ends: B 100, C 700 left; at 220 us B
    // ends: C has 600 left, alone
    static const ps_t ends[] = {200000, 220000, 280000};
    check_ends(&s, jobs, 3, ends);
}

// Two channels: X takes both, Y the fast one alone. The slow one gives X 30 bytes in a ns; Y gets
// the other 70 of the fast one until X ends.
static void test_two_channels(void **state)
{
    (void)state;
    struct sharing s = {0};
    uint32_t fast = sharing_channel_new(&s, 800000000000),
             slow = sharing_channel_new(&s, 240000000000);
    struct job jobs[] = {
        {{fast, slow}, 3000, 0, 0, 0, 0, false, false},
        {{fast, SHARING_NONE}, 8000, 0, 0, 0, 0, false, false},
    };
    // X: 3000 / 30 = 100 ns. Y: 7000 until then, 1000 more at 100 bytes in a ns
    static const ps_t ends[] = {100000, 110000};
    check_ends(&s, jobs, 2, ends);
}

// Transfers on channels that nothing joins do not see each other: only the new one has changed.
static void test_apart(void **state)
{
    (void)state;
    struct sharing s = {0};
    uint32_t a = sharing_channel_new(&s, RATE), b = sharing_channel_new(&s, RATE);
    uint32_t of_a[] = {a, SHARING_NONE}, of_b[] = {b, SHARING_NONE};
    uint32_t first = sharing_begin(&s, of_a, 1000, NULL, 0);
    uint32_t second = sharing_begin(&s, of_b, 1000, NULL, 50);
    assert_int_equal(s.n_changed, 1);
    assert_int_equal(s.changed[0], second);
    assert_int_equal(s.transfers[first].end_ps, 100000);
    sharing_end(&s, first, 100000);
    assert_int_equal(s.n_changed, 0);
    sharing_free(&s);
}

/* ---- random cases ---- */

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = hash_mix(*seed + 1);
    return (uint32_t)(*seed >> 33) % n;
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t c = 0; c < 3000; c++) {
        uint64_t seed = c * 7919;
        struct sharing s = {0};
        struct job jobs[TRANSFERS];
        uint32_t n = 1 + below(&seed, TRANSFERS), channels = 1 + below(&seed, CHANNELS);
        for (uint32_t i = 0; i < channels; i++)
            sharing_channel_new(&s, 1000000000 + UINT64_C(1000) * below(&seed, 1u << 28));
        for (uint32_t i = 0; i < n; i++) {
            uint32_t a = below(&seed, channels), b = below(&seed, channels);
            jobs[i] = (struct job){
                {a, b == a || below(&seed, 3) == 0 ? SHARING_NONE : b},
                1 + below(&seed, 1000000),
                below(&seed, 4) == 0 ? 0 : (ps_t)below(&seed, 1u << 31), // some begin together
                0,
                0,
                0,
                false,
                false};
        }
        reference(&s, jobs, n);
        run(&s, jobs, n);
        for (uint32_t i = 0; i < n; i++)
            assert_true(fabs((double)jobs[i].end_ps - jobs[i].reference_ps) <=
                        1 + n + 1e-9 * jobs[i].reference_ps);
        sharing_free(&s);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),     cmocka_unit_test(test_equal),
        cmocka_unit_test(test_staggered), cmocka_unit_test(test_two_channels),
        cmocka_unit_test(test_apart),     cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

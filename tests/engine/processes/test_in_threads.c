// SPDX-License-Identifier: MIT
// The exchange in memory: everyone gets what everyone sent, call by call, and one that falls silent
// is named by all others.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/processes_in_threads.h"

#define N 5
#define CALLS 200

struct seen {
    uint32_t good[N], result[N]; // exchanges that were right, and what the last one returned
};

// Bytes from process `from` to `to` in a call: some are none.
static size_t length(uint32_t from, uint32_t to, uint32_t call)
{
    return (7 * from + 3 * to + call) % 11;
}
static unsigned char value(uint32_t from, uint32_t to, uint32_t call)
{
    return (unsigned char)(50 * from + 10 * to + call);
}

static void talk(void *ctx, const struct collwire_processes *p)
{
    struct seen *seen = ctx;
    unsigned char bytes[N][16];
    for (uint32_t call = 0; call < CALLS; call++) {
        struct collwire_bytes out[N], in[N];
        for (uint32_t q = 0; q < N; q++) {
            memset(bytes[q], value(p->rank, q, call), sizeof bytes[q]);
            out[q] = (struct collwire_bytes){bytes[q], length(p->rank, q, call)};
        }
        if ((seen->result[p->rank] = p->exchange(p->ctx, out, in)) != 0)
            return;
        bool right = true;
        for (uint32_t q = 0; q < N; q++) {
            if (q == p->rank)
                continue;
            const unsigned char *got = in[q].data;
            right &= in[q].n == length(q, p->rank, call);
            for (size_t i = 0; i < in[q].n; i++)
                right &= got[i] == value(q, p->rank, call);
        }
        seen->good[p->rank] += right;
    }
}

static void test_all(void **state)
{
    struct seen seen = {0};
    (void)state;
    processes_in_threads(
        &(struct processes_in_threads){.n = N, .silent = NO_PROCESS, .run = talk, .ctx = &seen});
    for (uint32_t q = 0; q < N; q++) {
        assert_int_equal(seen.good[q], CALLS);
        assert_int_equal(seen.result[q], 0);
    }
}

static void test_silent(void **state)
{
    struct seen seen = {0};
    (void)state;
    processes_in_threads(&(struct processes_in_threads){
        .n = N, .silent = 2, .silent_after = 17, .run = talk, .ctx = &seen});
    for (uint32_t q = 0; q < N; q++) {
        assert_int_equal(seen.good[q], 17);
        assert_int_equal(seen.result[q], q == 2 ? 1 + 3 : 1 + 2);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_silent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// All-to-all with vectors of different sizes: every block by its formula, chunks add up, directions
// mirror.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collective/algorithm/collective.h"

#define RANKS 5

static const uint64_t bytes[RANKS] = {1000, 7, 0, 333, 12345};

// floor((i + 1) w / p) - floor(i w / p): block i of w bytes over p ranks.
static uint64_t block(uint64_t w, uint64_t i) { return (i + 1) * w / RANKS - i * w / RANKS; }

static void check(const char *name, bool of_receiver, uint32_t chunks)
{
    const struct coll_algorithm *a = coll_find(name);
    const struct coll_uneven uneven = {bytes, of_receiver};
    uint64_t got[RANKS][RANKS] = {{0}}, sent = 0;
    const char *why;
    for (uint32_t c = 0; c < chunks; c++) {
        struct coll_shape s = {.op = COLL_ALL_TO_ALL,
                               .ranks = RANKS,
                               .bytes = 12345,
                               .uneven = &uneven,
                               .chunk = c,
                               .chunks = chunks};
        assert_true(a->supports(&s, &why));
        for (uint32_t r = 0; r < RANKS; r++) {
            sent += coll_bytes_sent(a, &s, r);
            for (uint32_t step = 0; step < a->steps(&s); step++)
                for (uint32_t k = 0; k < a->n_sends(&s, r, step); k++) {
                    struct coll_send send = a->send(&s, r, step, k);
                    got[r][send.peer] += send.bytes;
                }
        }
    }
    uint64_t want = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t p = 0; p < RANKS; p++) {
            if (r == p)
                continue;
            uint64_t one = of_receiver ? block(bytes[p], r) : block(bytes[r], p);
            want += one;
            if (chunks == 1)
                assert_int_equal(got[r][p], one);
            else // every chunk is cut into blocks: up to one byte of difference for each
                assert_true(got[r][p] + chunks >= one && got[r][p] <= one + chunks);
        }
    if (chunks == 1)
        assert_int_equal(sent, want);
}

static void test_blocks(void **state)
{
    (void)state;
    static const char *const names[] = {"direct", "ring"};
    for (size_t i = 0; i < 2; i++)
        for (uint32_t chunks = 1; chunks <= 3; chunks++) {
            check(names[i], false, chunks);
            check(names[i], true, chunks);
        }
}

static void test_refused(void **state)
{
    (void)state;
    const struct coll_uneven uneven = {bytes, false};
    struct coll_shape s = {.op = COLL_ALL_TO_ALL, .ranks = RANKS, .uneven = &uneven};
    const char *why = "";
    assert_false(coll_find("bruck")->supports(&s, &why));
    assert_non_null(why);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests_name("uneven", tests, NULL, NULL);
}

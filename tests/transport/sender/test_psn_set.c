// SPDX-License-Identifier: MIT
// Tests of the set of packet numbers against a plain array, over random adds, removals and moves of
// the base.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "transport/sender/psn_set.h"

#define ALL 20000

static void test_against_an_array(void **state)
{
    (void)state;
    static bool there[ALL];
    struct rng rng = rng_init(5, RNG_WORKLOAD, 0);
    struct psn_set set = {0};
    uint64_t base = 0, n = 0;
    while (base + 3000 < ALL) {
        uint64_t psn = base + 1 + rng_below(&rng, rng_below(&rng, 20) ? 100 : 2000);
        assert_int_equal(psn_set_add(&set, base, psn), !there[psn]);
        n += !there[psn];
        there[psn] = true;
        for (uint64_t step = rng_below(&rng, 4); step > 0; step--) {
            assert_int_equal(psn_set_remove(&set, base), there[base]);
            n -= there[base];
            there[base++] = false;
        }
        for (uint64_t look = base; look < base + 3000; look += 1 + rng_below(&rng, 100))
            assert_int_equal(psn_set_has(&set, look), there[look]);
        assert_int_equal(set.n, n);
    }
    assert_true(set.n_words >= 32);
    psn_set_clear(&set);
    assert_int_equal(set.n, 0);
    assert_false(psn_set_has(&set, base + 1));
    assert_true(psn_set_add(&set, base, base + 1));
    psn_set_free(&set);
    assert_false(psn_set_remove(&set, 0));
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_an_array)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

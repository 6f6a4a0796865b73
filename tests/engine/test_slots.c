// SPDX-License-Identifier: MIT
// Numbers of objects: each is taken once until it is given back, and the last given is taken first.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/slots.h"

static void test_numbers(void **state)
{
    (void)state;
    struct slots slots = {0};
    uint64_t *array = NULL;
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t number = slots_take(&slots, array);
        assert_int_equal(number, i);
        array[number] = i * UINT64_C(3); // the array has room for it
    }
    assert_true(slots.cap >= 100);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(array[i], i * UINT64_C(3));
    slots_give(&slots, 17);
    slots_give(&slots, 4);
    assert_int_equal(slots_take(&slots, array), 4);
    assert_int_equal(slots_take(&slots, array), 17);
    assert_int_equal(slots_take(&slots, array), 100);
    assert_int_equal(slots.n, 101);
    free(array);
    slots_free(&slots);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// What a report keeps of the memory that jobs need.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "tests/report/page_json.h"

#define KINDS(w, a) "{'weights': " #w ", 'activations': " #a "}"
#define STEP(step, end, w, a)                                                                      \
    "{'step': '" step "', 'end_ns': " #end ", 'bytes': 9, 'by_kind': " KINDS(w, a) "}"

// Steps become rows of numbers in the order of the kinds; what does not fit is noted.
static void reduces_memory(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *metrics = read_json("{'memory': {'max_bytes': 5, 'by_kind': " KINDS(
        2, 3) ", 'capacity_bytes': null, "
              "'classes': [{'rank': 0, 'by_kind': " KINDS(2, 3) "}], 'iteration': [" STEP(
                  "f0", 4, 2, 1) "," STEP("b0", null, 2, 3) "]}}");
    json_t *all = page_memory(page, metrics, 2), *cut = page_memory(page, metrics, 1);
    expect_json(
        all,
        "{'max_bytes': 5, 'by_kind': " KINDS(
            2, 3) ", 'capacity_bytes': null, "
                  "'kinds': ['weights', 'activations'], 'steps': [['f0', 4, 2, 1], ['b0', null, "
                  "2, 3]], 'classes': [{'rank': 0, 'by_kind': " KINDS(2, 3) "}]}");
    assert_int_equal(json_array_size(json_object_get(cut, "steps")), 1);
    assert_int_equal(json_array_size(page->notes), 1);
    json_decref(all);
    json_decref(cut);
    json_decref(metrics);
    json_t *none = json_object();
    assert_null(page_memory(page, none, 1));
    json_decref(none);
    page_free(page);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduces_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// scenarios/schema.json matches the tables.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config/scenario.h"
#include "sim/result/result.h"
#include "tests/support/generated.h"

static void test_schema_is_current(void **state)
{
    (void)state;
    struct cc_catalogue policies = cc_catalogue_builtin();
    char *schema = schema_text(&policies), *text = text_format("%s\n", schema);
    assert_generated("scenarios/schema.json", text);
    free(text);
    free(schema);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_schema_is_current)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// scenarios/schema.json is what the tables say. Run from the root of the project (or with it as the
// argument); UPDATE_SCHEMA=1 writes the file anew.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "config/json_file.h"
#include "config/scenario.h"

static char path[4096] = "scenarios/schema.json";

static void test_schema_is_current(void **state)
{
    (void)state;
    char *text = schema_text();
    if (getenv("UPDATE_SCHEMA") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%s\n", text);
        assert_int_equal(fclose(file), 0);
    }
    struct err err = {0};
    size_t length = 0;
    char *stored = file_read(path, &length, &err);
    assert_non_null(stored);
    assert_true(length > 0 && stored[length - 1] == '\n');
    stored[length - 1] = '\0';
    if (strcmp(stored, text) != 0)
        fail_msg("%s differs from the tables; run this test with UPDATE_SCHEMA=1", path);
    free(stored);
    free(text);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(path, sizeof path, "%s/scenarios/schema.json", argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_schema_is_current)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

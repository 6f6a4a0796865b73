// SPDX-License-Identifier: MIT
// Compares generated files with the repository, or writes them.
#include "tests/support/generated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void assert_generated(const char *path, const char *text)
{
    size_t length = strlen(text);
    if (getenv("REGEN")) {
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        assert_int_equal(fwrite(text, 1, length, out), length);
        assert_int_equal(fclose(out), 0);
    }
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    char *written = calloc(1, length + 2);
    assert_non_null(written);
    size_t n = fread(written, 1, length + 1, in);
    fclose(in);
    if (n != length || memcmp(text, written, length) != 0)
        fail_msg("%s does not match the tables: run `make regen` to write it", path);
    free(written);
}

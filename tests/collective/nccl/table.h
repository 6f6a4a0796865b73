// SPDX-License-Identifier: MIT
// Rows of the CSV tables of tests/data/nccl. The cells are plain words and numbers.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 20, LINE = 4096 };

struct table {
    FILE *in;
    char line[LINE];
    char *cells[COLUMNS];
};

// Open a table and skip the names of its columns. The test fails without it.
static inline void table_open(struct table *t, const char *path)
{
    t->in = fopen(path, "r");
    assert_non_null(t->in);
    assert_non_null(fgets(t->line, LINE, t->in)); // names of the columns
}

// Read the next row. Returns false, and closes the file, at the end.
static inline bool table_next(struct table *t)
{
    if (fgets(t->line, LINE, t->in) == NULL) {
        fclose(t->in);
        return false;
    }
    char *at = t->line;
    for (unsigned i = 0; i < COLUMNS; i++) {
        t->cells[i] = at;
        at += strcspn(at, ",\n");
        if (*at != '\0')
            *at++ = '\0';
    }
    return true;
}

static inline double real(const struct table *t, unsigned column)
{
    return strtod(t->cells[column], NULL);
}

// The index of a word among names; the test fails if it is none of them.
static inline unsigned word(const char *text, const char *const *names, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    fail_msg("%s", text);
    return n;
}

// SPDX-License-Identifier: MIT
// Format: nccl-tests, src/common.cu: a heading "# size count type redop root time algbw busbw
// #wrong time algbw busbw #wrong", out of place and in place, and a row for each size. Older
// versions have no #wrong, or "error", and leave redop and root empty where an operation has none.
// So columns are counted from the right.
#include "cli/sweep/measured_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

#define WORDS 64

struct reading {
    struct measured_table *table;
    const char *path;
    struct err *err;
    size_t cap, line;
    size_t after; // words of the heading from its first "time" on; 0 = no heading yet
};

static int wrong(const struct reading *r, const char *what)
{
    char *at = text_format("%s:%zu", r->path, r->line);
    err_add(r->err, at, "%s", what);
    free(at);
    return -1;
}

static size_t cut(char *line, char *words[WORDS])
{
    size_t n = 0;
    for (char *at = strtok(line, " \t\r\n"); at; at = strtok(NULL, " \t\r\n"))
        if (n < WORDS)
            words[n++] = at;
    return n;
}

// Whether the words from `at` on are "size count type": a heading, perhaps behind "#".
static bool is_heading(char *const *words, size_t n, size_t at)
{
    return at + 3 < n && strcmp(words[at], "size") == 0 && strcmp(words[at + 1], "count") == 0 &&
           strcmp(words[at + 2], "type") == 0;
}

static int heading(struct reading *r, char *const *words, size_t n)
{
    size_t at = 0;
    while (at < n && strcmp(words[at], "time") != 0)
        at++;
    if (at + 2 >= n || strcmp(words[at + 1], "algbw") != 0 || strcmp(words[at + 2], "busbw") != 0)
        return wrong(r, "the heading has no columns time, algbw and busbw");
    r->after = n - at;
    return 0;
}

static bool number(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*value) && *value >= 0;
}

// The word at which a row begins: a size and a count, both whole; n = there is none.
static size_t row_begin(char *const *words, size_t n)
{
    uint64_t size, count;
    for (size_t i = 0; i + 2 < n; i++)
        if (parse_count(words[i], &size) == 0 && parse_count(words[i + 1], &count) == 0)
            return i;
    return n;
}

static int row(struct reading *r, char *const *words, size_t n)
{
    size_t begin = row_begin(words, n);
    struct measured_row new = {0};
    double algbw;
    if (begin == n || r->after == 0)
        return 0; // a comment, or what the launcher says
    if (n - begin < 3 + r->after || !number(words[n - r->after], &new.time_us) ||
        !number(words[n - r->after + 1], &algbw) ||
        !number(words[n - r->after + 2], &new.busbw_gbs) || new.time_us <= 0)
        return wrong(r, "the row has other columns than the heading");
    parse_count(words[begin], &new.bytes);
    // algbw is the size by the time: so the columns are what they are taken for.
    double own = (double)new.bytes / new.time_us / 1e3;
    if (fabs(algbw - own) > 0.02 * own + 0.011)
        return wrong(r, "algbw is not size by time: columns that are not understood");
    if (measured_table_at(r->table, new.bytes))
        return wrong(r, "a second row of this size: give one table of one operation");
    if (r->table->n == r->cap)
        r->table->rows = memory_grow(r->table->rows, &r->cap, sizeof *r->table->rows);
    r->table->rows[r->table->n++] = new;
    return 0;
}

int measured_table_read(struct measured_table *t, const char *path, struct err *err)
{
    struct reading r = {.table = t, .path = path, .err = err};
    const char *why;
    char *line = NULL, *words[WORDS];
    size_t room = 0;
    int status = 0;
    *t = (struct measured_table){0};
    FILE *in = regular_file_stream(path, &why);
    if (!in)
        return err_add(err, path, "cannot be read: %s", why);
    while (status == 0 && getline(&line, &room, in) > 0) {
        size_t n = cut(line, words), at = 0;
        r.line++;
        while (at < n && !is_heading(words, n, at))
            at++;
        status = at < n ? heading(&r, words, n) : row(&r, words, n);
    }
    free(line);
    fclose(in);
    if (status == 0 && t->n == 0)
        status = err_add(err, path,
                         "has no table of nccl-tests: a heading with size, count, type, "
                         "time, algbw and busbw, and a row for each size");
    if (status != 0)
        measured_table_free(t);
    return status;
}

void measured_table_free(struct measured_table *t)
{
    free(t->rows);
    *t = (struct measured_table){0};
}

const struct measured_row *measured_table_at(const struct measured_table *t, uint64_t bytes)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->rows[i].bytes == bytes)
            return &t->rows[i];
    return NULL;
}

// SPDX-License-Identifier: MIT
#include "cli/fit/observed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"

#define SPREAD 0.02 // of a value that the file gives none of

struct observed_value *observed_append(struct observed *m, const char *quantity, const char *place,
                                       const char *unit, double scale)
{
    m->list = memory_resize(m->list, m->n + 1, sizeof *m->list);
    m->list[m->n] = (struct observed_value){.quantity = memory_text(quantity),
                                            .place = memory_text(place),
                                            .unit = memory_text(unit),
                                            .scale = scale};
    return &m->list[m->n++];
}

void observed_want(struct observed *m, const char *quantity, const char *place)
{
    for (size_t i = 0; i < m->n; i++)
        if (observed_same_quantity(m->list[i].quantity, quantity) &&
            strcmp(m->list[i].place, place) == 0)
            return;
    struct observed_value *v = observed_append(m, quantity, place, "", 1);
    v->job = observed_test_job(quantity, place);
    v->value = v->relative = 1;
    v->held_out = true;
    v->later = STAGE_TESTS;
}

// Note a counter that is not known, once.
static void note_unknown(struct observed *m, const char *name)
{
    const char *at = m->unknown ? strstr(m->unknown, name) : NULL;
    size_t length = strlen(name);
    if (at && (at == m->unknown || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
        return;
    char *all = m->unknown ? text_format("%s, %s", m->unknown, name) : memory_text(name);
    free(m->unknown);
    m->unknown = all;
}

/* ---- the file ---- */

static const struct {
    const char *name;
    double scale;
} units[] = {
    {"", 1},
    {"ns", 1},
    {"us", 1e3},
    {"ms", 1e6},
    {"s", 1e9},
    {"bit/s", 1},
    {"Mb/s", 1e6},
    {"Gb/s", 1e9},
    {"GB/s", 8e9},
    {"MB/s", 8e6},
    {"MiB/s", 8.0 * (1 << 20)},
    {"B", 1},
    {"KB", 1e3},
    {"KiB", 1 << 10},
    {"MB", 1e6},
    {"MiB", 1 << 20},
    {"packets", 1},
    {"%", 0.01},
};

enum column { QUANTITY, PLACE, VALUE, UNIT, SPREAD_OF, COLUMNS };
static const char *const column_names[COLUMNS] = {"quantity", "place", "value", "unit", "spread"};

struct table {
    const char *path;
    int at[COLUMNS]; // number of the column in the file; -1 = it has none
    unsigned line;
    bool counters; // it has the column `counter`, whose unknown names are noted and left out
    struct err *err;
};

// Split a line of CSV into cells, in place, without their quotes and surrounding blanks. Returns
// the number of cells.
static int cells_of(char *line, char *cells[16])
{
    int n = 0;
    for (char *at = line; at && n < 16; n++) {
        while (*at == ' ')
            at++;
        bool quoted = *at == '"';
        cells[n] = at + quoted;
        char *end = quoted ? strchr(at + 1, '"') : at + strcspn(at, ",\r\n");
        char *comma = end ? strchr(end, ',') : NULL;
        if (end)
            *end = '\0';
        for (size_t l = strlen(cells[n]); l > 0 && cells[n][l - 1] == ' '; l--)
            cells[n][l - 1] = '\0';
        at = comma ? comma + 1 : NULL;
    }
    return n;
}

// An error at the line; `text` ends it.
static int wrong(const struct table *t, const char *what, const char *text)
{
    char *at = text_format("%s:%u", t->path, t->line);
    err_add(t->err, at, "%s '%s'", what, text);
    free(at);
    return -1;
}

static int heading(struct table *t, char *cells[16], int n)
{
    for (int c = 0; c < COLUMNS; c++)
        t->at[c] = -1;
    for (int i = 0; i < n; i++) {
        int c = 0;
        while (c < COLUMNS && strcmp(column_names[c], cells[i]) != 0)
            c++;
        if (strcmp(cells[i], "counter") == 0) {
            t->counters = true;
            c = QUANTITY;
        }
        if (c == COLUMNS)
            return wrong(t, "of quantity (or counter), place, value, unit and spread there is no",
                         cells[i]);
        t->at[c] = i;
    }
    for (int c = QUANTITY; c <= VALUE; c++)
        if (t->at[c] < 0)
            return wrong(t, "there is no column", column_names[c]);
    return 0;
}

static const char *cell(const struct table *t, char *cells[16], int n, enum column c)
{
    return t->at[c] >= 0 && t->at[c] < n ? cells[t->at[c]] : "";
}

static int number(const struct table *t, const char *text, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    bool good = end != text && *end == '\0' && errno == 0 && isfinite(*out) && *out >= 0;
    return good ? 0 : wrong(t, "not a number from 0:", text);
}

// Read the spread of a value: in percent of the value ("2%"), or in the unit of the value.
static int spread_of(const struct table *t, const char *text, struct observed_value *v)
{
    size_t length = strlen(text);
    char *own = text_format("%s", text);
    bool percent = length > 0 && own[length - 1] == '%';
    double spread = 0;
    v->relative = SPREAD;
    if (percent)
        own[length - 1] = '\0';
    int status = length > 0 ? number(t, own, &spread) : 0;
    v->stated = status == 0 && length > 0 && spread > 0;
    if (v->stated)
        v->relative = percent ? spread / 100 : v->value > 0 ? spread * v->scale / v->value : SPREAD;
    free(own);
    return status;
}

// Counts are spread by their root at least.
static double least_spread(const struct observed_value *v)
{
    bool counts = observed_reach(v).counts && v->value > 0;
    double own = counts ? 1 / sqrt(v->value) : 0;
    return own > v->relative ? own : v->relative;
}

static int row(struct table *t, char *cells[16], int n, struct observed_value *v)
{
    const char *unit = cell(t, cells, n, UNIT), *quantity = cell(t, cells, n, QUANTITY);
    size_t u = 0;
    while (u < sizeof units / sizeof *units && strcmp(units[u].name, unit) != 0)
        u++;
    if (!observed_is_quantity(quantity))
        return wrong(t, "collwire fit --help lists the quantities; there is no", quantity);
    if (u == sizeof units / sizeof *units)
        return wrong(t, "unknown unit", unit);
    *v = (struct observed_value){.scale = units[u].scale, .line = t->line};
    if (number(t, cell(t, cells, n, VALUE), &v->value) != 0)
        return -1;
    v->value *= v->scale;
    if (spread_of(t, cell(t, cells, n, SPREAD_OF), v) != 0)
        return -1;
    v->quantity = text_format("%s", quantity);
    v->place = text_format("%s", cell(t, cells, n, PLACE));
    v->unit = text_format("%s", unit);
    v->job = observed_test_job(quantity, v->place);
    if (observed_is_test(quantity) && !v->job)
        return wrong(t, "the place of a test is rank0->rank1, rank0-15 or rank0-15+8, not",
                     v->place);
    v->relative = least_spread(v);
    return 0;
}

int observed_read(struct observed *m, const char *path, struct err *err)
{
    struct table t = {.path = path, .err = err};
    const char *why;
    char *line = NULL, *cells[16];
    size_t room = 0, cap = 0;
    bool headed = false;
    int status = 0;
    FILE *in = regular_file_stream(path, &why);
    *m = (struct observed){0};
    if (!in)
        return err_add(err, path, "cannot be read: %s", why);
    while (getline(&line, &room, in) > 0) {
        t.line++;
        if (line[strspn(line, " \t\r\n")] == '\0' || *line == '#')
            continue;
        int n = cells_of(line, cells);
        if (!headed) {
            headed = true;
            if ((status = heading(&t, cells, n)) != 0)
                break;
            continue;
        }
        if (t.counters && !observed_is_quantity(cell(&t, cells, n, QUANTITY))) {
            note_unknown(m, cell(&t, cells, n, QUANTITY));
            continue;
        }
        if (m->n == cap)
            m->list = memory_grow(m->list, &cap, sizeof *m->list);
        if (row(&t, cells, n, &m->list[m->n]) == 0)
            m->n++;
        else
            status = -1;
    }
    free(line);
    fclose(in);
    if (status == 0 && m->n == 0)
        status = err_add(err, path, "has no measured value: lines of quantity,place,value");
    return status;
}

void observed_free(struct observed *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->list[i].quantity);
        free(m->list[i].place);
        free(m->list[i].unit);
        free(m->list[i].job);
    }
    free(m->list);
    free(m->unknown);
    *m = (struct observed){0};
}

void observed_hold_out(struct observed *m, size_t n, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_DRAWS, 0);
    uint32_t *order = memory_zeroed(m->n, sizeof *order);
    rng_permutation(&rng, order, (uint32_t)m->n);
    for (size_t i = 0; i < n && i < m->n; i++)
        m->list[order[i]].held_out = true;
    free(order);
}

// SPDX-License-Identifier: MIT
// The table of a sweep, read from CSV (RFC 4180): columns by their role, cells as numbers or texts.
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "report/page/effects.h"
#include "report/page/page_internal.h"
#include "report/rows.h"

enum { TABLE_BYTES = 1600000 };

// Read a cell and move *at behind its comma or to the end of its line. To be freed.
static char *cell_read(const char **at)
{
    const char *c = *at;
    char *text = memory_bytes(strcspn(c, "\n") + 1);
    size_t n = 0;
    bool quoted = *c == '"';
    if (quoted) {
        // A quoted cell may contain line feeds, so it may be longer than the line.
        size_t cap = strlen(c) + 1;
        text = memory_resize(text, cap, 1);
        // A quotation mark within a quoted cell is doubled (RFC 4180).
        for (c++; *c != '\0' && (*c != '"' || c[1] == '"'); c++) {
            c += *c == '"';
            text[n++] = *c;
        }
        c += *c == '"';
    }
    while (*c != '\0' && *c != ',' && *c != '\n') {
        if (*c != '\r')
            text[n++] = *c;
        c++;
    }
    text[n] = '\0';
    *at = c;
    return text;
}

static json_t *cell_json(const char *text)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    // strtod() also reads "inf", "nan" and hexadecimal numbers, which are texts here.
    bool plain = strspn(text, "-+.0123456789eE") == strlen(text);
    if (*text == '\0')
        return json_null();
    if (!plain || end == text || *end != '\0' || errno != 0)
        return json_string(text);
    // Integers up to 9e15 are exact as doubles.
    if (strcspn(text, ".eE") == strlen(text) && value < 9e15 && value > -9e15)
        return json_integer((json_int_t)value);
    return json_real(value);
}

// Read a row of cells; *at is moved behind its line feed.
static json_t *row_read(const char **at, bool as_text)
{
    json_t *row = json_array();
    for (;;) {
        char *text = cell_read(at);
        json_t *value = as_text ? json_string(text) : cell_json(text);
        json_array_append_new(row, value ? value : json_null());
        free(text);
        if (**at != ',')
            break;
        (*at)++;
    }
    *at += **at == '\n';
    return row;
}

static size_t place_of(const json_t *heading, const char *name)
{
    size_t i;
    const json_t *item;
    json_array_foreach(heading, i, item)
    {
        const char *text = json_string_value(item);
        if (text && strcmp(text, name) == 0)
            return i;
    }
    return json_array_size(heading);
}

static json_t *roles(const json_t *heading)
{
    size_t n = json_array_size(heading), seed = place_of(heading, "seed"),
           status = place_of(heading, "status");
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(i == seed     ? "seed"
                                                : i < status  ? "axis"
                                                : i == status ? "status"
                                                              : "metric"));
    return list;
}

// ---- what the page has room for ----

// Mark the columns to keep: all but metrics that are zero or unknown in every row.
static void find_used(const json_t *rows, const json_t *role, bool *used)
{
    size_t i, c;
    const json_t *row, *cell;
    for (c = 0; c < json_array_size(role); c++)
        used[c] = strcmp(json_string_value(json_array_get(role, c)), "metric") != 0;
    json_array_foreach(rows, i, row)
    {
        json_array_foreach(row, c, cell)
        {
            bool zero = json_is_number(cell) && !(json_number_value(cell) < 0) &&
                        !(json_number_value(cell) > 0);
            used[c] |= !json_is_null(cell) && !zero;
        }
    }
}

static json_t *kept_columns(const json_t *row, const bool *used)
{
    json_t *kept = json_array(), *cell;
    size_t c;
    json_array_foreach(row, c, cell)
    {
        if (used[c])
            json_array_append(kept, cell);
    }
    return kept;
}

// The used columns of as many rows as fit.
static json_t *kept_rows(struct page *page, const json_t *rows, const bool *used)
{
    json_t *kept = json_array();
    size_t bytes = 0, i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        json_t *one = kept_columns(row, used);
        bytes += json_dumpb(one, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(10)) + 1;
        if (bytes > TABLE_BYTES) {
            page_note(page, "The page has the first %zu of %zu rows of sweep.csv.", i,
                      json_array_size(rows));
            json_decref(one);
            break;
        }
        json_array_append_new(kept, one);
    }
    return kept;
}

static void put_table(struct page *page, const json_t *table)
{
    const json_t *heading = json_object_get(table, "columns"),
                 *role = json_object_get(table, "roles"), *rows = json_object_get(table, "rows");
    bool *used = memory_zeroed(json_array_size(heading) + 1, sizeof *used);
    find_used(rows, role, used);
    json_object_set_new(page->root, "sweep",
                        json_pack("{s:o, s:o, s:o, s:o}", "columns", kept_columns(heading, used),
                                  "roles", kept_columns(role, used), "rows",
                                  kept_rows(page, rows, used), "effects", sweep_effects(table)));
    free(used);
}

size_t page_sweep_column(const json_t *sweep, const char *name)
{
    return place_of(json_object_get(sweep, "columns"), name);
}

// Read the rows below a heading, from *at on. Returns 0, or -1 with an error at `path`.
static int rows_read(const char *at, size_t n, json_t *rows, const char *path, struct err *err)
{
    for (size_t line = 2; *at != '\0'; line++) {
        json_t *row = row_read(&at, false);
        size_t cells = json_array_size(row);
        if (cells == n)
            json_array_append(rows, row);
        json_decref(row);
        if (cells != n && cells > 1)
            return err_add(err, path, "row %zu has %zu cells where the heading has %zu", line,
                           cells, n);
    }
    return 0;
}

// The table as {columns, roles, rows}; NULL with an error at `path`.
static json_t *table_read(const char *csv, const char *path, struct err *err)
{
    json_t *heading = row_read(&csv, true), *rows = json_array();
    size_t n = json_array_size(heading);
    json_t *table =
        json_pack("{s:o, s:o, s:o}", "columns", heading, "roles", roles(heading), "rows", rows);
    int status = 0;
    if (place_of(heading, "status") == n)
        status = err_add(err, path, "has no column \"status\": it is not the table of a sweep");
    if (status == 0)
        status = rows_read(csv, n, rows, path, err);
    if (status == 0)
        return table;
    json_decref(table);
    return NULL;
}

int page_add_sweep(struct page *page, const char *csv, const char *path, struct err *err)
{
    json_t *table = table_read(csv, path, err);
    if (!table)
        return -1;
    put_table(page, table);
    json_decref(table);
    return 0;
}

json_t *sweep_csv_effects(const char *csv)
{
    struct err ignored = {0};
    json_t *table = table_read(csv, "", &ignored), *list = table ? sweep_effects(table) : NULL;
    err_free(&ignored);
    json_decref(table);
    return list ? list : json_array();
}

// SPDX-License-Identifier: MIT
// Messages from a capture, and collectives of a real run, beside their simulation, as text.
#include "report/measured.h"

#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

enum { ROWS_MAX = 8, CELL = 48 };

static double number_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *time_at(const json_t *object, const char *key, char *text)
{
    return human_time((ps_t)(number_at(object, key) * (double)PS_PER_NS), text);
}

/* ---- messages ---- */

// How far a message is from its measurement: the logarithm of the ratio.
static double distance(const json_t *flow)
{
    // The logarithm weighs twice and half of the measured time alike.
    double ratio = number_at(flow, "measured_ratio");
    return ratio > 0 ? fabs(log(ratio)) : 0;
}

static int by_distance(const void *a, const void *b)
{
    const json_t *const *x = a, *const *y = b;
    double of_x = distance(*x), of_y = distance(*y);
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    double id_x = number_at(*x, "id"), id_y = number_at(*y, "id");
    return (id_x > id_y) - (id_x < id_y);
}

static void line_add(struct libscols_table *table, const json_t *flow)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    char cell[CELL], text[UNIT_TEXT];
    snprintf(cell, CELL, "rank%.0f->rank%.0f", number_at(flow, "src"), number_at(flow, "dst"));
    scols_line_set_data(line, 0, cell);
    scols_line_set_data(line, 1, human_bytes((uint64_t)number_at(flow, "bytes"), text));
    scols_line_set_data(line, 2, time_at(flow, "start_ns", text));
    scols_line_set_data(line, 3, time_at(flow, "measured_ns", text));
    scols_line_set_data(line, 4, time_at(flow, "simulated_ns", text));
    snprintf(cell, CELL, "%.2f", number_at(flow, "measured_ratio"));
    scols_line_set_data(line, 5, cell);
}

static struct libscols_table *table_new(const char *const *headings, size_t n)
{
    struct libscols_table *table = scols_new_table();
    scols_table_set_column_separator(table, "  ");
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    for (size_t i = 0; i < n; i++)
        scols_table_new_column(table, headings[i], 0, i == 0 ? 0 : SCOLS_FL_RIGHT);
    return table;
}

// Print the table, indented, and free it.
static void table_print(FILE *out, struct libscols_table *table)
{
    char *text = NULL;
    scols_print_table_to_string(table, &text);
    for (const char *at = text; *at != '\0';) {
        size_t length = 0;
        while (at[length] != '\0' && at[length] != '\n')
            length++;
        fprintf(out, "  %.*s\n", (int)length, at);
        at += length + (at[length] == '\n');
    }
    free(text);
    scols_unref_table(table);
}

static void put_table(FILE *out, const json_t **flows, size_t n)
{
    static const char *const headings[] = {"flow",     "bytes",     "start",
                                           "measured", "simulated", "ratio"};
    struct libscols_table *table = table_new(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < n && i < ROWS_MAX; i++)
        line_add(table, flows[i]);
    table_print(out, table);
}

static void put_flows(FILE *out, const json_t *list)
{
    const json_t *flow, **flows = memory_zeroed(json_array_size(list) + 1, sizeof *flows);
    size_t i, n = 0;
    json_array_foreach(list, i, flow)
    {
        if (json_is_number(json_object_get(flow, "measured_ratio")))
            flows[n++] = flow;
    }
    qsort(flows, n, sizeof *flows, by_distance);
    if (n > ROWS_MAX)
        fprintf(out, "  the %d of %zu that differ most (all: measured.csv):\n", ROWS_MAX, n);
    if (n > 0)
        put_table(out, flows, n);
    free(flows);
}

/* ---- collectives ---- */

static int by_time(const void *a, const void *b)
{
    const json_t *const *x = a, *const *y = b;
    double of_x = number_at(json_object_get(*x, "measured_ns"), "mean") * number_at(*x, "count");
    double of_y = number_at(json_object_get(*y, "measured_ns"), "mean") * number_at(*y, "count");
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return (*x > *y) - (*x < *y); // elements of one list
}

static void size_add(struct libscols_table *table, const json_t *size)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    char cell[CELL], text[UNIT_TEXT];
    scols_line_set_data(line, 0, json_string_value(json_object_get(size, "op")));
    scols_line_set_data(line, 1, human_bytes((uint64_t)number_at(size, "bytes"), text));
    snprintf(cell, CELL, "%.0f", number_at(size, "ranks"));
    scols_line_set_data(line, 2, cell);
    snprintf(cell, CELL, "%.0f", number_at(size, "count"));
    scols_line_set_data(line, 3, cell);
    scols_line_set_data(line, 4, time_at(json_object_get(size, "measured_ns"), "p50", text));
    scols_line_set_data(line, 5, time_at(json_object_get(size, "simulated_ns"), "p50", text));
    snprintf(cell, CELL, "%.2f", number_at(json_object_get(size, "ratios"), "p50"));
    scols_line_set_data(line, 6, cell);
}

static void put_collectives(FILE *out, const json_t *all)
{
    static const char *const headings[] = {"collective", "bytes",     "ranks", "count",
                                           "measured",   "simulated", "ratio"};
    const json_t *list = json_object_get(all, "sizes"), *size;
    const json_t **sizes = memory_zeroed(json_array_size(list) + 1, sizeof *sizes);
    char measured[UNIT_TEXT], simulated[UNIT_TEXT];
    size_t i, n = 0;
    json_array_foreach(list, i, size) sizes[n++] = size;
    qsort(sizes, n, sizeof *sizes, by_time);
    fprintf(out, "  %.0f collectives of a real run: measured %s, simulated %s, ratio %.2f\n",
            number_at(all, "count"), time_at(all, "measured_ns", measured),
            time_at(all, "simulated_ns", simulated), number_at(all, "ratio"));
    if (n > ROWS_MAX)
        fprintf(out, "  the %d of %zu sizes that took most time (all: metrics.json), medians:\n",
                ROWS_MAX, n);
    struct libscols_table *table = table_new(headings, sizeof headings / sizeof *headings);
    for (i = 0; i < n && i < ROWS_MAX; i++)
        size_add(table, sizes[i]);
    table_print(out, table);
    free(sizes);
}

/* ---- a file beside ---- */

// What a column shows of a record.
struct column {
    const char *heading, *key;
    enum { SHOW_WORD, SHOW_BYTES, SHOW_COUNT, SHOW_TIME, SHOW_RATIO, SHOW_RATE } as;
};

static const struct column row_columns[] = {
    {"collective", "op", SHOW_WORD},        {"bytes", "bytes", SHOW_BYTES},
    {"ranks", "ranks", SHOW_COUNT},         {"count", "count", SHOW_COUNT},
    {"measured", "measured_ns", SHOW_TIME}, {"simulated", "simulated_ns", SHOW_TIME},
    {"ratio", "ratio", SHOW_RATIO},         {NULL, NULL, SHOW_WORD}};

static const struct column message_columns[] = {{"message", "op", SHOW_WORD},
                                                {"bytes", "bytes", SHOW_BYTES},
                                                {"ranks", "ranks", SHOW_COUNT},
                                                {"count", "count", SHOW_COUNT},
                                                {"measured", "measured_ns", SHOW_TIME},
                                                {"simulated", "simulated_ns", SHOW_TIME},
                                                {"ratio", "ratio", SHOW_RATIO},
                                                {"measured rate", "measured_bps", SHOW_RATE},
                                                {"simulated rate", "simulated_bps", SHOW_RATE},
                                                {NULL, NULL, SHOW_WORD}};

static const struct column rank_columns[] = {
    {"rank", "rank", SHOW_COUNT},
    {"measured", "measured_ns", SHOW_TIME},
    {"simulated", "simulated_ns", SHOW_TIME},
    {"ratio", "ratio", SHOW_RATIO},
    {"computing, measured", "measured_compute_ns", SHOW_TIME},
    {"simulated", "simulated_compute_ns", SHOW_TIME},
    {NULL, NULL, SHOW_WORD}};

static const char *shown(const json_t *record, const struct column *c, char cell[CELL])
{
    char text[UNIT_TEXT];
    double value = number_at(record, c->key);
    if (c->as == SHOW_WORD)
        return json_string_value(json_object_get(record, c->key));
    if (c->as == SHOW_BYTES)
        return strcpy(cell, human_bytes((uint64_t)value, text));
    if (c->as == SHOW_TIME)
        return strcpy(cell, time_at(record, c->key, text));
    if (c->as == SHOW_RATE && value == 0)
        return "-"; // a latency has none
    if (c->as == SHOW_RATE)
        snprintf(cell, CELL, "%.1f Gb/s", value / 1e9);
    else
        snprintf(cell, CELL, c->as == SHOW_COUNT ? "%.0f" : "%.2f", value);
    return cell;
}

// Print the first records of a list.
static void put_records(FILE *out, const json_t *list, const struct column *columns)
{
    struct libscols_table *table = table_new(NULL, 0);
    const json_t *record;
    char cell[CELL];
    size_t i;
    for (const struct column *c = columns; c->heading != NULL; c++)
        scols_table_new_column(table, c->heading, 0, c == columns ? 0 : SCOLS_FL_RIGHT);
    json_array_foreach(list, i, record)
    {
        if (i == ROWS_MAX)
            break;
        struct libscols_line *line = scols_table_new_line(table, NULL);
        for (const struct column *c = columns; c->heading != NULL; c++)
            scols_line_set_data(line, (size_t)(c - columns), shown(record, c, cell));
    }
    table_print(out, table);
    if (json_array_size(list) > ROWS_MAX)
        fprintf(out, "  and %zu more (metrics.json)\n", json_array_size(list) - ROWS_MAX);
}

static void put_against(FILE *out, const json_t *against)
{
    const json_t *rows = json_object_get(against, "rows"),
                 *ranks = json_object_get(against, "ranks");
    double missing = number_at(against, "missing");
    fprintf(out, "  measured in %s (%s):\n", json_string_value(json_object_get(against, "file")),
            json_string_value(json_object_get(against, "kind")));
    const char *what = json_string_value(json_object_get(against, "what"));
    bool messages = what != NULL && strcmp(what, "collectives") != 0;
    if (json_array_size(rows) > 0)
        put_records(out, rows, messages ? message_columns : row_columns);
    if (missing > 0)
        fprintf(out,
                "  of %.0f operations, sizes and numbers of ranks in it this run has no "
                "collective that has ended\n",
                missing);
    if (json_array_size(ranks) > 0)
        put_records(out, ranks, rank_columns);
}

/* ---- all ---- */

static void put_capture(FILE *out, const json_t *metrics, const json_t *all)
{
    const json_t *ratios = json_object_get(all, "ratios");
    char measured[UNIT_TEXT], simulated[UNIT_TEXT];
    double count = number_at(all, "count");
    fprintf(out,
            "  %.0f flow%s of a capture: measured %s, simulated %s, ratio %.2f\n"
            "  ratios: median %.2f, 99th percentile %.2f\n",
            count, count == 1 ? "" : "s", time_at(all, "measured_ns", measured),
            time_at(all, "simulated_ns", simulated), number_at(all, "ratio"),
            number_at(ratios, "p50"), number_at(ratios, "p99"));
    put_flows(out, json_object_get(metrics, "flows"));
}

char *measured_text(const json_t *metrics)
{
    const json_t *flows = json_object_get(metrics, "measured");
    const json_t *collectives = json_object_get(metrics, "measured_collectives");
    struct text text;
    FILE *out = text_open(&text);
    if (json_is_object(flows))
        put_capture(out, metrics, flows);
    if (json_is_object(collectives))
        put_collectives(out, collectives);
    if (json_is_object(json_object_get(metrics, "against")))
        put_against(out, json_object_get(metrics, "against"));
    return text_close(out, &text);
}

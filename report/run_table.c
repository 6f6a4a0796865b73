// SPDX-License-Identifier: MIT
// One run as a table: its values beside each other, and a line for each job where there are
// several.
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/text.h"
#include "report/rows.h"

enum { LABEL = 13, VALUE = 11, GAP = 2 };

void row_value_text(size_t column, double value, char *text, size_t size)
{
    char buf[UNIT_TEXT];
    enum metric_unit unit = row_column_unit(column);
    if (isnan(value))
        snprintf(text, size, "-");
    else if (unit == METRIC_NS)
        snprintf(text, size, "%s", human_time((ps_t)value * PS_PER_NS, buf));
    else if (unit == METRIC_BYTES)
        snprintf(text, size, "%s", human_bytes((uint64_t)value, buf));
    else if (unit == METRIC_BPS)
        snprintf(text, size, "%s", human_rate(value, buf));
    else if (unit == METRIC_COUNT)
        snprintf(text, size, "%.0f", value);
    else
        snprintf(text, size, "%.3f", value);
}

// True if a value is worth printing: it is known and not zero.
static bool says_something(const struct row *row, size_t column)
{
    return row_columns[column].heading[0] != '\0' && !isnan(row->values[column]) &&
           row->values[column] != 0;
}

// True for rates of a job that would pass for those of the larger one that it was made of.
static bool is_of_shrunk(const struct row *row, size_t column)
{
    const char *key = row_columns[column].key;
    return row->shrunk && (strcmp(key, "tokens_per_s") == 0 || strcmp(key, "mfu") == 0);
}

static void values_print(FILE *out, const struct row *row, size_t width)
{
    size_t across = width / (GAP + LABEL + VALUE), at = 0, blanks = 0;
    for (size_t c = 0; c < ROW_COLUMNS; c++) {
        char text[64];
        if (!says_something(row, c) || is_of_shrunk(row, c))
            continue;
        row_value_text(c, row->values[c], text, sizeof text);
        if (at > 0 && at % across == 0)
            fputc('\n', out);
        else
            fprintf(out, "%*s", (int)blanks, "");
        fprintf(out, "%*s%-*s%s", GAP, "", LABEL, row_columns[c].heading, text);
        blanks = strlen(text) < VALUE ? VALUE - strlen(text) : 0;
        at++;
    }
    fputc('\n', out);
}

static bool any_job_has(const struct rows *rows, size_t column)
{
    for (size_t i = 1; i < rows->n; i++)
        if (says_something(&rows->list[i], column))
            return true;
    return false;
}

// Print the lines of a table without the blanks at their ends.
static void lines_print(FILE *out, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n"), keep = length;
        while (keep > 0 && text[keep - 1] == ' ')
            keep--;
        fprintf(out, "%*s%.*s\n", GAP, "", (int)keep, text);
        text += length + (text[length] == '\n');
    }
}

static void jobs_print(FILE *out, const struct rows *rows, size_t width)
{
    struct libscols_table *table = scols_new_table();
    size_t used = GAP + 24;
    scols_table_set_column_separator(table, "  ");
    scols_table_new_column(table, "job", 0, 0);
    scols_table_new_column(table, "status", 0, 0);
    bool shown[ROW_COLUMNS] = {false};
    for (size_t c = 0; c < ROW_COLUMNS; c++) {
        size_t need = strlen(row_columns[c].heading) + 2;
        need = need < VALUE ? VALUE : need;
        if (!any_job_has(rows, c) || used + need > width)
            continue;
        shown[c] = true;
        used += need;
        scols_table_new_column(table, row_columns[c].heading, 0, SCOLS_FL_RIGHT);
    }
    for (size_t i = 1; i < rows->n; i++) {
        const struct row *row = &rows->list[i];
        struct libscols_line *line = scols_table_new_line(table, NULL);
        size_t cell = 0;
        scols_line_set_data(line, cell++, row->job);
        scols_line_set_data(line, cell++, row->status);
        for (size_t c = 0; c < ROW_COLUMNS; c++) {
            char text[64];
            if (!shown[c])
                continue;
            row_value_text(c, row->values[c], text, sizeof text);
            if (is_of_shrunk(row, c) && !isnan(row->values[c]))
                strncat(text, " (shrunk)", sizeof text - strlen(text) - 1);
            scols_line_set_data(line, cell++, text);
        }
    }
    char *text = NULL;
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    scols_print_table_to_string(table, &text);
    lines_print(out, text);
    free(text);
    scols_unref_table(table);
}

// Print words over as many lines as they need; NULL = nothing.
static void sentence_print(FILE *out, const char *before, const char *text, size_t width)
{
    if (text == NULL)
        return;
    size_t at = (size_t)fprintf(out, "%*s%s", GAP, "", before);
    for (bool first = true; *text != '\0'; first = false) {
        size_t length = strcspn(text, " ");
        bool breaks = !first && at + 1 + length > width;
        at = breaks ? (size_t)(2 * GAP) + length : at + !first + length;
        fprintf(out, "%s%.*s", first ? "" : breaks ? "\n    " : " ", (int)length, text);
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

// The rates of a shrunk job with the word; "" where it has none. To be freed.
static char *shrunk_rates(const struct row *row)
{
    struct text text;
    FILE *out = text_open(&text);
    bool any = false;
    for (size_t c = 0; c < ROW_COLUMNS; c++) {
        char value[64];
        if (!is_of_shrunk(row, c) || !says_something(row, c))
            continue;
        row_value_text(c, row->values[c], value, sizeof value);
        fprintf(out, "%s%s %s", any ? ", " : "", row_columns[c].heading, value);
        any = true;
    }
    fputs(any ? " of the shrunk job; " : "", out);
    return text_close(out, &text);
}

// What a shrunk job leaves out, its rates, and where those of the whole one come from.
static void shrunk_print(FILE *out, const struct row *row, size_t width)
{
    if (!row->shrunk)
        return;
    char *rates = shrunk_rates(row);
    sentence_print(out, "shrunk: ", row->shrunk, width);
    sentence_print(out, rates, WHOLE_OF_SHRUNK, width);
    free(rates);
}

char *rows_run_table(const struct rows *rows, size_t width)
{
    const struct row *row = &rows->list[0];
    struct text text;
    FILE *out = text_open(&text);
    fprintf(out, "%s (%s, seed %llu): %s\n", row->scenario, row->policy,
            (unsigned long long)row->seed, row->failure ? row->failure : row->status);
    values_print(out, row, width);
    if (rows->n > 1)
        jobs_print(out, rows, width);
    if (row->n_unlisted > 0)
        fprintf(out, "  %llu messages are more than report.flows_max: no list of them\n",
                (unsigned long long)row->n_unlisted);
    shrunk_print(out, row, width);
    sentence_print(out, "", row->after, width);
    sentence_print(out, "", row->thinned, width);
    return text_close(out, &text);
}

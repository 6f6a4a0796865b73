// SPDX-License-Identifier: MIT
// Writes CSV rows: times in us with all digits of the picosecond, ratios with six digits.
#include "report/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// Names come from files, so an apostrophe is put before a cell that a spreadsheet would take for a
// formula, and control characters are written as \\xNN.
void csv_text(FILE *out, const char *text)
{
    bool plain = strpbrk(text, ",\"") == NULL;
    if (!plain)
        fputc('"', out);
    if (*text != '\0' && strchr("=+-@", *text))
        fputc('\'', out);
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '"')
            fputs("\"\"", out);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            fprintf(out, "\\x%02x", (unsigned)*c);
        else
            fputc(*c, out);
    if (!plain)
        fputc('"', out);
}

static void put_time(FILE *out, const struct metric *m, ps_t ps)
{
    if (ps < 0)
        return;
    if (m->unit == METRIC_US)
        // The time is not negative here, so the remainder has no sign of its own.
        fprintf(out, "%" PRId64 ".%06" PRId64, ps / PS_PER_US, ps % PS_PER_US);
    else
        fprintf(out, "%" PRId64, ns_of_ps(ps));
}

static void put_value(FILE *out, const struct metric *m, const void *record)
{
    if (m->type == METRIC_TEXT)
        csv_text(out, metric_text(m, record));
    else if (m->type == METRIC_TIME)
        put_time(out, m, metric_time(m, record));
    else if (m->type == METRIC_REAL && !isnan(metric_real(m, record)))
        fprintf(out, "%.6f", metric_real(m, record));
    else if (m->type == METRIC_REAL)
        return;
    else
        fprintf(out, "%" PRIu64, metric_integer(m, record));
}

void csv_heading(FILE *out, const struct metric_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", table->list[i].key);
    fputc('\n', out);
}

void csv_row(FILE *out, const struct metric_table *table, const void *record)
{
    for (size_t i = 0; i < table->n; i++) {
        if (i > 0)
            fputc(',', out);
        put_value(out, &table->list[i], record);
    }
    fputc('\n', out);
}

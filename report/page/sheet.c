// SPDX-License-Identifier: MIT
// Cells and rows of the data of charts.
#include "report/page/sheet.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/csv.h"

void sheet_heading(struct sheet *s, const char *heading) { fprintf(s->out, "%s", heading); }

void sheet_row(struct sheet *s)
{
    fputc('\n', s->out);
    s->rows++;
    s->begun = false;
}

static void comma(struct sheet *s)
{
    if (s->begun)
        fputc(',', s->out);
    s->begun = true;
}

void sheet_text(struct sheet *s, const char *text)
{
    comma(s);
    csv_text(s->out, text ? text : "");
}

void sheet_name(struct sheet *s, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sheet_text(s, text);
}

void sheet_value(struct sheet *s, const json_t *value)
{
    if (json_is_string(value)) {
        sheet_text(s, json_string_value(value));
        return;
    }
    comma(s);
    if (json_is_integer(value))
        fprintf(s->out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(s->out, "%.10g", json_real_value(value));
}

void sheet_run_row(struct sheet *s, const json_t *run)
{
    sheet_row(s);
    sheet_value(s, json_object_get(run, "scenario"));
    sheet_value(s, json_object_get(run, "policy"));
    sheet_value(s, json_object_get(run, "seed"));
}

// ---- runs ----

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

char *sheet_run_name(const json_t *doc, const json_t *run)
{
    const json_t *runs = json_object_get(doc, "runs"), *other;
    bool several = false;
    size_t i;
    json_array_foreach(runs, i, other)
    {
        several |= strcmp(text_at(other, "scenario"), text_at(run, "scenario")) != 0;
    }
    return several ? text_format("%s/%s", text_at(run, "scenario"), text_at(run, "policy"))
                   : text_format("%s", text_at(run, "policy"));
}

bool sheet_wants(const struct sheet *s, const json_t *run)
{
    if (!s->run)
        return true;
    char *name = sheet_run_name(s->doc, run);
    bool wanted = strcmp(name, s->run) == 0;
    free(name);
    return wanted;
}

void sheet_each_run(struct sheet *s, sheet_run *each)
{
    size_t i;
    const json_t *run;
    json_array_foreach(json_object_get(s->doc, "runs"), i, run)
    {
        if (sheet_wants(s, run))
            each(s, run);
    }
}

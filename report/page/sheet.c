// SPDX-License-Identifier: MIT
// Cells and rows of the data of charts.
#include "report/page/sheet.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/csv.h"

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
    sheet_values(s, run, "scenario policy seed");
}

// ---- values by path ----

static const json_t *at(const json_t *object, const char *path, size_t n)
{
    while (n > 0) {
        size_t key = strcspn(path, ". ");
        key = key < n ? key : n;
        object = json_object_getn(object, path, key);
        n -= key < n ? key + 1 : n;
        path += key + 1;
    }
    return object;
}

const json_t *sheet_at(const json_t *object, const char *path)
{
    return at(object, path, strlen(path));
}

void sheet_values(struct sheet *s, const json_t *object, const char *paths)
{
    while (*paths != '\0') {
        size_t n = strcspn(paths, " ");
        sheet_value(s, at(object, paths, n));
        paths += n + (paths[n] == ' ');
    }
}

void sheet_parts(struct sheet *s, const json_t *run, const json_t *object, const char *keys,
                 const json_t *parts, bool zeros)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)parts, key, value)
    {
        size_t n = strlen(key);
        if (!zeros && !(json_number_value(value) > 0))
            continue;
        sheet_run_row(s, run);
        sheet_values(s, object, keys);
        sheet_name(s, "%.*s", (int)(n > 3 && strcmp(key + n - 3, "_ns") == 0 ? n - 3 : n), key);
        sheet_value(s, value);
    }
}

void sheet_list(struct sheet *s, const json_t *run)
{
    size_t i;
    const json_t *list = sheet_at(run, s->chart->path), *item;
    if (json_array_size(list) < s->chart->least)
        return;
    json_array_foreach(list, i, item)
    {
        if (s->chart->parts) {
            sheet_parts(s, run, item, s->chart->keys, sheet_at(item, s->chart->parts), true);
            continue;
        }
        sheet_run_row(s, run);
        sheet_values(s, item, s->chart->keys);
    }
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

void sheet_each_run(struct sheet *s)
{
    size_t i;
    const json_t *run;
    fprintf(s->out, "scenario,policy,seed,%s", s->chart->heading);
    json_array_foreach(json_object_get(s->doc, "runs"), i, run)
    {
        if (sheet_wants(s, run))
            s->chart->each(s, run);
    }
}

// SPDX-License-Identifier: MIT
// The page as a whole: its document, its escaping, and the template around it.
#include "report/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/metric_json.h"
#include "report/metric_table.h"
#include "report/page/page_internal.h"
#include "report/rows.h"

// ---- values and notes ----

json_t *page_copy(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return value && !json_is_null(value) ? json_incref(value) : NULL;
}

void page_set(json_t *object, const char *key, json_t *value)
{
    if (value)
        json_object_set_new(object, key, value);
}

json_t *page_number(double value)
{
    if (isnan(value))
        return json_null();
    // Whole numbers are written without a fraction, as far as a double holds them exactly.
    if (fabs(value) < 1e15 && value == floor(value))
        return json_integer((json_int_t)value);
    return json_real(value);
}

static int largest_first(const void *a, const void *b)
{
    const struct page_ranked *x = a, *y = b;
    if (x->value < y->value || x->value > y->value)
        return x->value < y->value ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

void page_rank(struct page_ranked *list, size_t n) { qsort(list, n, sizeof *list, largest_first); }

void page_note(struct page *page, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t i;
    const json_t *note;
    json_array_foreach(page->notes, i, note)
    {
        if (strcmp(json_string_value(note), text) == 0)
            return;
    }
    json_t *value = json_string(text);
    if (value)
        json_array_append_new(page->notes, value);
}

// ---- names, units and meanings ----

static void add_meaning(void *ctx, const char *path, const struct metric *m)
{
    char plain[128];
    size_t n = 0;
    for (const char *c = path; *c != '\0' && n + 1 < sizeof plain; c++)
        if (*c != '[' && *c != ']')
            plain[n++] = *c;
    plain[n] = '\0';
    json_object_set_new(ctx, plain, json_pack("[s, s]", metric_unit_name(m->unit), m->help));
}

static json_t *meanings(void)
{
    json_t *object = json_object();
    metric_walk(&metrics_table, "", add_meaning, object);
    return object;
}

static json_t *columns(void)
{
    json_t *array = json_array();
    for (size_t i = 0; i < ROW_COLUMNS; i++) {
        const struct row_column *c = &row_columns[i];
        const struct metric *m = metric_at_path(&metrics_table, c->path);
        json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s, s:s}", "key", c->key,
                                               "heading", c->heading, "path", c->path, "unit",
                                               metric_unit_name(m->unit), "help", m->help));
    }
    return array;
}

// ---- the document ----

struct page *page_new(enum page_kind kind, const char *name, const char *version, size_t n_detail)
{
    static const char *const kinds[] = {"run", "compare", "sweep", "diagnosis"};
    struct page *page = memory_zeroed(1, sizeof *page);
    page->n_detail = n_detail > 0 ? n_detail : 1;
    page->root = json_object();
    page->notes = json_array();
    page->runs = json_array();
    json_object_set_new(page->root, "schema", json_string(PAGE_SCHEMA));
    json_object_set_new(page->root, "kind", json_string(kinds[kind]));
    page_set(page->root, "name", name ? json_string(name) : NULL);
    page_set(page->root, "version", version ? json_string(version) : NULL);
    json_object_set_new(page->root, "columns", columns());
    json_object_set_new(page->root, "meanings", meanings());
    json_object_set(page->root, "notes", page->notes);
    json_object_set(page->root, "runs", page->runs);
    return page;
}

void page_free(struct page *page)
{
    if (!page)
        return;
    json_decref(page->notes);
    json_decref(page->runs);
    json_decref(page->root);
    page_samples_free(page);
    free(page);
}

void page_origin(struct page *page, const char *command, const json_t *scenario)
{
    page_set(page->root, "command", command ? json_string(command) : NULL);
    page_set(page->root, "scenario", scenario ? json_deep_copy(scenario) : NULL);
}

void page_add_comparison(struct page *page, const json_t *comparison)
{
    json_t *rest = json_copy((json_t *)(uintptr_t)comparison);
    json_object_del(rest, "rows");
    json_object_del(rest, "draws"); // the page shows what they say together
    json_object_set_new(page->root, "comparison", rest);
}

void page_add_why(struct page *page, const json_t *sentences)
{
    page_set(page->root, "why", sentences ? json_deep_copy(sentences) : NULL);
}

// ---- the text ----

char *page_escape(const char *json)
{
    struct text text;
    FILE *out = text_open(&text);
    for (const char *c = json; *c != '\0'; c++) {
        // U+2028 and U+2029 are allowed in JSON strings, but ended a line in JavaScript before
        // 2019.
        bool separator = strncmp(c, "\xe2\x80\xa8", 3) == 0 || strncmp(c, "\xe2\x80\xa9", 3) == 0;
        // "</script>" within a text would end the element that holds the document.
        if (*c == '<' || *c == '>' || *c == '&')
            fprintf(out, "\\u%04x", (unsigned)*c);
        else if (separator) {
            fputs(c[2] == '\xa8' ? "\\u2028" : "\\u2029", out);
            c += 2;
        } else
            fputc(*c, out);
    }
    return text_close(out, &text);
}

void page_finish(struct page *page)
{
    if (page->n_samples > 0 && !json_object_get(page->root, "distributions"))
        json_object_set_new(page->root, "distributions", page_distributions(page));
}

char *page_json(const json_t *document)
{
    char *json = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(10));
    return json ? json : memory_text("null");
}

char *page_html(struct page *page, const char *template, const char *path, struct err *err)
{
    const char *mark = strstr(template, PAGE_MARK);
    const char *rest = mark ? mark + strlen(PAGE_MARK) : NULL;
    if (!mark || strstr(rest, PAGE_MARK)) {
        err_add(err, path, "is not a template of reports: it does not have %s once", PAGE_MARK);
        return NULL;
    }
    page_finish(page);
    char *json = page_json(page->root), *safe = page_escape(json);
    struct text text;
    FILE *out = text_open(&text);
    fwrite(template, 1, (size_t)(mark - template), out);
    fputs(safe, out);
    fputs(rest, out);
    free(safe);
    free(json);
    return text_close(out, &text);
}

// SPDX-License-Identifier: MIT
// The catalogue as tables, generated from the descriptions of objects, algorithms and metrics.
//
// Every category provides entries and their keys; the printing code is the same for all.
#include "cli/list.h"

#include <libsmartcols/libsmartcols.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collective/collective.h"
#include "config/object.h"
#include "engine/memory.h"
#include "report/metric_table.h"

// ---- the categories ----

// An object of the scenario, or another list: `entry` and `keys` as in struct object.
struct category {
    const char *name, *doc;
    const struct object *object; // NULL = not an object of the scenario
    bool (*entry)(const struct cc_catalogue *policies, size_t i, struct object_entry *out);
    void (*keys)(const struct object_entry *entry, const char *prefix, const struct key_sink *to);
};

static bool collective_entry(const struct cc_catalogue *policies, size_t i,
                             struct object_entry *out)
{
    (void)policies;
    const struct coll_algorithm *a = coll_registry[i];
    if (a == NULL)
        return false;
    *out = (struct object_entry){.name = a->name, .doc = a->doc, .source = a->source, .kind = a};
    return true;
}

static void collective_keys(const struct object_entry *entry, const char *prefix,
                            const struct key_sink *to)
{
    const struct coll_algorithm *a = entry->kind;
    to->table(to->ctx, prefix, a->params, a->n_params);
}

// The keys of metrics.json, then the other files.
static bool metrics_entry(const struct cc_catalogue *policies, size_t i, struct object_entry *out)
{
    (void)policies;
    size_t file = i - metrics_table.n + 1; // the first file, metrics.json, is listed by its parts
    if (i < metrics_table.n)
        *out = (struct object_entry){.name = metrics_table.list[i].key,
                                     .doc = metrics_table.list[i].help,
                                     .kind = metrics_table.list[i].table};
    else if (file < n_metric_files)
        *out = (struct object_entry){.name = metric_files[file].name,
                                     .doc = metric_files[file].help,
                                     .kind = metric_files[file].table};
    else
        return false;
    return true;
}

static const struct category others[] = {
    {"collective", "collective algorithms", NULL, collective_entry, collective_keys},
    {"metrics", "what a run writes: keys of metrics.json, and files beside it", NULL, metrics_entry,
     NULL},
};
enum { N_OTHERS = sizeof others / sizeof *others };

static struct category category_of(const struct object *o)
{
    return (struct category){o->key, o->doc, o, o->entry, NULL};
}

// Category `i`: the scenario's own keys, its objects, then the others. Returns false after the last
// one.
static bool category_at(size_t i, struct category *out)
{
    const struct object *const *parts = scenario_object.parts;
    size_t n = 0;
    if (i == 0) {
        *out = category_of(&scenario_object);
        return true;
    }
    for (i--; *parts != NULL; parts++) {
        if ((*parts)->type != NULL)
            continue; // a single key, listed with the scenario's own keys
        if (n++ == i) {
            *out = category_of(*parts);
            return true;
        }
    }
    if (i - n >= N_OTHERS)
        return false;
    *out = others[i - n];
    return true;
}

static bool entry_at(const struct category *c, const struct cc_catalogue *policies, size_t i,
                     struct object_entry *out)
{
    if (c->entry != NULL)
        return c->entry(policies, i, out);
    *out = (struct object_entry){.name = c->name, .doc = c->doc};
    return i == 0;
}

// ---- tables ----

#define PROSE_MAX 2048
#define PROSE_LEAST 32 // least width of text columns, however narrow the terminal is

// A table whose last column is text; on a terminal it is wrapped to the width that the others
// leave.
struct listing {
    struct libscols_table *table;
    size_t n_columns, prose_width; // SIZE_MAX = do not wrap
};

// `fixed`: approximate width of all columns except the last.
static struct listing listing_new(FILE *out, const char *const *columns, size_t n, size_t fixed)
{
    struct listing listing = {scols_new_table(), n, SIZE_MAX};
    scols_table_set_stream(listing.table, out);
    if (isatty(fileno(out))) {
        size_t width = scols_table_get_termwidth(listing.table);
        listing.prose_width = width > fixed + PROSE_LEAST ? width - fixed : PROSE_LEAST;
    } else {
        scols_table_set_termforce(listing.table, SCOLS_TERMFORCE_NEVER);
    }
    struct libscols_column *column = NULL;
    for (size_t i = 0; i < n; i++)
        column =
            scols_table_new_column(listing.table, columns[i], 0, i + 1 == n ? SCOLS_FL_WRAP : 0);
    scols_column_set_safechars(column, "\n");
    scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
    return listing;
}

// Replace blanks by line feeds so that lines are no longer than `width`.
static void words_wrap(char *text, size_t width)
{
    char *line = text, *blank = NULL;
    for (char *at = text; *at != '\0'; at++) {
        if (*at == ' ')
            blank = at;
        if ((size_t)(at - line) >= width && blank != NULL) {
            *blank = '\n';
            line = blank + 1;
            blank = NULL;
        }
    }
}

// Add a row; the last cell is written as "cell [source]".
static void row_add(struct listing *listing, const char *const *cells, const char *source)
{
    char prose[PROSE_MAX];
    size_t last = listing->n_columns - 1;
    struct libscols_line *line = scols_table_new_line(listing->table, NULL);
    for (size_t i = 0; i < last; i++)
        scols_line_set_data(line, i, cells[i]);
    bool sourced = source != NULL && source[0] != '\0';
    snprintf(prose, sizeof prose, "%s%s%s%s", cells[last], sourced ? " [" : "",
             sourced ? source : "", sourced ? "]" : "");
    words_wrap(prose, listing->prose_width);
    scols_line_set_data(line, last, prose);
}

static void listing_end(struct listing *listing)
{
    scols_print_table(listing->table);
    scols_unref_table(listing->table);
}

static void entries_print(FILE *out, const struct category *category,
                          const struct cc_catalogue *policies)
{
    static const char *const columns[] = {"NAME", "WHAT IT IS [SOURCE]"};
    struct object_entry entry;
    fprintf(out, "%s: %s\n", category->name, category->doc);
    if (category->entry == NULL)
        return; // a category with a single entry
    struct listing listing = listing_new(out, columns, 2, 18);
    for (size_t i = 0; entry_at(category, policies, i, &entry); i++)
        row_add(&listing, (const char *const[]){entry.name, entry.doc}, entry.source);
    listing_end(&listing);
}

// ---- one entry ----

static const char *type_text(const struct param *param, char *buf, size_t room)
{
    if (param->type != PARAM_ENUM && param->choices == NULL)
        return param_type_name(param->type);
    size_t n = 0;
    if (param->type != PARAM_ENUM) { // not a list of choices: print the type
        n = (size_t)snprintf(buf, room, "%s", param_type_name(param->type));
        for (size_t i = 0; param->choices[i] != NULL && n < room; i += 2)
            n += (size_t)snprintf(buf + n, room - n, "|%s", param->choices[i]);
        return buf;
    }
    for (size_t i = 0, used = 0; param->choices[i] != NULL && used < room; i++)
        used +=
            (size_t)snprintf(buf + used, room - used, "%s%s", i > 0 ? "|" : "", param->choices[i]);
    return buf;
}

static void param_row(struct listing *listing, const char *prefix, const struct param *param)
{
    char name[64], type[160], range[96] = "";
    const char *min = param->min, *max = param->max;
    const char *def = param->def == NULL ? "required" : param->def[0] == '\0' ? "none" : param->def;
    snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", param->name);
    if (min != NULL || max != NULL)
        snprintf(range, sizeof range, "%s..%s", min != NULL ? min : "", max != NULL ? max : "");
    row_add(
        listing,
        (const char *const[]){name, type_text(param, type, sizeof type), def, range, param->help},
        param->source);
}

static void table_rows(void *ctx, const char *prefix, const struct param *params, size_t n)
{
    struct param_walk walk = params_walk(params, n);
    for (const struct param *param; (param = params_next(&walk)) != NULL;)
        param_row(ctx, prefix, param);
}

static void own_key_row(void *ctx, const struct own_key *key)
{
    row_add(ctx, (const char *const[]){key->key, key->type, key->def, "", key->help}, NULL);
}

static void keys_print(FILE *out, const struct category *category, const struct object_entry *entry)
{
    static const char *const columns[] = {"PARAMETER", "TYPE", "DEFAULT", "RANGE",
                                          "MEANING [SOURCE]"};
    struct listing listing = listing_new(out, columns, 5, 64);
    const struct key_sink sink = {&listing, table_rows, own_key_row};
    if (category->object != NULL)
        object_keys(category->object, entry, "", &sink);
    else
        category->keys(entry, "", &sink);
    if (scols_table_get_nlines(listing.table) > 0)
        fprintf(out, "\n");
    listing_end(&listing);
}

static void metric_row(void *ctx, const char *path, const struct metric *m)
{
    struct listing *listing = ctx;
    row_add(listing, (const char *const[]){path, metric_unit_name(m->unit), m->help}, NULL);
}

static void metrics_print(FILE *out, const struct object_entry *entry)
{
    static const char *const columns[] = {"KEY", "UNIT", "MEANING"};
    struct listing listing = listing_new(out, columns, 3, 40);
    fprintf(out, "\n");
    metric_walk(entry->kind, "", metric_row, &listing);
    listing_end(&listing);
}

static const char *profile_text(const struct cc_profile *profile, char *buf, size_t room)
{
    char kmin[UNIT_TEXT], kmax[UNIT_TEXT], rate[UNIT_TEXT];
    if (!profile->ecn)
        return "no marking";
    snprintf(buf, room, "%s/%s/%g %s %s", format_bytes(profile->kmin_bytes, kmin),
             format_bytes(profile->kmax_bytes, kmax), profile->pmax, profile->scaled ? "per" : "at",
             format_rate(profile->ref_bps, rate));
    return buf;
}

// Print the notification settings of the preset.
static void notification_print(const struct cc_preset *preset, char *buf, size_t room)
{
    char interval[UNIT_TEXT];
    struct cc_notification n = cc_notification_of(preset);
    if (n.cnp == CNP_PER_ACK)
        snprintf(buf, room, " (transport: cnp=per_ack)");
    else
        snprintf(buf, room, " (transport: cnp_interval=%s)", format_time(n.interval_ps, interval));
}

static void presets_print(FILE *out, const struct cc_ops *ops)
{
    static const char *const columns[] = {"PRESET", "ECN KMIN/KMAX/PMAX", "WHAT IT IS: VALUES"};
    struct listing listing = listing_new(out, columns, 3, 38);
    fprintf(out, "\n");
    for (size_t p = 0; p < ops->n_presets; p++) {
        const struct cc_preset *preset = &ops->presets[p];
        char text[PROSE_MAX], profile[128];
        size_t used = (size_t)snprintf(text, sizeof text, "%s", preset->doc);
        for (size_t i = 0; i < preset->n_values && used < sizeof text; i++)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", i == 0 ? ": " : " ",
                                 preset->values[i].param, preset->values[i].value);
        if (ops->needs & CC_NEEDS_CNP && used < sizeof text)
            notification_print(preset, text + used, sizeof text - used);
        row_add(&listing,
                (const char *const[]){
                    preset->name, profile_text(&preset->profile, profile, sizeof profile), text},
                NULL);
    }
    listing_end(&listing);
}

static void entry_print(FILE *out, const struct category *category,
                        const struct object_entry *entry)
{
    fprintf(out, "%s: %s\n", entry->name, entry->doc);
    if (entry->source != NULL && entry->source[0] != '\0')
        fprintf(out, "Source: %s\n", entry->source);
    if (category->entry == metrics_entry) {
        if (entry->kind != NULL) // NULL: a single value
            metrics_print(out, entry);
    } else {
        keys_print(out, category, entry);
    }
    if (entry->policy != NULL)
        presets_print(out, entry->policy);
}

// ---- the command ----

// Report an unknown word on stderr, with the nearest of `n` words or else all of them. Returns -1.
static int unknown(const char *what, const char *word, const char *const *words, size_t n)
{
    const char *near = err_near_miss(word, words);
    fprintf(stderr, "collwire: list: unknown %s \"%s\"", what, word);
    if (near != NULL)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    for (size_t i = 0; i < n && near == NULL; i++)
        fprintf(stderr, "%s%s", i == 0 ? "; one of " : ", ", words[i]);
    fprintf(stderr, "\n");
    return -1;
}

static int category_print(FILE *out, const struct category *category, const char *name,
                          const struct cc_catalogue *policies)
{
    struct object_entry entry;
    size_t n = 0;
    while (entry_at(category, policies, n, &entry))
        n++;
    if (name == NULL && n > 1) {
        entries_print(out, category, policies);
        return 0;
    }
    const char **words = memory_zeroed(n + 1, sizeof *words);
    int status = -1;
    for (size_t i = 0; status != 0 && entry_at(category, policies, i, &entry); i++) {
        words[i] = entry.name;
        if (name == NULL || strcmp(name, entry.name) == 0) {
            entry_print(out, category, &entry);
            status = 0;
        }
    }
    if (status != 0)
        unknown(category->name, name, words, n);
    free(words);
    return status;
}

#define CATEGORIES_MAX 32

int list_print(FILE *out, const char *what, const char *name, const struct cc_catalogue *policies)
{
    const char *words[CATEGORIES_MAX + 1] = {0};
    struct category category;
    size_t n = 0;
    for (; n < CATEGORIES_MAX && category_at(n, &category); n++) {
        words[n] = category.name;
        if (what != NULL && strcmp(what, category.name) == 0)
            return category_print(out, &category, name, policies);
    }
    if (what != NULL)
        return unknown("category", what, words, n);
    for (size_t i = 0; i < n && category_at(i, &category); i++) {
        if (i > 0)
            fprintf(out, "\n");
        entries_print(out, &category, policies);
    }
    return 0;
}

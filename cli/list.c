// SPDX-License-Identifier: MIT
// The catalogue, generated from the descriptions of objects, algorithms and metrics.
//
// Every category provides entries and their keys; the printing code is the same for all.
#include "cli/list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cc/cc.h"
#include "cli/categories.h"
#include "cli/commands.h"
#include "cli/search.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/metric_table.h"

// ---- printing ----

#define PROSE_MAX 2048

enum { ENTRY_COLUMN = 20, KEY_COLUMN = 26, METRIC_COLUMN = 34 };

// Print "NAME  TEXT [SOURCE]", the text wrapped from a column on.
static void row_print(FILE *out, const char *name, const char *text, const char *source,
                      size_t column)
{
    bool sourced = source != NULL && source[0] != '\0';
    char *prose = text_format("%s%s%s%s", text, sourced ? " [" : "", sourced ? source : "",
                              sourced ? "]" : "");
    terminal_entry(out, name, prose, column, terminal_width(out));
    free(prose);
}

// Print "NAME: TEXT" wrapped.
static void heading_print(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s: ", name);
    terminal_wrap(out, text, strlen(name) + 2, 2, terminal_width(out));
}

static void entries_print(FILE *out, const struct category *category,
                          const struct cc_catalogue *policies)
{
    struct object_entry entry;
    heading_print(out, category->name, category->doc);
    if (category->entry == NULL)
        return; // a category with a single entry
    for (size_t i = 0; entry_at(category, policies, i, &entry); i++)
        row_print(out, entry.name, entry.doc, entry.source, ENTRY_COLUMN);
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
            n += (size_t)snprintf(buf + n, room - n, " | %s", param->choices[i]);
        return buf;
    }
    for (size_t i = 0, used = 0; param->choices[i] != NULL && used < room; i++)
        used += (size_t)snprintf(buf + used, room - used, "%s%s", i > 0 ? " | " : "",
                                 param->choices[i]);
    return buf;
}

// Print the type, default and range of a key beside its name, and its meaning below.
static void key_print(FILE *out, const char *name, const char *about, const char *help,
                      const char *source)
{
    row_print(out, name, about, NULL, KEY_COLUMN);
    row_print(out, "", help, source, KEY_COLUMN);
}

static void param_print(FILE *out, const char *prefix, const struct param *param)
{
    char name[64], type[320], range[96] = "";
    const char *min = param->min, *max = param->max;
    snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", param->name);
    if (min != NULL && max != NULL)
        snprintf(range, sizeof range, ", %s..%s", min, max);
    else if (min != NULL || max != NULL)
        snprintf(range, sizeof range, ", %s %s", min != NULL ? "from" : "up to", min ? min : max);
    bool has = param->def != NULL && param->def[0] != '\0';
    char *about = text_format("%s%s%s%s", type_text(param, type, sizeof type),
                              has                  ? ", default "
                              : param->def == NULL ? ", required"
                                                   : "",
                              has ? param->def : "", range);
    const char *evidence = evidence_name(param->evidence);
    char *source = text_format("%s%s%s", evidence, evidence[0] != '\0' ? ": " : "",
                               param->source != NULL ? param->source : "");
    key_print(out, name, about, param->help, source);
    free(source);
    free(about);
}

static void table_rows(void *ctx, const char *prefix, const struct param *params, size_t n)
{
    struct param_walk walk = params_walk(params, n);
    for (const struct param *param; (param = params_next(&walk)) != NULL;)
        param_print(ctx, prefix, param);
}

static void own_key_row(void *ctx, const struct own_key *key)
{
    bool has = key->def != NULL && key->def[0] != '\0';
    char *about = text_format("%s%s%s", key->type, has ? ", default " : "", has ? key->def : "");
    key_print(ctx, key->key, about, key->help, NULL);
    free(about);
}

static void keys_print(FILE *out, const struct category *category, const struct object_entry *entry)
{
    const struct key_sink sink = {out, table_rows, own_key_row};
    fputc('\n', out);
    category_keys(category, entry, &sink);
}

static void metric_row(void *ctx, const char *path, const struct metric *m)
{
    const char *unit = metric_unit_name(m->unit);
    char *text = text_format("%s%s%s", unit, unit[0] != '\0' ? ": " : "", m->help);
    row_print(ctx, path, text, NULL, METRIC_COLUMN);
    free(text);
}

static void metrics_print(FILE *out, const struct object_entry *entry)
{
    fprintf(out, "\n");
    metric_walk(entry->kind, "", metric_row, out);
}

static const char *profile_text(const struct cc_profile *profile, char *buf, size_t room)
{
    char kmin[UNIT_TEXT], kmax[UNIT_TEXT], rate[UNIT_TEXT];
    if (!profile->ecn)
        return "no marking";
    if (profile->kmax_bdp > 0) {
        snprintf(buf, room, "ECN kmin %g BDP, kmax %g BDP, pmax %g%s", profile->kmin_bdp,
                 profile->kmax_bdp, profile->pmax,
                 profile->spares_last_hop ? ", not at ports to ranks" : "");
        return buf;
    }
    snprintf(buf, room, "ECN kmin %s, kmax %s, pmax %g %s %s",
             format_bytes(profile->kmin_bytes, kmin), format_bytes(profile->kmax_bytes, kmax),
             profile->pmax, profile->scaled ? "per" : "at", format_rate(profile->ref_bps, rate));
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
    fprintf(out, "\nPresets:\n");
    for (size_t p = 0; p < ops->n_presets; p++) {
        const struct cc_preset *preset = &ops->presets[p];
        char text[PROSE_MAX], profile[128], rate[UNIT_TEXT];
        size_t used = (size_t)snprintf(text, sizeof text, "%s", preset->doc);
        for (size_t i = 0; i < preset->n_values && used < sizeof text; i++)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", i == 0 ? ": " : " ",
                                 preset->values[i].param, preset->values[i].value);
        if (preset->holds_bps > 0 && used < sizeof text) // a claim, docs/incasts.md
            used += (size_t)snprintf(text + used, sizeof text - used, "; holds an incast up to %s",
                                     format_rate(preset->holds_bps, rate));
        if (ops->needs & CC_NEEDS_CNP && used < sizeof text)
            notification_print(preset, text + used, sizeof text - used);
        key_print(out, preset->name, profile_text(&preset->profile, profile, sizeof profile), text,
                  NULL);
        for (size_t b = 0; b < preset->n_bases; b++) {
            const struct cc_basis *basis = &preset->bases[b];
            char *why = text_format("%s: %s", evidence_name(basis->evidence), basis->source);
            row_print(out, "", basis->fields, why, KEY_COLUMN + 2);
            free(why);
        }
    }
}

static void entry_print(FILE *out, const struct category *category,
                        const struct object_entry *entry)
{
    heading_print(out, entry->name, entry->doc);
    if (entry->source != NULL && entry->source[0] != '\0')
        heading_print(out, "Source", entry->source);
    if (category->metrics) {
        if (entry->kind != NULL) // NULL: a single value
            metrics_print(out, entry);
    } else {
        keys_print(out, category, entry);
    }
    if (entry->policy != NULL)
        presets_print(out, entry->policy);
}

// ---- the command ----

// Report an unknown word on stderr, with the nearest of `n` words, or the key that is near, or else
// all words. Returns -1.
static int unknown(const char *what, const char *word, const char *const *words, size_t n,
                   const char *key)
{
    const char *near = err_near_miss(word, words);
    near = near != NULL ? near : key;
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
    if (status != 0 && search_keys(out, category, name, policies) > 0)
        status = 0; // a key, as in `list switch buffer`
    if (status != 0)
        unknown(category->name, name, words, n, search_near(category, name, policies));
    free(words);
    return status;
}

// Print the entry, or the keys, called `name` in whichever category they are, as in `list dcqcn`.
static bool entry_named(FILE *out, const char *name, const struct cc_catalogue *policies)
{
    struct category category;
    struct object_entry entry;
    for (size_t c = 0; category_at(c, &category); c++)
        for (size_t i = 0; entry_at(&category, policies, i, &entry); i++)
            if (strcmp(entry.name, name) == 0) {
                entry_print(out, &category, &entry);
                return true;
            }
    return search_keys(out, NULL, name, policies) > 0;
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
        return name == NULL && entry_named(out, what, policies)
                   ? 0
                   : unknown("category", what, words, n, search_near(NULL, what, policies));
    for (size_t i = 0; i < n && category_at(i, &category); i++) {
        if (i > 0)
            fprintf(out, "\n");
        entries_print(out, &category, policies);
    }
    return 0;
}

size_t list_categories(const char **names, size_t max)
{
    struct category category;
    size_t n = 0;
    for (; n < max && category_at(n, &category); n++)
        names[n] = category.name;
    return n;
}

/* ---- the command ---- */

static int command_list(const struct options *o)
{
    if (o->search)
        return search_print(stdout, o->search, options_catalogue(o)) > 0 ? EXIT_DONE : EXIT_BAD_USE;
    const char *what = o->n_args > 0 ? o->args[0] : NULL, *name = o->n_args > 1 ? o->args[1] : NULL;
    return list_print(stdout, what, name, options_catalogue(o)) == 0 ? EXIT_DONE : EXIT_BAD_USE;
}

static const char list_text[] = "Prints the catalogue: everything that a scenario can name, and "
                                "every key with its unit, default, range, meaning and source. A "
                                "category is an object of the scenario, or collective or "
                                "metrics; a name without its category is found too.\n\n"
                                "  collwire list\n"
                                "  collwire list cc dcqcn\n"
                                "  collwire list switch buffer\n"
                                "  collwire list --search headroom\n"
                                "  collwire list metrics flows";

const struct command list_command = {
    .name = "list",
    .help = "policies, transports, topologies, every key and metric",
    .args = "[CATEGORY [NAME]]",
    .text = list_text,
    .run = command_list,
    .completes = COMPLETE_CATEGORIES,
};

// SPDX-License-Identifier: MIT
// The catalogue as tables, straight from the registries.
//
// Every category is flattened to entries {name, doc, source, tables}; printing knows nothing of
// policies or topologies.
#include "cli/list.h"

#include <libsmartcols/libsmartcols.h>
#include <string.h>
#include <unistd.h>

#include "cc/registry.h"
#include "config/tables.h"

struct table_ref {
    const char *prefix; // of the names, "pfc."
    const struct param *params;
    size_t n;
};

struct entry {
    const char *name, *doc, *source;
    struct table_ref tables[4];
    const char *own[2];      // objects of own_keys
    const struct cc_ops *cc; // has presets
};

#define ENTRIES_MAX 64

struct category {
    const char *name, *doc;
    size_t (*entries)(struct entry out[ENTRIES_MAX]);
};

// ---- the categories ----

static size_t cc_entries(struct entry out[ENTRIES_MAX])
{
    size_t n = 0;
    for (; cc_registry[n] != NULL && n < ENTRIES_MAX; n++) {
        const struct cc_ops *ops = cc_registry[n];
        out[n] = (struct entry){.name = ops->name,
                                .doc = ops->doc,
                                .source = ops->paper,
                                .tables = {{"", ops->params, ops->n_params}},
                                .cc = ops};
    }
    return n;
}

static size_t transport_entries(struct entry out[ENTRIES_MAX])
{
    const struct param *kind = param_find(transport_params, n_transport_params, "kind");
    size_t n = 0;
    for (; kind->choices[n] != NULL && n < ENTRIES_MAX; n++)
        out[n] = (struct entry){.name = kind->choices[n],
                                .doc = kind->help,
                                .source = kind->source,
                                .tables = {{"", transport_params, n_transport_params},
                                           {"wire_overhead.", overhead_params, n_overhead_params}},
                                .own = {"transport"}};
    return n;
}

static size_t topology_entries(struct entry out[ENTRIES_MAX])
{
    size_t n = 0;
    for (; topology_registry[n] != NULL && n < ENTRIES_MAX; n++) {
        const struct topology_kind *kind = topology_registry[n];
        const char *trunk = kind->links != NULL ? kind->links[0] : NULL;
        out[n] = (struct entry){.name = kind->name,
                                .doc = kind->doc,
                                .source = kind->source,
                                .tables = {{"", dim_params, n_dim_params},
                                           {"", kind->params, kind->n_params},
                                           {"link.", link_params, n_link_params}},
                                .own = {"topology"}};
        if (trunk != NULL)
            out[n].tables[3] = (struct table_ref){"trunk.", link_params, n_link_params};
    }
    return n;
}

static size_t collective_entries(struct entry out[ENTRIES_MAX])
{
    size_t n = 0;
    for (; coll_registry[n] != NULL && n < ENTRIES_MAX; n++)
        out[n] = (struct entry){.name = coll_registry[n]->name,
                                .doc = coll_registry[n]->doc,
                                .source = coll_registry[n]->source};
    return n;
}

static size_t workload_entries(struct entry out[ENTRIES_MAX])
{
    for (size_t i = 0; i < N_JOB_KINDS; i++)
        out[i] = (struct entry){.name = job_kinds[i].name,
                                .doc = job_kinds[i].doc,
                                .source = job_kinds[i].source,
                                .tables = {{"", job_kinds[i].params, job_kinds[i].n_params}},
                                .own = {job_kinds[i].name, "workload"}};
    return N_JOB_KINDS;
}

static size_t switch_entries(struct entry out[ENTRIES_MAX])
{
    out[0] = (struct entry){.name = "switch",
                            .doc = "output-queued switch with a shared buffer",
                            .source = "",
                            .tables = {{"", switch_params, n_switch_params},
                                       {"pfc.", pfc_params, n_pfc_params},
                                       {"ecn.", ecn_switch_params, n_ecn_switch_params},
                                       {"ecn.", ecn_params, n_ecn_params}},
                            .own = {"switch"}};
    return 1;
}

static const struct category categories[] = {
    {"cc", "congestion control policies", cc_entries},
    {"transport", "transports", transport_entries},
    {"topology", "kinds of dimensions", topology_entries},
    {"collective", "collective algorithms", collective_entries},
    {"workload", "kinds of jobs", workload_entries},
    {"switch", "settings of switches", switch_entries},
};
#define N_CATEGORIES (sizeof categories / sizeof *categories)

// ---- tables ----

static struct libscols_table *table_new(FILE *out, const char *const *columns, size_t n)
{
    struct libscols_table *table = scols_new_table();
    scols_table_set_stream(table, out);
    bool terminal = isatty(fileno(out)) != 0;
    if (!terminal)
        scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    for (size_t i = 0; i < n; i++) // the last columns are prose
        scols_table_new_column(table, columns[i], 0, terminal && i + 2 >= n ? SCOLS_FL_WRAP : 0);
    return table;
}

static void row_add(struct libscols_table *table, const char *const *cells, size_t n)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    for (size_t i = 0; i < n; i++)
        scols_line_set_data(line, i, cells[i] != NULL ? cells[i] : "");
}

static void table_end(struct libscols_table *table)
{
    scols_print_table(table);
    scols_unref_table(table);
}

static void entries_print(FILE *out, const struct category *category)
{
    static const char *const columns[] = {"NAME", "WHAT IT IS", "SOURCE"};
    struct entry entries[ENTRIES_MAX] = {0};
    size_t n = category->entries(entries);
    fprintf(out, "%s: %s\n", category->name, category->doc);
    struct libscols_table *table = table_new(out, columns, 3);
    for (size_t i = 0; i < n; i++)
        row_add(table, (const char *const[]){entries[i].name, entries[i].doc, entries[i].source},
                3);
    table_end(table);
}

// ---- one entry ----

static const char *type_text(const struct param *param, char *buf, size_t room)
{
    if (param->type != PARAM_ENUM)
        return param_type_name(param->type);
    size_t used = 0;
    for (size_t i = 0; param->choices[i] != NULL && used < room; i++)
        used += (size_t)snprintf(buf + used, room - used, "%s%s", i > 0 ? "|" : "",
                                 param->choices[i]);
    return buf;
}

static const char *range_text(const struct param *param, char *buf, size_t room)
{
    const char *min = param->min, *max = param->max;
    if (min != NULL || max != NULL)
        snprintf(buf, room, "%s .. %s", min != NULL ? min : "", max != NULL ? max : "");
    else
        buf[0] = '\0';
    return buf;
}

static void param_row(struct libscols_table *table, const char *prefix, const struct param *param)
{
    char name[64], type[160], range[96];
    snprintf(name, sizeof name, "%s%s", prefix, param->name);
    const char *def = param->def == NULL          ? "required"
                      : param->def[0] == '\0' ? "none"
                                              : param->def;
    row_add(table,
            (const char *const[]){name, type_text(param, type, sizeof type), def,
                                  range_text(param, range, sizeof range), param->help,
                                  param->source},
            6);
}

static void params_print(FILE *out, const struct entry *entry)
{
    static const char *const columns[] = {"PARAMETER", "TYPE", "DEFAULT", "RANGE", "MEANING",
                                          "SOURCE"};
    struct libscols_table *table = table_new(out, columns, 6);
    for (size_t t = 0; t < sizeof entry->tables / sizeof *entry->tables; t++)
        for (size_t i = 0; i < entry->tables[t].n; i++)
            param_row(table, entry->tables[t].prefix, &entry->tables[t].params[i]);
    for (size_t o = 0; o < 2 && entry->own[o] != NULL; o++)
        for (size_t i = 0; i < n_own_keys; i++)
            if (strcmp(own_keys[i].object, entry->own[o]) == 0)
                row_add(table,
                        (const char *const[]){own_keys[i].key, own_keys[i].type, own_keys[i].def,
                                              "", own_keys[i].help, ""},
                        6);
    if (scols_table_get_nlines(table) > 0) {
        fprintf(out, "\n");
        table_end(table);
    } else {
        scols_unref_table(table);
    }
}

static const char *profile_text(const struct cc_profile *profile, char *buf, size_t room)
{
    char kmin[UNIT_TEXT], kmax[UNIT_TEXT], rate[UNIT_TEXT];
    if (!profile->ecn)
        return "no marking";
    snprintf(buf, room, "kmin %s, kmax %s, pmax %g%s%s", format_bytes(profile->kmin_bytes, kmin),
             format_bytes(profile->kmax_bytes, kmax), profile->pmax,
             profile->scaled ? " per " : " at ", format_rate(profile->ref_bps, rate));
    return buf;
}

static void presets_print(FILE *out, const struct cc_ops *ops)
{
    static const char *const columns[] = {"PRESET", "SWITCH PROFILE", "WHAT IT IS", "VALUES"};
    struct libscols_table *table = table_new(out, columns, 4);
    for (size_t p = 0; p < ops->n_presets; p++) {
        const struct cc_preset *preset = &ops->presets[p];
        char values[1024] = "", profile[128];
        for (size_t i = 0, used = 0; i < preset->n_values && used < sizeof values; i++)
            used += (size_t)snprintf(values + used, sizeof values - used, "%s%s=%s",
                                     i > 0 ? " " : "", preset->values[i].param,
                                     preset->values[i].value);
        row_add(table,
                (const char *const[]){preset->name,
                                      profile_text(&preset->profile, profile, sizeof profile),
                                      preset->doc, values},
                4);
    }
    fprintf(out, "\n");
    table_end(table);
}

static void entry_print(FILE *out, const struct entry *entry)
{
    fprintf(out, "%s: %s\n", entry->name, entry->doc);
    if (entry->source != NULL && entry->source[0] != '\0')
        fprintf(out, "Source: %s\n", entry->source);
    params_print(out, entry);
    if (entry->cc != NULL)
        presets_print(out, entry->cc);
}

// ---- the command ----

static int unknown(const char *what, const char *word, const char *const *words)
{
    const char *near = err_near_miss(word, words);
    fprintf(stderr, "collwire: list: unknown %s \"%s\"", what, word);
    if (near != NULL)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    fprintf(stderr, "\n");
    return -1;
}

static int category_print(FILE *out, const struct category *category, const char *name)
{
    struct entry entries[ENTRIES_MAX] = {0};
    const char *words[ENTRIES_MAX + 1] = {0};
    size_t n = category->entries(entries);
    if (name == NULL && n > 1) {
        entries_print(out, category);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        words[i] = entries[i].name;
        if (name == NULL || strcmp(name, words[i]) == 0) {
            entry_print(out, &entries[i]);
            return 0;
        }
    }
    return unknown(category->name, name, words);
}

int list_print(FILE *out, const char *what, const char *name)
{
    const char *words[N_CATEGORIES + 1] = {0};
    for (size_t i = 0; i < N_CATEGORIES; i++) {
        words[i] = categories[i].name;
        if (what != NULL && strcmp(what, words[i]) == 0)
            return category_print(out, &categories[i], name);
    }
    if (what != NULL)
        return unknown("category", what, words);
    for (size_t i = 0; i < N_CATEGORIES; i++) {
        if (i > 0)
            fprintf(out, "\n");
        entries_print(out, &categories[i]);
    }
    return 0;
}

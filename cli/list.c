// SPDX-License-Identifier: MIT
// The catalogue as tables, straight from the registries.
//
// Every category is flattened to entries {name, doc, source, tables}; printing knows nothing of
// policies or topologies.
#include "cli/list.h"

#include <libsmartcols/libsmartcols.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "config/job_reader.h"
#include "report/metric_table.h"
#include "workload/dlrm.h"

struct table_ref {
    const char *prefix; // of the names: "pfc", or ""
    const struct param *params;
    size_t n;
};

struct entry {
    const char *name, *doc, *source;
    struct table_ref tables[6];
    const struct own_key *keys; // that no table describes
    size_t n_keys;
    const char *own;         // object of own_keys
    const struct cc_ops *cc; // has presets
    const struct metric_table *metrics;
};

#define ENTRIES_MAX 64

struct category {
    const char *name, *doc;
    size_t (*entries)(const struct cc_catalogue *policies, struct entry out[ENTRIES_MAX]);
};

// ---- the categories ----

static size_t cc_entries(const struct cc_catalogue *policies, struct entry out[ENTRIES_MAX])
{
    size_t n = 0;
    for (; n < policies->n && n < ENTRIES_MAX; n++) {
        const struct cc_ops *ops = policies->policies[n];
        out[n] = (struct entry){.name = ops->name,
                                .doc = ops->doc,
                                .source = ops->paper,
                                .tables = {{"", ops->params, ops->n_params}},
                                .cc = ops};
    }
    return n;
}

static size_t transport_entries(const struct cc_catalogue *policies, struct entry out[ENTRIES_MAX])
{
    (void)policies;
    struct param kind = param_find(transport_params, n_transport_params, "kind");
    size_t n = 0;
    for (; kind.choices[n] != NULL && n < ENTRIES_MAX; n++)
        out[n] = (struct entry){.name = kind.choices[n],
                                .doc = kind.help,
                                .source = kind.source,
                                .tables = {{"", transport_params, n_transport_params},
                                           {"wire_overhead", overhead_params, n_overhead_params}},
                                .own = "transport"};
    return n;
}

static size_t topology_entries(const struct cc_catalogue *policies, struct entry out[ENTRIES_MAX])
{
    (void)policies;
    size_t n = 0;
    for (; topology_registry[n] != NULL && n < ENTRIES_MAX; n++) {
        const struct topology_kind *kind = topology_registry[n];
        out[n] = (struct entry){.name = kind->name,
                                .doc = kind->doc,
                                .source = kind->source,
                                .tables = {{"", dim_params, n_dim_params},
                                           {"", kind->params, kind->n_params},
                                           {"link", link_params, n_link_params}},
                                .own = "topology"};
        for (size_t l = 0; kind->links != NULL && kind->links[l] != NULL; l++)
            out[n].tables[3 + l] = (struct table_ref){kind->links[l], link_params, n_link_params};
    }
    return n;
}

static size_t collective_entries(const struct cc_catalogue *policies, struct entry out[ENTRIES_MAX])
{
    (void)policies;
    size_t n = 0;
    for (; coll_registry[n] != NULL && n < ENTRIES_MAX; n++)
        out[n] = (struct entry){.name = coll_registry[n]->name,
                                .doc = coll_registry[n]->doc,
                                .source = coll_registry[n]->source};
    return n;
}

static size_t workload_entries(const struct cc_catalogue *policies, struct entry out[ENTRIES_MAX])
{
    (void)policies;
    size_t n = 0;
    for (const struct job_entry *job = job_registry; job->kind != NULL; job++) {
        const struct job_kind *kind = job->kind;
        out[n] = (struct entry){
            .name = kind->name,
            .doc = kind->doc,
            .source = kind->source,
            .tables = {{"", job_params, n_job_params}, {"", kind->params, kind->n_params}},
            .own = "workload"};
        if (job->reader != NULL) {
            out[n].keys = job->reader->keys;
            out[n].n_keys = job->reader->n_keys;
        }
        n++;
    }
    out[n++] =
        (struct entry){.name = "gemm",
                       .doc = "settings of `collwire workload gemm`: a training workload from the "
                              "matrix products of a network's layers",
                       .source = "Samajdar et al., ISPASS 2020; Williams et al., CACM 2009",
                       .tables = {{"", gemm_params, n_gemm_params}}};
    out[n++] = (struct entry){
        .name = "dlrm",
        .doc = "`dlrm` of a training job: a recommendation model, its tables sharded (element: 4B "
               "unless given)",
        .source = "Naumov et al. 2019; Mudigere et al., ISCA 2022",
        .tables = {{"", dlrm_params, n_dlrm_params}, {"", gemm_params, n_gemm_params}}};
    return n;
}

static size_t switch_entries(const struct cc_catalogue *policies, struct entry out[ENTRIES_MAX])
{
    (void)policies;
    out[0] = (struct entry){.name = "switch",
                            .doc = "output-queued switch with a shared buffer",
                            .source = "",
                            .tables = {{"", switch_params, n_switch_params},
                                       {"pfc", pfc_params, n_pfc_params},
                                       {"ecn", ecn_switch_params, n_ecn_switch_params},
                                       {"ecn", ecn_params, n_ecn_params},
                                       {"routing", routing_params, n_routing_params},
                                       {"classes.N", class_params, n_class_params}},
                            .own = "switch"};
    return 1;
}

// The keys of metrics.json, then the other files.
static size_t metrics_entries(const struct cc_catalogue *policies, struct entry out[ENTRIES_MAX])
{
    (void)policies;
    size_t n = 0;
    for (; n < metrics_table.n && n < ENTRIES_MAX; n++)
        out[n] = (struct entry){.name = metrics_table.list[n].key,
                                .doc = metrics_table.list[n].help,
                                .metrics = metrics_table.list[n].table};
    for (size_t f = 1; f < n_metric_files && n < ENTRIES_MAX; f++)
        out[n++] = (struct entry){.name = metric_files[f].name,
                                  .doc = metric_files[f].help,
                                  .metrics = metric_files[f].table};
    return n;
}

static const struct category categories[] = {
    {"cc", "congestion control policies", cc_entries},
    {"transport", "transports", transport_entries},
    {"topology", "kinds of dimensions", topology_entries},
    {"collective", "collective algorithms", collective_entries},
    {"workload", "kinds of jobs", workload_entries},
    {"switch", "settings of switches", switch_entries},
    {"metrics", "what a run writes: keys of metrics.json, and files beside it", metrics_entries},
};
#define N_CATEGORIES (sizeof categories / sizeof *categories)

// ---- tables ----

#define PROSE_MAX 2048
#define PROSE_LEAST 32 // columns of text, however narrow the terminal

// A table whose last column is prose, on a terminal wrapped at words to what the others leave.
struct listing {
    struct libscols_table *table;
    size_t n_columns, prose_width; // SIZE_MAX = one line
};

// `fixed`: columns of the terminal that all but the last column take, about.
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

// Turn the blanks into line ends that keep lines within `width`.
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

// The last cell is "cell [source]".
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
    struct entry entries[ENTRIES_MAX] = {0};
    size_t n = category->entries(policies, entries);
    fprintf(out, "%s: %s\n", category->name, category->doc);
    struct listing listing = listing_new(out, columns, 2, 18);
    for (size_t i = 0; i < n; i++)
        row_add(&listing, (const char *const[]){entries[i].name, entries[i].doc},
                entries[i].source);
    listing_end(&listing);
}

// ---- one entry ----

static const char *type_text(const struct param *param, char *buf, size_t room)
{
    if (param->type != PARAM_ENUM && param->choices == NULL)
        return param_type_name(param->type);
    size_t n = 0;
    if (param->type != PARAM_ENUM) { // names for sizes
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

static void own_key_row(struct listing *listing, const struct own_key *key)
{
    row_add(listing, (const char *const[]){key->key, key->type, key->def, "", key->help}, NULL);
}

static void params_print(FILE *out, const struct entry *entry)
{
    static const char *const columns[] = {"PARAMETER", "TYPE", "DEFAULT", "RANGE",
                                          "MEANING [SOURCE]"};
    struct listing listing = listing_new(out, columns, 5, 64);
    for (size_t t = 0; t < sizeof entry->tables / sizeof *entry->tables; t++) {
        struct param_walk walk = params_walk(entry->tables[t].params, entry->tables[t].n);
        for (const struct param *param; (param = params_next(&walk)) != NULL;)
            param_row(&listing, entry->tables[t].prefix, param);
    }
    for (size_t i = 0; i < entry->n_keys; i++)
        own_key_row(&listing, &entry->keys[i]);
    for (size_t i = 0; i < n_own_keys && entry->own != NULL; i++)
        if (strcmp(own_keys[i].object, entry->own) == 0)
            own_key_row(&listing, &own_keys[i].own);
    if (scols_table_get_nlines(listing.table) > 0)
        fprintf(out, "\n");
    listing_end(&listing);
}

static void metric_row(void *ctx, const char *path, const struct metric *m)
{
    struct listing *listing = ctx;
    row_add(listing, (const char *const[]){path, metric_unit_name(m->unit), m->help}, NULL);
}

static void metrics_print(FILE *out, const struct entry *entry)
{
    static const char *const columns[] = {"KEY", "UNIT", "MEANING"};
    struct listing listing = listing_new(out, columns, 3, 40);
    fprintf(out, "\n");
    metric_walk(entry->metrics, "", metric_row, &listing);
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

// The notification point that the preset brings with it.
static void notification_print(const struct cc_preset *preset, char *buf, size_t room)
{
    char interval[UNIT_TEXT];
    struct cc_notification n = notification_of(preset);
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

static void entry_print(FILE *out, const struct entry *entry)
{
    fprintf(out, "%s: %s\n", entry->name, entry->doc);
    if (entry->source != NULL && entry->source[0] != '\0')
        fprintf(out, "Source: %s\n", entry->source);
    if (entry->metrics != NULL)
        metrics_print(out, entry);
    else
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

static int category_print(FILE *out, const struct category *category, const char *name,
                          const struct cc_catalogue *policies)
{
    struct entry entries[ENTRIES_MAX] = {0};
    const char *words[ENTRIES_MAX + 1] = {0};
    size_t n = category->entries(policies, entries);
    if (name == NULL && n > 1) {
        entries_print(out, category, policies);
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

int list_print(FILE *out, const char *what, const char *name, const struct cc_catalogue *policies)
{
    const char *words[N_CATEGORIES + 1] = {0};
    for (size_t i = 0; i < N_CATEGORIES; i++) {
        words[i] = categories[i].name;
        if (what != NULL && strcmp(what, words[i]) == 0)
            return category_print(out, &categories[i], name, policies);
    }
    if (what != NULL)
        return unknown("category", what, words);
    for (size_t i = 0; i < N_CATEGORIES; i++) {
        if (i > 0)
            fprintf(out, "\n");
        entries_print(out, &categories[i], policies);
    }
    return 0;
}

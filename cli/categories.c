// SPDX-License-Identifier: MIT
// The categories of the catalogue, from the descriptions of objects, algorithms and metrics.
#include "cli/categories.h"

#include "collective/algorithm/collective.h"
#include "report/metric_table.h"

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
    {"collective", "collective algorithms", NULL, collective_entry, collective_keys, false},
    {"metrics", "what a run writes: keys of metrics.json, and files beside it", NULL, metrics_entry,
     NULL, true},
};
enum { N_OTHERS = sizeof others / sizeof *others };

static struct category category_of(const struct object *o)
{
    return (struct category){o->key, o->doc, o, o->entry, NULL, false};
}

bool category_at(size_t i, struct category *out)
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

bool entry_at(const struct category *c, const struct cc_catalogue *policies, size_t i,
              struct object_entry *out)
{
    if (c->entry != NULL)
        return c->entry(policies, i, out);
    *out = (struct object_entry){.name = c->name, .doc = c->doc};
    return i == 0;
}

void category_keys(const struct category *c, const struct object_entry *entry,
                   const struct key_sink *to)
{
    if (c->object != NULL)
        object_keys(c->object, entry, "", to);
    else if (c->keys != NULL)
        c->keys(entry, "", to);
}

// SPDX-License-Identifier: MIT
// Writes a record by its table, and reads values back by the same table.
#include "report/metric_json.h"

#include <math.h>
#include <string.h>

#include "engine/assert.h"

// ---- writing ----

static json_t *time_json(const struct metric *m, const void *record)
{
    ps_t ps = metric_time(m, record);
    return ps < 0 ? json_null() : json_integer(ns_of_ps(ps));
}

static json_t *real_json(const struct metric *m, const void *record)
{
    double value = metric_real(m, record);
    if (isnan(value))
        return json_null();
    return m->type == METRIC_ROUNDED ? json_integer((json_int_t)(value + 0.5)) : json_real(value);
}

static json_t *text_json(const char *text) { return text ? json_string(text) : json_null(); }

static json_t *object_json(const struct metric_table *table, const void *record, bool known);

static json_t *item_json(const struct metric *m, const void *item)
{
    if (m->type == METRIC_TEXTS)
        return text_json(*(const char *const *)item);
    if (m->type == METRIC_REALS)
        return json_real(*(const double *)item);
    return object_json(m->table, item, true);
}

static json_t *list_json(const struct metric *m, const void *record)
{
    size_t n = metric_count(m, record);
    if (m->type == METRIC_ONE_OR_LIST && n < 2)
        return n == 0 ? json_null() : item_json(m, metric_item(m, record, 0));
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        const void *item = metric_item(m, record, i);
        if (m->wanted == NULL || m->wanted(item))
            json_array_append_new(array, item_json(m, item));
    }
    return array;
}

static json_t *value_json(const struct metric *m, const void *record, bool known)
{
    known = known && (m->known == NULL || m->known(record));
    if (m->type == METRIC_OBJECT)
        return object_json(m->table, (const char *)record + m->offset, known);
    if (!known)
        return json_null();
    switch (m->type) {
    case METRIC_INTEGER:
        return json_integer((json_int_t)metric_integer(m, record));
    case METRIC_TIME:
        return time_json(m, record);
    case METRIC_ROUNDED:
    case METRIC_REAL:
        return real_json(m, record);
    case METRIC_TEXT:
    case METRIC_WORD:
        return text_json(metric_text(m, record));
    case METRIC_CUSTOM:
        return m->json ? m->json(record) : NULL;
    default:
        return list_json(m, record);
    }
}

static json_t *object_json(const struct metric_table *table, const void *record, bool known)
{
    json_t *object = json_object();
    for (size_t i = 0; i < table->n; i++) {
        json_t *value = value_json(&table->list[i], record, known);
        if (value)
            json_object_set_new(object, table->list[i].key, value);
    }
    return object;
}

json_t *metric_json(const struct metric_table *table, const void *record)
{
    return object_json(table, record, true);
}

// ---- reading ----

// The metric of a path's first step; *path is moved to the next step.
static const struct metric *step(const struct metric_table *table, const char **path)
{
    size_t length = strcspn(*path, ".");
    const struct metric *m = metric_find(table, *path, length);
    if (!m)
        sim_assert_fail(*path, __FILE__, __LINE__, 0, -1);
    *path += length + ((*path)[length] == '.');
    return m;
}

const struct metric *metric_at_path(const struct metric_table *table, const char *path)
{
    const struct metric *m = step(table, &path);
    while (*path != '\0')
        m = step(m->table, &path);
    return m;
}

const json_t *metric_at(const struct metric_table *table, const json_t *object, const char *path)
{
    while (*path != '\0') {
        const struct metric *m = step(table, &path);
        object = json_object_get(object, m->key);
        table = m->table;
    }
    return object;
}

struct sum {
    double value;
    size_t n;
};

static void add_values(const struct metric_table *table, const json_t *at, const char *path,
                       struct sum *sum)
{
    if (json_is_array(at)) {
        for (size_t i = 0; i < json_array_size(at); i++)
            add_values(table, json_array_get(at, i), path, sum);
    } else if (*path == '\0') {
        sum->value += json_is_number(at) ? json_number_value(at) : (double)NAN;
        sum->n++;
    } else {
        const struct metric *m = step(table, &path);
        at = json_object_get(at, m->key);
        if (at)
            add_values(m->table, at, path, sum);
    }
}

double metric_mean(const struct metric_table *table, const json_t *object, const char *path)
{
    struct sum sum = {0, 0};
    add_values(table, object, path, &sum);
    return sum.n > 0 ? sum.value / (double)sum.n : (double)NAN;
}

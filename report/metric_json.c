// SPDX-License-Identifier: MIT
// Writes a record by its table, and reads values back by the same table.
#include "report/metric_json.h"

#include <math.h>
#include <string.h>

#include "engine/base/assert.h"

// ---- writing ----

static void write_time(struct json_writer *w, const struct metric *m, const void *record)
{
    ps_t ps = metric_time(m, record);
    if (ps < 0)
        json_writer_null(w);
    else
        json_writer_integer(w, ns_of_ps(ps));
}

static void write_real(struct json_writer *w, const struct metric *m, const void *record)
{
    double value = metric_real(m, record);
    if (isnan(value))
        json_writer_null(w);
    else if (m->type == METRIC_ROUNDED)
        json_writer_integer(w, (int64_t)(value + 0.5));
    else
        json_writer_real(w, value);
}

static void write_text(struct json_writer *w, const char *text)
{
    if (text)
        json_writer_text(w, text);
    else
        json_writer_null(w);
}

static void write_item(struct json_writer *w, const struct metric *m, const void *item)
{
    if (m->type == METRIC_TEXTS)
        write_text(w, *(const char *const *)item);
    else if (m->type == METRIC_REALS)
        json_writer_real(w, *(const double *)item);
    else
        metric_write(w, m->table, item);
}

static void write_list(struct json_writer *w, const struct metric *m, const void *record)
{
    size_t n = metric_count(m, record);
    if (m->type == METRIC_ONE_OR_LIST && n == 0) {
        json_writer_null(w);
        return;
    }
    if (m->type == METRIC_ONE_OR_LIST && n == 1) {
        write_item(w, m, metric_item(m, record, 0));
        return;
    }
    json_writer_list(w);
    for (size_t i = 0; i < n; i++) {
        const void *item = metric_item(m, record, i);
        if (m->wanted == NULL || m->wanted(item))
            write_item(w, m, item);
    }
    json_writer_end(w);
}

static void write_object(struct json_writer *w, const struct metric_table *table,
                         const void *record, bool known);

static void write_value(struct json_writer *w, const struct metric *m, const void *record,
                        bool known)
{
    known = known && (m->known == NULL || m->known(record));
    // The fields of an object that is not known are null: readers find all keys in every case.
    if (m->type == METRIC_OBJECT) {
        write_object(w, m->table, (const char *)record + m->offset, known);
        return;
    }
    if (!known) {
        json_writer_null(w);
        return;
    }
    switch (m->type) {
    case METRIC_INTEGER:
        json_writer_integer(w, (int64_t)metric_integer(m, record));
        break;
    case METRIC_TIME:
        write_time(w, m, record);
        break;
    case METRIC_ROUNDED:
    case METRIC_REAL:
        write_real(w, m, record);
        break;
    case METRIC_TEXT:
    case METRIC_WORD:
        write_text(w, metric_text(m, record));
        break;
    case METRIC_CUSTOM:
        if (m->write)
            m->write(w, record);
        break;
    default:
        write_list(w, m, record);
    }
}

static void write_object(struct json_writer *w, const struct metric_table *table,
                         const void *record, bool known)
{
    json_writer_object(w);
    for (size_t i = 0; i < table->n; i++) {
        json_writer_key(w, table->list[i].key);
        write_value(w, &table->list[i], record, known);
    }
    json_writer_end(w);
}

void metric_write(struct json_writer *w, const struct metric_table *table, const void *record)
{
    write_object(w, table, record, true);
}

// ---- reading ----

// The metric of a path's first step; *path is moved to the next step.
static const struct metric *step(const struct metric_table *table, const char **path)
{
    size_t length = strcspn(*path, ".");
    const struct metric *m = metric_find(table, *path, length);
    if (!m)
        // Paths are constants of this program, so a wrong one is a mistake in it.
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
        // One unknown value makes the mean unknown.
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

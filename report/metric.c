// SPDX-License-Identifier: MIT
// Reads values of metrics from records.
#include "report/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const void *at(const void *record, size_t offset) { return (const char *)record + offset; }

static uint64_t unsigned_at(const void *field, size_t bytes)
{
    uint32_t word;
    uint64_t wide;
    switch (bytes) {
    case 1:
        return *(const uint8_t *)field;
    case sizeof word:
        memcpy(&word, field, sizeof word);
        return word;
    default:
        memcpy(&wide, field, sizeof wide);
        return wide;
    }
}

static bool known(const struct metric *m, const void *record)
{
    return m->known == NULL || m->known(record);
}

uint64_t metric_integer(const struct metric *m, const void *record)
{
    return unsigned_at(at(record, m->offset), m->bytes);
}

ps_t metric_time(const struct metric *m, const void *record)
{
    if (!known(m, record))
        return -1;
    return m->time ? m->time(record) : *(const ps_t *)at(record, m->offset);
}

double metric_real(const struct metric *m, const void *record)
{
    if (!known(m, record))
        return (double)NAN;
    return m->real ? m->real(record) : *(const double *)at(record, m->offset);
}

const char *metric_text(const struct metric *m, const void *record)
{
    if (m->type == METRIC_WORD)
        return m->words[metric_integer(m, record)];
    return *(const char *const *)at(record, m->offset);
}

size_t metric_count(const struct metric *m, const void *record)
{
    return m->count ? m->count(record)
                    : (size_t)unsigned_at(at(record, m->count_offset), m->count_bytes);
}

const void *metric_item(const struct metric *m, const void *record, size_t i)
{
    const char *const *items = at(record, m->offset);
    return *items + i * m->bytes;
}

const char *metric_unit_name(enum metric_unit unit)
{
    static const char *const names[] = {"",      "ns",    "us",    "s",    "h",
                                        "bytes", "bit/s", "count", "ratio"};
    return names[unit];
}

const struct metric *metric_find(const struct metric_table *table, const char *key, size_t length)
{
    for (size_t i = 0; table && i < table->n; i++)
        if (strlen(table->list[i].key) == length && memcmp(table->list[i].key, key, length) == 0)
            return &table->list[i];
    return NULL;
}

static bool is_list(const struct metric *m)
{
    return m->type == METRIC_TEXTS || m->type == METRIC_REALS || m->type == METRIC_LIST ||
           m->type == METRIC_ONE_OR_LIST;
}

void metric_walk(const struct metric_table *table, const char *prefix, metric_visit visit,
                 void *ctx)
{
    char path[128];
    for (size_t i = 0; i < table->n; i++) {
        const struct metric *m = &table->list[i];
        snprintf(path, sizeof path, "%s%s%s%s", prefix, *prefix ? "." : "", m->key,
                 is_list(m) ? "[]" : "");
        visit(ctx, path, m);
        if (m->table)
            metric_walk(m->table, path, visit, ctx);
    }
}

double metric_gpu_hours(ps_t total_ps, uint32_t ranks)
{
    return total_ps < 0 ? (double)NAN : (double)total_ps / (3600.0 * PS_PER_S) * ranks;
}

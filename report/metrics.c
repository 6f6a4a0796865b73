// SPDX-License-Identifier: MIT
// Writes metrics.json and run.json. Reals have 10 digits, which is enough and equal on all
// machines.
#include "report/metrics.h"

#include <jansson.h>

#include "engine/base/text.h"
#include "report/metric_json.h"
#include "report/metric_table.h"

static void write_file(FILE *out, const struct metric_table *table, const void *record)
{
    struct json_writer w;
    json_writer_open(&w, out);
    metric_write(&w, table, record);
    json_writer_flush(&w);
}

void metrics_write(FILE *out, const struct result *r, const char *scenario, bool brief)
{
    struct metrics_record record = {*r, METRICS_SCHEMA, scenario, brief};
    write_file(out, &metrics_table, &record);
}

char *metrics_json(const struct result *r, const char *scenario)
{
    struct text text;
    FILE *out = text_open(&text);
    metrics_write(out, r, scenario, false);
    return text_close(out, &text);
}

char *run_json(const struct result *r, const char *version)
{
    struct text text;
    FILE *out = text_open(&text);
    struct run_record record = {*r, version, __VERSION__, JANSSON_VERSION};
    write_file(out, &run_table, &record);
    return text_close(out, &text);
}

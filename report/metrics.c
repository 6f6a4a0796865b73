// SPDX-License-Identifier: MIT
// Writes metrics.json and run.json. Reals have 10 digits, which is enough and equal on all
// machines.
#include "report/metrics.h"

#include "report/metric_json.h"
#include "report/metric_table.h"

static char *dump(const struct metric_table *table, const void *record)
{
    json_t *root = metric_json(table, record);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    json_decref(root);
    return text;
}

char *metrics_json(const struct result *r, const char *scenario)
{
    struct metrics_record record = {*r, METRICS_SCHEMA, scenario};
    return dump(&metrics_table, &record);
}

char *run_json(const struct result *r, const char *version)
{
    struct run_record record = {*r, version, __VERSION__, JANSSON_VERSION};
    return dump(&run_table, &record);
}

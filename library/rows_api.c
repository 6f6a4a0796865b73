// SPDX-License-Identifier: MIT
// The metrics of a run as the rows of comparisons.
#include "report/rows.h"

#include "library/handles.h"
#include "library/plain_locale.h"
#include "report/metrics_brief.h"

char *collwire_metrics_rows(const char *metrics, const char *policy)
{
    struct plain_locale locale = plain_locale_begin();
    json_t *brief = metrics_brief(metrics);
    const char *name = json_string_value(json_object_get(brief, "name"));
    char *text = NULL;
    if (name) {
        struct rows rows = {0};
        json_int_t seed = json_integer_value(json_object_get(brief, "seed"));
        rows_add(&rows, &(struct row_source){.scenario = name,
                                             .policy = policy,
                                             .seed = (uint64_t)seed,
                                             .metrics = metrics});
        text = rows_document(&rows, name);
        rows_free(&rows);
    }
    json_decref(brief);
    plain_locale_end(locale);
    return text;
}

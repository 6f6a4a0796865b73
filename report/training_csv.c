// SPDX-License-Identifier: MIT
// Writes training jobs as CSV files with the columns of ASTRA-sim.
#include <stdio.h>

#include "report/csv.h"
#include "report/metric_table.h"
#include "report/metrics.h"

static void end_to_end_rows(FILE *out, const struct training_result *t)
{
    for (size_t i = 0; i < t->n_layers; i++) {
        struct end_to_end_row row = {t->layers[i], t->name, t->total_ps, -1, -1};
        if (i == 0) {
            row.compute_ps = t->compute_ps;
            row.exposed_ps = t->total_ps < 0 ? -1 : t->total_ps - t->compute_ps;
        }
        csv_row(out, &end_to_end_table, &row);
    }
}

static void detailed_rows(FILE *out, const struct training_result *t)
{
    for (size_t i = 0; i < t->n_phases; i++) {
        struct detailed_row row = {t->phases[i], t->name};
        csv_row(out, &detailed_table, &row);
    }
}

static void dimension_rows(FILE *out, const struct training_result *t)
{
    const struct training_use *u = &t->use;
    for (size_t i = 0; i < u->n; i++)
        for (uint32_t d = 0; d < u->n_dims - !u->spans_all; d++) {
            struct dimension_row row = {t->name, (ps_t)i * u->step_ps, d,
                                        u->share[i * u->n_dims + d]};
            csv_row(out, &dimensions_table, &row);
        }
}

static char *file(const struct result *r, const struct metric_table *table,
                  void (*rows)(FILE *out, const struct training_result *t))
{
    struct text text;
    if (r->n_trainings == 0)
        return NULL;
    FILE *out = text_open(&text);
    csv_heading(out, table);
    for (size_t i = 0; i < r->n_trainings; i++)
        rows(out, &r->trainings[i]);
    return text_close(out, &text);
}

char *training_end_to_end_csv(const struct result *r)
{
    return file(r, &end_to_end_table, end_to_end_rows);
}

char *training_detailed_csv(const struct result *r)
{
    return file(r, &detailed_table, detailed_rows);
}

char *training_dimensions_csv(const struct result *r)
{
    return file(r, &dimensions_table, dimension_rows);
}

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
        // As in ASTRA-sim's file, the row of the first layer has the times of the whole job.
        if (i == 0) {
            row.compute_ps = t->compute_ps;
            row.exposed_ps = t->total_ps < 0 ? -1 : t->total_ps - t->compute_ps;
        }
        csv_row(out, &end_to_end_table, &row);
    }
}

static void phase_rows(FILE *out, const struct training_result *t)
{
    for (size_t i = 0; i < t->n_phases; i++) {
        struct phase_row row = {t->phases[i], t->name};
        csv_row(out, &phases_table, &row);
    }
}

// ---- detailed.csv: the number of columns depends on the jobs ----

struct detailed_columns {
    size_t phases, dims;
};

static uint32_t dims_used(const struct training_result *t)
{
    // The last dimension is for phases over all ranks at once, and is left out where there are
    // none.
    return t->use.n_dims - !t->use.spans_all;
}

static struct detailed_columns columns_of(const struct result *r)
{
    struct detailed_columns columns = {0, 0};
    for (size_t j = 0; j < r->n_trainings; j++) {
        const struct training_result *t = &r->trainings[j];
        columns.dims = dims_used(t) > columns.dims ? dims_used(t) : columns.dims;
        for (size_t l = 0; l < t->n_layers; l++)
            if (t->layers[l].n_delays > columns.phases)
                columns.phases = t->layers[l].n_delays;
    }
    return columns;
}

static void detailed_heading(FILE *out, struct detailed_columns columns)
{
    fputs("layer,run,queuing delay phase 0", out);
    for (size_t k = 1; k <= columns.phases; k++)
        fprintf(out, ",queuing delay phase %zu", k);
    for (size_t k = 1; k <= columns.phases; k++)
        fprintf(out, ",network delay phase %zu", k);
    for (size_t d = 1; d <= columns.dims; d++)
        fprintf(out, ",avg chunk delay dimension %zu", d);
    fputc('\n', out);
}

// A cell of a time in us; empty if it is not known.
static void cell(FILE *out, bool known, double ps)
{
    fputc(',', out);
    if (known)
        fprintf(out, "%.6f", ps / (double)PS_PER_US);
}

static void detailed_row(FILE *out, struct detailed_columns columns,
                         const struct training_result *t, size_t at)
{
    const struct training_layer_result *layer = &t->layers[at];
    csv_text(out, layer->name);
    fputc(',', out);
    csv_text(out, t->name);
    cell(out, layer->n_delays > 0, 0);
    for (size_t k = 0; k < columns.phases; k++)
        cell(out, k < layer->n_delays, k < layer->n_delays ? layer->delays[k].queueing_ps : 0);
    for (size_t k = 0; k < columns.phases; k++)
        cell(out, k < layer->n_delays, k < layer->n_delays ? layer->delays[k].network_ps : 0);
    for (size_t d = 0; d < columns.dims; d++) {
        bool known = at == 0 && d < dims_used(t) && t->chunk_ps[d] >= 0;
        cell(out, known, known ? t->chunk_ps[d] : 0);
    }
    fputc('\n', out);
}

bool training_detailed_csv(FILE *out, const struct result *r)
{
    struct detailed_columns columns = columns_of(r);
    if (r->n_trainings == 0)
        return false;
    detailed_heading(out, columns);
    for (size_t j = 0; j < r->n_trainings; j++)
        for (size_t l = 0; l < r->trainings[j].n_layers; l++)
            detailed_row(out, columns, &r->trainings[j], l);
    return true;
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

static bool file(FILE *out, const struct result *r, const struct metric_table *table,
                 void (*rows)(FILE *out, const struct training_result *t))
{
    if (r->n_trainings == 0)
        return false;
    csv_heading(out, table);
    for (size_t i = 0; i < r->n_trainings; i++)
        rows(out, &r->trainings[i]);
    return true;
}

bool training_end_to_end_csv(FILE *out, const struct result *r)
{
    return file(out, r, &end_to_end_table, end_to_end_rows);
}

bool training_phases_csv(FILE *out, const struct result *r)
{
    return file(out, r, &phases_table, phase_rows);
}

bool training_dimensions_csv(FILE *out, const struct result *r)
{
    return file(out, r, &dimensions_table, dimension_rows);
}

// SPDX-License-Identifier: MIT
// Messages from a capture as CSV: measured there, and simulated.
#include <math.h>
#include <stdio.h>

#include "report/csv.h"
#include "report/metrics.h"
#include "sim/result/result.h"

static ps_t simulated(const void *record)
{
    const struct flow_record *f = record;
    return f->simulated_ps > 0 ? f->simulated_ps : -1;
}

static double ratio(const void *record)
{
    const struct flow_record *f = record;
    return f->simulated_ps > 0 ? (double)f->simulated_ps / (double)f->measured_ps : (double)NAN;
}

// Columns as in lists of flows, then what the simulation adds.
static const struct metric columns[] = {
    {"src", METRIC_WORDS, "", INTEGER(flow_record, src)},
    {"dst", METRIC_WORDS, "", INTEGER(flow_record, dst)},
    {"bytes", METRIC_BYTES, "", INTEGER(flow_record, bytes)},
    {"start_ns", METRIC_NS, "", TIME(flow_record, start_ps)},
    {"measured_ns", METRIC_NS, "", TIME(flow_record, measured_ps)},
    {"simulated_ns", METRIC_NS, "", .type = METRIC_TIME, .time = simulated},
    {"measured_ratio", METRIC_RATIO, "", .type = METRIC_REAL, .real = ratio},
};
static METRIC_TABLE(column_table, columns);

bool measured_csv(FILE *out, const struct result *r)
{
    if (r->measured.count == 0)
        return false;
    csv_heading(out, &column_table);
    for (size_t i = 0; i < r->n_flows; i++)
        if (r->flows[i].measured_ps > 0)
            csv_row(out, &column_table, &r->flows[i]);
    return true;
}

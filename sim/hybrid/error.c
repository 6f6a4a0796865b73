// SPDX-License-Identifier: MIT
// How far from packets the time of a job may be: what drawn scenarios of the same kind of work were
// (docs/hybrid.md).
#include <string.h>

#include "engine/base/text.h"
#include "sim/hybrid/error_rows.h"
#include "sim/hybrid/hybrid_internal.h"
#include "workload/kind.h"

#define ROW(name, n, half, nine_tenths, all)                                                       \
    {.kind = (name), .cases = (n), .p50 = (half), .p90 = (nine_tenths), .most = (all)},
static const struct hybrid_error rows[] = {HYBRID_ERROR_ROWS(ROW)};
enum { N_ROWS = sizeof rows / sizeof *rows }; // the last one is of all kinds

static const char *kind_of(const struct spec *spec)
{
    return spec->n_jobs == 1 ? spec->jobs[0].kind->name : "jobs";
}

struct hybrid_error hybrid_error_of(const struct spec *spec, uint32_t n_ranks)
{
    const char *kind = kind_of(spec);
    struct hybrid_error error = rows[N_ROWS - 1];
    for (size_t i = 0; i + 1 < N_ROWS; i++)
        if (strcmp(rows[i].kind, kind) == 0)
            error = rows[i];
    if (error.kind == rows[N_ROWS - 1].kind)
        error.outside = "kind";
    else if (n_ranks > HYBRID_ERROR_RANKS)
        error.outside = "ranks";
    return error;
}

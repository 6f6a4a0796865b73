// SPDX-License-Identifier: MIT
// Graphs of operators, as `collwire partition` reads and divides them: the first byte says among
// how many ranks.
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "cli/partition/operator_file.h"
#include "engine/base/memory.h"
#include "engine/text/json_file.h"
#include "tests/fuzz/support.h"

#define OPERATORS_MOST 200 // larger graphs take longer than many other inputs

static void divide(struct operator_graph *g, const uint32_t *order, uint32_t parts)
{
    uint32_t *part = memory_zeroed(g->n, sizeof *part);
    g->byte_ps = 80;
    operator_equal(g, order, parts, part);
    double equal_ps = operator_cost(g, parts, part).total_ps;
    struct operator_cost cost = operator_partition(g, order, parts, part);
    if (isnan(equal_ps) || isnan(cost.total_ps) || (isfinite(equal_ps) && cost.total_ps > equal_ps))
        abort();
    for (uint32_t v = 0; v < g->n && isfinite(cost.total_ps); v++)
        if (part[v] >= parts)
            abort();
    free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = {0};
    if (n == 0)
        return 0;
    uint32_t parts = 1 + data[0] % 8;
    fuzz_write("graph.json", data + 1, n - 1);
    json_t *json = json_file_read(fuzz_path("graph.json"), &err);
    if (json_is_object(json)) {
        struct operator_graph g;
        uint32_t *order;
        int status = operator_file_read(json, &g, &order, &err);
        if ((status == 0) != (err.n_errors == 0))
            abort();
        if (status == 0 && g.n >= parts && g.n <= OPERATORS_MOST)
            divide(&g, order, parts);
        free(order);
        operator_graph_free(&g);
    }
    json_decref(json);
    err_free(&err);
    return 0;
}

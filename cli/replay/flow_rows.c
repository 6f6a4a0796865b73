// SPDX-License-Identifier: MIT
// Lists that grow by doubling, and a table of addresses.
#include "cli/replay/flow_rows.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

_Static_assert(sizeof(struct flow_row) == 32, "bytes a message");

void flow_rows_free(struct flow_rows *rows)
{
    free(rows->endpoints);
    table_free(&rows->endpoint_of);
    free(rows->rows);
    *rows = (struct flow_rows){0};
}

uint32_t endpoint_get(struct flow_rows *rows, const struct address *address)
{
    size_t *place = table_at(&rows->endpoint_of, address, sizeof *address);
    if (*place > 0)
        return (uint32_t)(*place - 1);
    if (rows->n_endpoints == rows->cap_endpoints)
        rows->endpoints =
            memory_grow(rows->endpoints, &rows->cap_endpoints, sizeof *rows->endpoints);
    rows->endpoints[rows->n_endpoints] = (struct endpoint){.address = *address};
    *place = ++rows->n_endpoints;
    return (uint32_t)(*place - 1);
}

bool flow_row_add(struct flow_rows *rows, uint32_t src, uint32_t dst, uint64_t bytes,
                  int64_t start_ns, int64_t end_ns, enum flow_origin origin)
{
    if (bytes == 0) {
        rows->left[LEFT_EMPTY]++;
        return false;
    }
    if (rows->n_rows == FLOW_ROWS_MAX) {
        rows->left[LEFT_ROWS]++;
        return false;
    }
    if (rows->n_rows == rows->cap_rows)
        rows->rows = memory_grow(rows->rows, &rows->cap_rows, sizeof *rows->rows);
    rows->rows[rows->n_rows++] =
        (struct flow_row){.start_ns = start_ns,
                          .span_ns = end_ns >= start_ns ? end_ns - start_ns : -1,
                          .bytes = bytes,
                          .src = src,
                          .dst = dst & (FLOW_RANKS_MAX - 1),
                          .origin = origin & 3};
    return true;
}

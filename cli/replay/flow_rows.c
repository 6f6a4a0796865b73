// SPDX-License-Identifier: MIT
// Lists that grow by doubling, and a hash table of addresses.
#include "cli/replay/flow_rows.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

#define BUCKETS_MIN 256

_Static_assert(sizeof(struct flow_row) == 32, "bytes a message");

void flow_rows_free(struct flow_rows *rows)
{
    free(rows->endpoints);
    free(rows->buckets);
    free(rows->rows);
    *rows = (struct flow_rows){0};
}

static uint32_t *bucket_of(const struct flow_rows *rows, const struct address *address)
{
    uint64_t words[2];
    memcpy(words, address, sizeof words);
    size_t mask = rows->n_buckets - 1;
    for (size_t i = hash_mix(hash_mix(words[0]) + words[1]) & mask;; i = (i + 1) & mask) {
        uint32_t *bucket = &rows->buckets[i];
        if (*bucket == 0 ||
            memcmp(&rows->endpoints[*bucket - 1].address, address, sizeof *address) == 0)
            return bucket;
    }
}

static void buckets_double(struct flow_rows *rows)
{
    free(rows->buckets);
    rows->n_buckets = rows->n_buckets == 0 ? BUCKETS_MIN : 2 * rows->n_buckets;
    rows->buckets = memory_zeroed(rows->n_buckets, sizeof *rows->buckets);
    for (size_t i = 0; i < rows->n_endpoints; i++)
        *bucket_of(rows, &rows->endpoints[i].address) = (uint32_t)i + 1;
}

uint32_t endpoint_get(struct flow_rows *rows, const struct address *address)
{
    if (2 * (rows->n_endpoints + 1) > rows->n_buckets)
        buckets_double(rows);
    uint32_t *bucket = bucket_of(rows, address);
    if (*bucket > 0)
        return *bucket - 1;
    if (rows->n_endpoints == rows->cap_endpoints)
        rows->endpoints =
            memory_grow(rows->endpoints, &rows->cap_endpoints, sizeof *rows->endpoints);
    rows->endpoints[rows->n_endpoints] = (struct endpoint){.address = *address};
    *bucket = (uint32_t)++rows->n_endpoints;
    return *bucket - 1;
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

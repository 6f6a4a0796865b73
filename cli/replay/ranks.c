// SPDX-License-Identifier: MIT
// Ranks for addresses, and the list of flows between ranks.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/replay/address_map.h"
#include "cli/replay/replay.h"
#include "engine/base/memory.h"
#include "engine/base/units.h"

#define START_MAX_NS (100000 * INT64_C(1000000000)) // as in files of flows

/* ---- READs ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t pair_of(const struct flow_row *row) { return (uint64_t)row->src << 32 | row->dst; }

// Leave out flows known from requests if responses between the same endpoints were captured.
static void choose_reads(struct flow_rows *flows)
{
    uint64_t *pairs = NULL;
    size_t n = 0, cap = 0, kept = 0;
    for (size_t i = 0; i < flows->n_rows; i++) {
        if (flows->rows[i].origin != FLOW_READ_RESPONSE)
            continue;
        if (n > 0 && pairs[n - 1] == pair_of(&flows->rows[i]))
            continue;
        if (n == cap)
            pairs = memory_grow(pairs, &cap, sizeof *pairs);
        pairs[n++] = pair_of(&flows->rows[i]);
    }
    if (n == 0)
        return;
    qsort(pairs, n, sizeof *pairs, by_value);
    for (size_t i = 0; i < flows->n_rows; i++) {
        uint64_t pair = pair_of(&flows->rows[i]);
        if (flows->rows[i].origin != FLOW_REQUESTED ||
            bsearch(&pair, pairs, n, sizeof *pairs, by_value) == NULL)
            flows->rows[kept++] = flows->rows[i];
    }
    flows->n_rows = kept;
    free(pairs);
}

/* ---- ranks ---- */

static void mark_used(struct flow_rows *flows)
{
    for (size_t i = 0; i < flows->n_endpoints; i++)
        flows->endpoints[i].used = false;
    for (size_t i = 0; i < flows->n_rows; i++) {
        flows->endpoints[flows->rows[i].src].used = true;
        flows->endpoints[flows->rows[i].dst].used = true;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct endpoint *const *x = a, *const *y = b;
    return memcmp(&(*x)->address, &(*y)->address, sizeof(*x)->address);
}

// The endpoints that are used, in ascending order of their addresses.
static struct endpoint **used_endpoints(const struct flow_rows *flows, size_t *n)
{
    struct endpoint **list = memory_zeroed(flows->n_endpoints + 1, sizeof *list);
    *n = 0;
    for (size_t i = 0; i < flows->n_endpoints; i++)
        if (flows->endpoints[i].used)
            list[(*n)++] = &flows->endpoints[i];
    qsort(list, *n, sizeof *list, by_address);
    return list;
}

static void assign_ranks(struct flow_rows *flows, const struct address_map *map)
{
    size_t n;
    struct endpoint **list = used_endpoints(flows, &n);
    bool own = true;
    for (size_t i = 0; i < n; i++)
        own &= !list[i]->foreign;
    for (size_t i = 0; i < n; i++)
        list[i]->rank = map   ? address_map_find(map, &list[i]->address)
                        : own ? address_own_rank(&list[i]->address)
                              : (uint32_t)i;
    free(list);
}

static int by_start(const void *a, const void *b)
{
    const struct flow_row *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

// True if a message can be a flow.
static bool row_keep(struct replay *r, const struct flow_row *row)
{
    const struct endpoint *src = &r->flows.endpoints[row->src];
    const struct endpoint *dst = &r->flows.endpoints[row->dst];
    enum left why = LEFT_REASONS;
    if (src->rank >= FLOW_RANKS_MAX || dst->rank >= FLOW_RANKS_MAX)
        why = LEFT_UNMAPPED;
    else if (src->rank == dst->rank)
        why = LEFT_SAME_RANK;
    else if (row->start_ns - r->first_ns > START_MAX_NS)
        why = LEFT_LATE;
    if (why == LEFT_REASONS)
        return true;
    r->flows.left[why]++;
    return false;
}

void replay_rank(struct replay *r, const struct address_map *map)
{
    struct flow_rows *flows = &r->flows;
    size_t kept = 0;
    choose_reads(flows);
    mark_used(flows);
    assign_ranks(flows, map);
    for (size_t i = 0; i < flows->n_rows; i++)
        if (row_keep(r, &flows->rows[i]))
            flows->rows[kept++] = flows->rows[i];
    flows->n_rows = kept;
    mark_used(flows);
    for (size_t i = 0; i < flows->n_rows; i++) {
        struct flow_row *row = &flows->rows[i];
        row->src = flows->endpoints[row->src].rank;
        row->dst = flows->endpoints[row->dst].rank & (FLOW_RANKS_MAX - 1);
        row->start_ns -= r->first_ns;
    }
    if (kept > 0)
        qsort(flows->rows, flows->n_rows, sizeof *flows->rows, by_start);
}

/* ---- text ---- */

void replay_write(const struct replay *r, FILE *out)
{
    fputs("src,dst,bytes,start_ns,measured_ns\n", out);
    for (size_t i = 0; i < r->flows.n_rows; i++) {
        const struct flow_row *row = &r->flows.rows[i];
        fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRId64 ",", row->src,
                (uint32_t)row->dst, row->bytes, row->start_ns);
        if (row->span_ns > 0) // one packet has no duration
            fprintf(out, "%" PRId64, row->span_ns);
        fputc('\n', out);
    }
}

void replay_write_map(const struct replay *r, FILE *out)
{
    size_t n;
    struct endpoint **list = used_endpoints(&r->flows, &n);
    char text[ADDRESS_TEXT];
    fputs("address,rank\n", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s,%" PRIu32 "\n", address_text(&list[i]->address, text), list[i]->rank);
    free(list);
}

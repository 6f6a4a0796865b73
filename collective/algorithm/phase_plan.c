// SPDX-License-Identifier: MIT
// Plans the phases of a chunk.
//
// All-reduce over dimensions d0..dk: baseline = an all-reduce of all bytes in each dimension;
// bandwidth-aware = reduce-scatter d0..dk-1, all-reduce dk, all-gather dk-1..d0. Reduce-scatter and
// all-to-all visit dimensions in ascending order, all-gather in descending order. Round robin
// rotates that order by one dimension for every chunk. Themis reduce-scatters over all dimensions,
// the least loaded first, and all-gathers in reverse; if loads differ by less than a sixteenth of a
// chunk it keeps the ascending order.
// In a schedule by_operation, as in ASTRA-sim, an algorithm that moves only whole vectors takes the
// place of the reduce-scatter or all-gather of an all-reduce by an all-reduce of the same bytes.
// Sources: Rashidi et al., ISPASS 2020 (ASTRA-sim: baseline, bandwidth-aware); Rashidi et al., ISCA
// 2022 (Themis, algorithm 1). Sizes are divided without rounding, as there.
#include "collective/algorithm/phase_plan.h"

#define MIB 1048576.0

struct chain {          // phases under construction
    enum coll_op whole; // of the collective
    struct coll_phase *out;
    uint32_t n;
    uint64_t bytes;
    const struct coll_schedule *schedule;
};

static void add(struct chain *c, enum coll_op op, uint32_t dim)
{
    struct coll_phase phase = {(uint8_t)dim, (uint8_t)op, c->bytes};
    // An algorithm that moves whole vectors leaves each rank with the complete sum of this
    // dimension, so the phase is an all-reduce and the bytes stay what they are.
    if (c->whole == COLL_ALL_REDUCE && c->schedule->by_operation &&
        coll_choice_at(c->schedule, c->whole, &phase)->algorithm->never_splits)
        phase.op = (uint8_t)(op = COLL_ALL_REDUCE);
    c->out[c->n++] = phase;
    uint32_t size = c->schedule->dim_size[dim];
    // The phases that follow work on the part of the vector that this one leaves to each rank.
    if (op == COLL_REDUCE_SCATTER)
        c->bytes /= size;
    else if (op == COLL_ALL_GATHER)
        c->bytes *= size;
}

void coll_planner_init(struct coll_planner *p, const struct coll_schedule *schedule)
{
    *p = (struct coll_planner){.schedule = schedule, .begun_ps = PS_NEVER};
}

void coll_planner_begin(struct coll_planner *p, ps_t now)
{
    // Collectives that begin at one instant run side by side, so they share the loads.
    if (p->begun_ps == now)
        return;
    p->begun_ps = now;
    for (uint8_t d = 0; d < COLL_MAX_DIMS; d++) {
        p->load[d] = 0;
        p->sorted[d] = d;
    }
}

// Sort dimensions by load; equal ones keep their order.
static void sort_by_load(struct coll_planner *p, bool descending)
{
    for (uint32_t i = 1; i < p->schedule->n_dims; i++) {
        uint8_t dim = p->sorted[i];
        uint32_t at = i;
        for (; at > 0 && p->load[p->sorted[at - 1]] > p->load[dim]; at--)
            p->sorted[at] = p->sorted[at - 1];
        p->sorted[at] = dim;
    }
    for (uint32_t i = 0, n = p->schedule->n_dims; descending && i < n / 2; i++) {
        uint8_t dim = p->sorted[i];
        p->sorted[i] = p->sorted[n - 1 - i];
        p->sorted[n - 1 - i] = dim;
    }
}

static double load_of(const struct coll_schedule *s, uint32_t dim, uint64_t bytes, bool gather)
{
    double others = (double)(s->dim_size[dim] - 1);
    // The load is what a rank sends along the dimension, in MiB, scaled to the bandwidth of
    // dimension 0. In an all-gather `bytes` is the part of one rank, and the parts of the others
    // come in.
    double share = gather ? others : others / s->dim_size[dim];
    return (double)bytes / MIB * share * s->dim_bandwidth[0] / s->dim_bandwidth[dim];
}

// Bytes of a chunk that would add the difference of the loads to the first dimension (for an
// all-gather: to the last one).
static uint64_t uneven_bytes(const struct coll_planner *p, const uint8_t *dims, uint32_t n,
                             bool gather)
{
    const struct coll_schedule *s = p->schedule;
    double apart = p->load[p->sorted[s->n_dims - 1]] - p->load[gather ? p->sorted[0] : dims[0]];
    return (uint64_t)((apart < 0 ? -apart : apart) /
                      load_of(s, gather ? dims[n - 1] : dims[0], (uint64_t)MIB, gather) * MIB);
}

// Write the order in which Themis visits the dimensions of `in`, at least one, and add their loads.
static void themis_order(struct coll_planner *p, enum coll_op op, uint64_t bytes, const bool *in,
                         uint8_t *dims, uint32_t n)
{
    const struct coll_schedule *s = p->schedule;
    bool gather = op == COLL_ALL_GATHER;
    uint8_t chosen[COLL_MAX_DIMS];
    uint32_t k = 0;
    // The bytes grow during an all-gather, so it begins with the most loaded dimension; they shrink
    // during a reduce-scatter, which begins with the least loaded one.
    sort_by_load(p, gather);
    for (uint32_t i = 0; i < s->n_dims; i++)
        if (in[p->sorted[i]])
            chosen[k++] = p->sorted[i];
    bool uneven = uneven_bytes(p, chosen, n, gather) >= bytes / 16;
    for (uint32_t i = 0; i < n && uneven; i++)
        dims[i] = chosen[i];
    for (uint8_t i = 0; i < s->n_dims && !uneven; i++) // equal loads: ascending order
        p->sorted[i] = gather ? (uint8_t)(s->n_dims - 1 - i) : i;
    for (uint32_t i = 0; i < n; i++) {
        // The next dimension works on what this one leaves: more bytes in an all-gather, fewer
        // else.
        p->load[dims[i]] += load_of(s, dims[i], bytes, gather);
        bytes = gather ? bytes * s->dim_size[dims[i]] : bytes / s->dim_size[dims[i]];
    }
}

// Order the dimensions that take part by the schedule (except Themis). Returns their number.
static uint32_t ordered_dims(struct coll_planner *p, enum coll_op op, const bool *in, uint8_t *dims)
{
    const struct coll_schedule *s = p->schedule;
    uint32_t n = 0, turn = 0;
    if (s->order == COLL_ROUND_ROBIN) {
        // Every chunk begins one dimension later, so that chunks load the dimensions evenly.
        turn = p->turn;
        p->turn = (turn + 1) % s->n_dims;
    }
    for (uint32_t i = 0; i < s->n_dims; i++) {
        uint32_t at = (i + turn) % s->n_dims;
        uint32_t dim = op == COLL_ALL_GATHER ? s->n_dims - 1 - at : at;
        if (in[dim])
            dims[n++] = (uint8_t)dim;
    }
    return n;
}

static void all_reduce(struct chain *c, const uint8_t *dims, uint32_t n)
{
    const struct coll_schedule *s = c->schedule;
    if (s->order != COLL_THEMIS && s->phases == COLL_BASELINE) {
        for (uint32_t i = 0; i < n; i++)
            add(c, COLL_ALL_REDUCE, dims[i]);
        return;
    }
    bool scatter_all = s->order == COLL_THEMIS;
    uint32_t scattered = scatter_all ? n : n - 1;
    for (uint32_t i = 0; i < scattered; i++)
        add(c, COLL_REDUCE_SCATTER, dims[i]);
    if (!scatter_all)
        add(c, COLL_ALL_REDUCE, dims[n - 1]);
    for (uint32_t i = scattered; i-- > 0;)
        add(c, COLL_ALL_GATHER, dims[i]);
}

uint32_t coll_plan(struct coll_planner *p, enum coll_op op, uint32_t dims, uint64_t bytes,
                   struct coll_phase out[COLL_MAX_PHASES])
{
    const struct coll_schedule *s = p->schedule;
    struct chain chain = {.whole = op, .out = out, .bytes = bytes, .schedule = s};
    uint8_t order[COLL_MAX_DIMS];
    bool in[COLL_MAX_DIMS] = {false}, all = true;
    for (uint32_t d = 0; d < s->n_dims; d++) {
        // A dimension with one rank needs no messages.
        in[d] = (dims >> d & 1) && s->dim_size[d] > 1;
        all = all && (in[d] || s->dim_size[d] == 1);
    }
    uint32_t n = ordered_dims(p, op, in, order);
    if (n == 0)
        return 0;
    // A collective over all ranks may use one algorithm over all of them at once; a subset of the
    // dimensions is no such group.
    if (all && s->flat[op]) {
        out[0] = (struct coll_phase){(uint8_t)s->n_dims, (uint8_t)op, bytes};
        return 1;
    }
    // The phases of an all-to-all carry all bytes in any order, so no order balances them.
    if (s->order == COLL_THEMIS && op != COLL_ALL_TO_ALL)
        themis_order(p, op, bytes, in, order, n);
    if (op == COLL_ALL_REDUCE)
        all_reduce(&chain, order, n);
    else
        for (uint32_t i = 0; i < n; i++)
            add(&chain, op, order[i]);
    return chain.n;
}

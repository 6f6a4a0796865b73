// SPDX-License-Identifier: MIT
// All chunks have the same integer size, except that the last one takes the remainder; there are no
// more chunks than a rank holds bytes. An all-gather is cut by the size of a rank's own part.
#include "collective/instance.h"

#include <stdlib.h>

#include "collective/algorithm/graph_collective.h"
#include "collective/comm_internal.h"
#include "engine/base/memory.h"

// Vector bytes per byte of a rank's contribution: the ranks for an all-gather, else 1.
static uint32_t unit_of(const struct instance *in)
{
    return in->request.op == COLL_ALL_GATHER ? in->span : 1;
}

struct coll_range instance_chunk(const struct instance *in, uint32_t c)
{
    uint64_t unit = unit_of(in), piece = in->bytes / unit / in->n_chunks * unit;
    bool last = c + 1 == in->n_chunks;
    return (struct coll_range){c * piece, last ? in->bytes : (c + 1) * piece};
}

struct coll_shape instance_shape(const struct coll_schedule *s, const struct instance *in,
                                 uint32_t chunk, uint32_t i, uint32_t group)
{
    const struct coll_phase *phase = instance_phase(in, chunk, i);
    struct coll_range range = coll_phase_range(s, instance_phase(in, chunk, 0), in->n_phases, i,
                                               group, instance_chunk(in, chunk));
    bool exchange = phase->op == COLL_ALL_TO_ALL;
    return (struct coll_shape){.op = (enum coll_op)phase->op,
                               .ranks = coll_group_size(s, phase->dim),
                               .bytes = range.end - range.first,
                               .root = in->request.root,
                               .inner = in->request.inner,
                               .params = coll_choice_at(s, in->request.op, phase)->params,
                               .uneven = exchange ? in->request.uneven : NULL,
                               .reduction = coll_reduction_of(s, phase->dim, group),
                               .chunk = chunk,
                               .chunks = in->n_chunks};
}

static uint32_t count_groups(const struct coll_schedule *s)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d <= s->n_dims; d++)
        n += coll_n_groups(s, d);
    return n;
}

static void plan_chunks(struct instance *in, struct coll_planner *planner, ps_t now)
{
    const struct coll_schedule *s = planner->schedule;
    struct coll_phase phases[COLL_MAX_PHASES];
    uint32_t runs = 0;
    coll_planner_begin(planner, now);
    for (uint32_t c = 0; c < in->n_chunks; c++) {
        struct coll_range range = instance_chunk(in, c);
        uint64_t bytes = (range.end - range.first) / unit_of(in);
        in->n_phases = coll_plan(planner, in->request.op, in->request.dims, bytes, phases);
        if (in->n_phases == 0)
            return;
        if (comm_by_library(s))
            in->n_phases = 1; // as a whole
        // All chunks have equally many phases, so the arrays can be made when the first chunk is
        // planned.
        if (c == 0) {
            size_t n = (size_t)in->n_chunks * in->n_phases;
            in->phases = memory_zeroed(n, sizeof *in->phases);
            in->first_run = memory_zeroed(n, sizeof *in->first_run);
            in->record_phase = memory_zeroed(n, 1);
        }
        for (uint32_t i = 0; i < in->n_phases; i++) {
            size_t at = (size_t)c * in->n_phases + i;
            in->phases[at] = phases[i];
            // A phase has one run for each group of its dimension.
            in->first_run[at] = runs;
            in->phases_of[phases[i].dim]++;
            runs += coll_n_groups(s, phases[i].dim);
        }
    }
    in->runs = memory_zeroed(runs, sizeof(struct phase_run *));
    in->members_begun = memory_zeroed(runs, sizeof *in->members_begun);
    in->members_over = memory_zeroed(runs, sizeof *in->members_over);
}

// Bytes of a vector after conversion to the precision in which it is sent, at least one.
static uint64_t wire_bytes(const struct coll_schedule *s, uint64_t bytes)
{
    if (s->wire_factor <= 0 || s->wire_factor == 1 || bytes == 0)
        return bytes;
    double sent = (double)bytes * s->wire_factor;
    // Rounding must not make a vector vanish, since its messages must be sent.
    return sent > 1 ? (uint64_t)(sent + 0.5) : 1;
}

struct instance *instance_new(struct coll_planner *planner, const struct comm_request *request,
                              ps_t now)
{
    const struct coll_schedule *s = planner->schedule;
    struct instance *in = memory_zeroed(1, sizeof *in);
    uint32_t ranks = coll_ranks(s);
    in->request = *request;
    in->start_ps = now;
    in->span = coll_span(s, request->dims);
    in->bytes = wire_bytes(s, request->bytes);
    uint64_t held = in->bytes / unit_of(in);
    // A library cuts the data into chunks itself, and a recorded graph contains the messages of all
    // chunks.
    bool whole = comm_by_library(s) || coll_graph_of(s, request->op) != NULL;
    uint64_t chunks = whole ? 1 : s->chunks;
    in->n_chunks = (uint32_t)(chunks < held ? chunks : held > 0 ? held : 1);
    in->ranks_left = ranks;
    plan_chunks(in, planner, now);
    if (in->n_phases == 0)
        return in;
    in->at = memory_zeroed((size_t)in->n_chunks * ranks, 1);
    in->chunks_left = memory_zeroed(ranks, sizeof *in->chunks_left);
    in->tickets = memory_zeroed(ranks, sizeof *in->tickets);
    in->busy = memory_zeroed(count_groups(s), sizeof *in->busy);
    for (uint32_t r = 0; r < ranks; r++)
        in->chunks_left[r] = in->n_chunks;
    return in;
}

void instance_free(struct instance *in)
{
    if (!in)
        return;
    free(in->phases);
    free(in->record_phase);
    free(in->first_run);
    free(in->runs);
    free(in->members_begun);
    free(in->members_over);
    free(in->at);
    free(in->chunks_left);
    free(in->tickets);
    free(in->busy);
    free(in->libraries);
    free(in);
}

uint64_t volume_of(const struct coll_algorithm *a, const struct coll_phase *phase,
                   const struct coll_shape *shape, struct volume *kept)
{
    struct volume *slot = &kept[(shape->bytes + phase->dim * 7 + phase->op * 17) % VOLUMES_KEPT];
    // The key does not cover the matrix of an uneven exchange, so its bytes are computed each time.
    if (slot->algorithm == a && slot->phase.bytes == shape->bytes &&
        slot->reduction == shape->reduction && slot->phase.dim == phase->dim &&
        slot->phase.op == phase->op && slot->bytes > 0 && shape->uneven == NULL)
        return slot->bytes;
    *slot = (struct volume){a, {phase->dim, phase->op, shape->bytes}, shape->reduction, 0};
    return slot->bytes = coll_bytes_of_all(a, shape);
}

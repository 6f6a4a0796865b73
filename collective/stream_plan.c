// SPDX-License-Identifier: MIT
// A collective is cut into chunks of equal size: a remainder makes one more whole chunk. A chunk's
// phases are those of collective/algorithm/phase_plan.c in fixed order; sizes are divided with
// rounding down.
#include <string.h>

#include "collective/algorithm/graph_collective.h"
#include "collective/algorithm/grid.h"
#include "collective/stream_internal.h"

// Dimensions that a collective runs over.
static uint32_t dims_of(const struct communicator *c, const struct comm_request *request)
{
    const struct coll_schedule *s = &c->schedule;
    uint32_t dims = 0;
    for (uint32_t d = 0; d < s->n_dims; d++)
        if (s->dim_size[d] > 1)
            dims |= UINT32_C(1) << d;
    return dims & request->dims & s->op_dims[request->op];
}

uint64_t stream_chunks(const struct communicator *c, const struct comm_request *request,
                       uint32_t *n)
{
    const struct coll_schedule *s = &c->schedule;
    bool gathers = request->op == COLL_ALL_GATHER;
    uint64_t size = request->bytes, least = s->streams.least_chunk;
    if (gathers)
        size /= s->flat[COLL_ALL_GATHER] ? coll_ranks(s)
                                         : coll_span(s, request->dims & s->op_dims[request->op]);
    uint64_t chunk = size / s->chunks;
    if (!gathers && chunk < least) {
        chunk = least;
        size = s->chunks * chunk;
    }
    if (chunk == 0)
        chunk = size;
    // A graph describes a whole collective, which is therefore not cut.
    if (coll_graph_of(s, request->op) != NULL)
        chunk = size;
    *n = chunk > 0 ? (uint32_t)((size + chunk - 1) / chunk) : 1;
    return chunk;
}

enum turn { TURN_ANY, TURN_FIRST, TURN_LAST };

// Assign the queues of a dimension in turn: all of them, or the first or the second half.
static void queue_set(const struct stream *s, struct rank_streams *streams, enum turn turn,
                      struct stream_phase *phase)
{
    uint32_t rank = stream_rank(s);
    struct rank_state *state = &streams->ranks[rank];
    const struct coll_schedule *schedule = &s->set->comm->schedule;
    // a phase over all ranks at once uses the queues of the first dimension
    uint32_t n = streams->queues, dim = phase->dim < schedule->n_dims ? phase->dim : 0, i;
    if (turn == TURN_ANY) {
        i = state->turn[dim].any;
        phase->anticlockwise = n > 1 && i >= n / 2;
        state->turn[dim].any = i + 1 < n ? i + 1 : 0;
    } else if (turn == TURN_FIRST) {
        i = state->turn[dim].first;
        state->turn[dim].first = i + 1 < n / 2 ? i + 1 : 0;
    } else {
        i = n / 2 + state->turn[dim].last;
        phase->anticlockwise = true;
        state->turn[dim].last = i + 1 < n ? i + 1 - n / 2 : 0;
    }
    phase->queue = dim * n + i;
}

// Add a phase of `bytes`; returns the bytes that the rank holds after it.
static uint64_t phase_add(struct stream *s, struct rank_streams *streams, uint32_t dim,
                          enum coll_op op, enum turn turn, uint64_t bytes)
{
    const struct comm_request *request = &s->set->instance->request;
    const struct coll_schedule *schedule = &s->set->comm->schedule;
    uint32_t rank = stream_rank(s), n = coll_group_size(schedule, dim);
    struct stream_phase *phase = &s->phases[s->n_phases++];
    *phase = (struct stream_phase){.dim = (uint8_t)dim,
                                   .op = (uint8_t)op,
                                   .bytes = bytes,
                                   .choice = &schedule->choice[request->op][dim]};
    queue_set(s, streams, turn, phase);
    if (strcmp(phase->choice->algorithm->name, "double_binary_tree") == 0) {
        phase->op = COLL_ALL_REDUCE; // whatever the operation
        phase->tree = streams->ranks[rank].trees[request->op][dim]++ % 2;
        return bytes;
    }
    return op == COLL_REDUCE_SCATTER ? bytes / n : op == COLL_ALL_GATHER ? bytes * n : bytes;
}

static void plan_both_ways(struct stream *s, struct rank_streams *streams, uint32_t dims,
                           uint64_t bytes)
{
    uint32_t n_dims = s->set->comm->schedule.n_dims, last = 0;
    for (uint32_t d = 0; d < n_dims; d++)
        if ((dims >> d & 1) != 0)
            last = d;
    for (uint32_t d = 0; d < last; d++)
        if ((dims >> d & 1) != 0)
            bytes = phase_add(s, streams, d, COLL_REDUCE_SCATTER, TURN_FIRST, bytes);
    bytes = phase_add(s, streams, last, COLL_ALL_REDUCE, TURN_FIRST, bytes);
    for (uint32_t d = last; d-- > 0;)
        if ((dims >> d & 1) != 0)
            bytes = phase_add(s, streams, d, COLL_ALL_GATHER, TURN_LAST, bytes);
}

void stream_plan(struct stream *s, struct rank_streams *streams, const struct comm_request *request,
                 uint64_t bytes)
{
    const struct communicator *c = s->set->comm;
    const struct coll_schedule *schedule = &c->schedule;
    const struct coll_graph *graph = coll_graph_of(schedule, request->op);
    uint32_t n_dims = schedule->n_dims, dims = dims_of(c, request);
    bool reduces = request->op == COLL_ALL_REDUCE, gathers = request->op == COLL_ALL_GATHER;
    s->n_phases = 0;
    if (graph != NULL) { // in the first queue, and without a turn of the queues
        s->phases[s->n_phases++] =
            (struct stream_phase){.dim = (uint8_t)n_dims,
                                  .op = (uint8_t)request->op,
                                  .bytes = bytes,
                                  .choice = &schedule->choice[request->op][n_dims],
                                  .graph = graph};
        return;
    }
    if (dims == 0)
        return;
    if (schedule->flat[request->op]) {
        bool whole = reduces && schedule->phases == COLL_BANDWIDTH_AWARE;
        phase_add(s, streams, n_dims, request->op, whole ? TURN_FIRST : TURN_ANY, bytes);
    } else if (reduces && schedule->phases == COLL_BANDWIDTH_AWARE) {
        plan_both_ways(s, streams, dims, bytes);
    } else {
        for (uint32_t i = 0; i < n_dims; i++) {
            uint32_t d = gathers ? n_dims - 1 - i : i;
            if ((dims >> d & 1) != 0)
                bytes = phase_add(s, streams, d, request->op, TURN_ANY, bytes);
        }
    }
}

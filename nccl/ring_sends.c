// SPDX-License-Identifier: MIT
// Rules of device/all_reduce.h, all_gather.h, reduce_scatter.h and prims_simple.h.
#include "nccl/ring_sends.h"

#include "nccl/rules.h"

#define CHUNK_ALIGN 16    // bytes
#define SLICE_ELEMENTS 16 // slices are whole groups of so many elements
#define LEAST_SLICE 32    // a slice is at least this part of the largest one

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

struct sending {
    const struct nccl_ring_part *part;
    void (*each)(void *ctx, const struct nccl_send *send);
    void *ctx;
};

// Send a chunk, slice by slice.
static void send_chunk(const struct sending *s, uint32_t loop, uint32_t step, uint64_t bytes)
{
    const struct nccl_ring_part *p = s->part;
    uint32_t slices = p->chunking.chunk_steps / p->chunking.slice_steps;
    uint64_t grain = (uint64_t)SLICE_ELEMENTS * p->element_bytes,
             largest = p->chunking.chunk_bytes / slices,
             slice = nccl_round_up(nccl_round_up(bytes, slices) / slices, grain);
    slice = slice > largest / LEAST_SLICE ? slice : largest / LEAST_SLICE;
    if (slices == 1)
        slice = bytes;
    for (uint32_t i = 0; i < slices; i++) {
        uint64_t now = lesser(slice, bytes);
        struct nccl_send send = {loop, step, i, now, nccl_wire_bytes(p->protocol, now)};
        s->each(s->ctx, &send);
        bytes -= now;
    }
}

// A loop of an all-reduce covers a chunk for each rank. The rank at position i begins with the
// chunk of the rank before it.
static void all_reduce_loop(const struct sending *s, uint32_t loop, uint64_t rest)
{
    const struct nccl_ring_part *p = s->part;
    uint64_t chunk = p->chunking.chunk_bytes;
    if (rest < chunk * p->ranks)
        chunk = nccl_round_up((rest + p->ranks - 1) / p->ranks, CHUNK_ALIGN);
    for (uint32_t step = 0; step < 2 * (p->ranks - 1); step++) {
        uint32_t which = (p->at + 2 * p->ranks - 1 - step % p->ranks) % p->ranks;
        uint64_t from = which * chunk;
        send_chunk(s, loop, step, from < rest ? lesser(chunk, rest - from) : 0);
    }
}

void nccl_ring_sends(const struct nccl_ring_part *p,
                     void (*each)(void *ctx, const struct nccl_send *send), void *ctx)
{
    const struct sending s = {p, each, ctx};
    bool chain = nccl_is_chain(p->function);
    bool all_reduce = p->function == NCCL_ALL_REDUCE;
    uint64_t covers = p->chunking.chunk_bytes * (all_reduce ? p->ranks : 1);
    uint32_t steps = chain ? p->at + 1 < p->ranks : p->ranks - 1, loop = 0;
    for (uint64_t from = 0; from < p->bytes; from += covers, loop++) {
        if (all_reduce) {
            all_reduce_loop(&s, loop, p->bytes - from);
            continue;
        }
        for (uint32_t step = 0; step < steps; step++)
            send_chunk(&s, loop, step, lesser(covers, p->bytes - from));
    }
}

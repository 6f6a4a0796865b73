// SPDX-License-Identifier: MIT
// Rules of device/all_reduce.h, all_gather.h, reduce_scatter.h and prims_simple.h.
#include "collective/nccl/ring_slices.h"

#include "collective/nccl/rules.h"

#define SLICE_ELEMENTS 16 // slices are whole groups of so many elements
#define LEAST_SLICE 32    // a slice is at least this part of the largest one

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint32_t slices_of(const struct nccl_ring_part *p)
{
    return p->chunking.chunk_steps / p->chunking.slice_steps;
}

// Bytes that a loop covers.
static uint64_t loop_bytes(const struct nccl_ring_part *p)
{
    return p->chunking.chunk_bytes * (p->function == NCCL_ALL_REDUCE ? p->ranks : 1);
}

// Steps that a rank takes in one loop over the ring. It only receives in the last of them. A chain
// (broadcast, reduce) has one step.
static uint32_t loop_steps(const struct nccl_ring_part *p)
{
    if (nccl_is_chain(p->function))
        return 1;
    return p->function == NCCL_ALL_REDUCE ? 2 * p->ranks - 1 : p->ranks;
}

uint64_t nccl_ring_length(const struct nccl_ring_part *p)
{
    uint64_t covers = loop_bytes(p);
    return (p->bytes + covers - 1) / covers * loop_steps(p) * slices_of(p);
}

// Bytes of the chunk of a step. In an all-reduce the rank at position i begins with the chunk of
// the rank before it.
static uint64_t chunk_bytes(const struct nccl_ring_part *p, uint64_t rest, uint32_t step)
{
    uint64_t chunk = p->chunking.chunk_bytes;
    if (p->function != NCCL_ALL_REDUCE)
        return lesser(chunk, rest);
    // The ranks share the rest of the last loop equally.
    if (rest < chunk * p->ranks)
        chunk = nccl_round_up((rest + p->ranks - 1) / p->ranks, p->chunking.rest_align);
    uint64_t from = (p->at + 2 * p->ranks - 1 - step % p->ranks) % p->ranks * chunk;
    return from < rest ? lesser(chunk, rest - from) : 0;
}

uint64_t nccl_slice_bytes(const struct nccl_chunking *k, uint32_t element_bytes, uint64_t bytes,
                          uint32_t slice)
{
    uint32_t slices = k->chunk_steps / k->slice_steps;
    if (slices == 1)
        return bytes;
    uint64_t grain = (uint64_t)SLICE_ELEMENTS * element_bytes,
             least = k->chunk_bytes / slices / LEAST_SLICE,
             each = nccl_round_up(nccl_round_up(bytes, slices) / slices, grain);
    each = each > least ? each : least;
    return slice * each < bytes ? lesser(each, bytes - slice * each) : 0;
}

struct nccl_slice nccl_ring_slice(const struct nccl_ring_part *p, uint64_t i)
{
    uint32_t slices = slices_of(p), steps = loop_steps(p), n = p->ranks;
    struct nccl_slice s = {.loop = (uint32_t)(i / slices / steps),
                           .step = (uint32_t)(i / slices % steps),
                           .slice = (uint32_t)(i % slices)};
    uint64_t rest = p->bytes - s.loop * loop_bytes(p);
    s.bytes =
        nccl_slice_bytes(&p->chunking, p->element_bytes, chunk_bytes(p, rest, s.step), s.slice);
    bool chain = nccl_is_chain(p->function);
    s.receives = chain ? p->at > 0 : s.step > 0;
    s.sends = chain ? p->at + 1 < n : s.step + 1 < steps;
    s.reduces = s.receives && (p->function == NCCL_REDUCE || p->function == NCCL_REDUCE_SCATTER ||
                               (p->function == NCCL_ALL_REDUCE && s.step < n));
    return s;
}

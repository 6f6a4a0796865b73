// SPDX-License-Identifier: MIT
// Rules of msccl_interpreter.h and msccl_setup.cc (mscclSetupCount).
#include "collective/nccl/xml/operation.h"

#include <stdlib.h>

#include "collective/nccl/ring_slices.h"
#include "engine/base/memory.h"

#define CHUNK_STEPS 4 // of the buffer, under Simple
#define SLICE_STEPS 2
#define ELEMENT_BYTES 4 // of NCCL's tests: float

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

static struct nccl_chunking chunking_of(const struct nccl_cluster *cluster,
                                        enum nccl_protocol protocol)
{
    bool sliced = protocol == NCCL_SIMPLE;
    struct nccl_chunking k = {.chunk_steps = sliced ? CHUNK_STEPS : 1,
                              .slice_steps = sliced ? SLICE_STEPS : 1};
    k.chunk_bytes = k.chunk_steps * nccl_step_bytes(cluster, protocol);
    return k;
}

uint64_t xml_piece_max(const struct nccl_cluster *cluster, enum nccl_protocol protocol)
{
    return chunking_of(cluster, protocol).chunk_bytes;
}

uint64_t xml_operation_max(const struct xml_algorithm *a, const struct nccl_cluster *cluster,
                           uint64_t limit_bytes)
{
    uint64_t most = limit_bytes > 0 ? limit_bytes : xml_piece_max(cluster, a->protocol);
    return a->together_least > 1 ? most / a->together_least * a->n_chunks : UINT64_MAX;
}

void xml_messages_fit(enum nccl_protocol protocol, uint32_t *slices, uint32_t *window)
{
    bool sliced = protocol == NCCL_SIMPLE;
    *slices = sliced ? CHUNK_STEPS / SLICE_STEPS : 1;
    *window = sliced ? NCCL_STEPS / SLICE_STEPS : NCCL_STEPS;
}

// Primitives of a step in a loop.
static uint32_t primitives_of(const struct xml_operation *o, const struct xml_step *s)
{
    if (s->type == XML_NOP)
        return 1;
    uint32_t parts = o->algorithm->own_sizes ? 1 : (s->count + o->together - 1) / o->together;
    // Only data that cross a connection are cut into slices.
    return xml_sends(s) || xml_receives(s) ? parts * o->slices : parts;
}

void xml_operation_init(struct xml_operation *o, const struct xml_algorithm *a,
                        const struct nccl_cluster *cluster, uint64_t limit_bytes, uint64_t bytes)
{
    uint64_t most = limit_bytes > 0 ? limit_bytes : xml_piece_max(cluster, a->protocol);
    *o = (struct xml_operation){.algorithm = a,
                                .chunking = chunking_of(cluster, a->protocol),
                                .chunk_bytes = (bytes + a->n_chunks - 1) / a->n_chunks};
    o->slices = o->chunking.chunk_steps / o->chunking.slice_steps;
    o->piece_bytes = lesser(most, o->chunk_bytes);
    o->loops = bytes > 0 ? (o->chunk_bytes + most - 1) / most : 0;
    // The steps of such a file state their own bytes, so the operation is not cut into loops.
    if (a->own_sizes) {
        o->piece_bytes = o->chunk_bytes = most;
        o->loops = 1;
    }
    // As many chunks as fit into a piece are moved together.
    uint64_t together = o->piece_bytes > 0 ? most / o->chunk_bytes : 1;
    o->together = (uint32_t)lesser(together > 0 ? together : 1, XML_COUNT_MAX);
    // A block has one entry more than it has steps, for the end of its last step.
    o->before = memory_zeroed((size_t)a->n_steps + a->n_blocks, sizeof *o->before);
    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct xml_block *block = &a->blocks[b];
        uint32_t *before = &o->before[block->first_step + b];
        for (uint32_t i = 0; i < block->n_steps; i++)
            before[i + 1] = before[i] + primitives_of(o, &a->steps[block->first_step + i]);
    }
}

void xml_operation_free(struct xml_operation *o) { free(o->before); }

static const uint32_t *before_of(const struct xml_operation *o, uint32_t block)
{
    return &o->before[o->algorithm->blocks[block].first_step + block];
}

static uint64_t loop_length(const struct xml_operation *o, uint32_t block)
{
    return before_of(o, block)[o->algorithm->blocks[block].n_steps];
}

uint64_t xml_block_length(const struct xml_operation *o, uint32_t block)
{
    return o->loops * loop_length(o, block);
}

uint64_t xml_block_messages(const struct xml_operation *o, uint32_t block)
{
    const struct xml_block *b = &o->algorithm->blocks[block];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->n_steps; i++) {
        const struct xml_step *s = &o->algorithm->steps[b->first_step + i];
        if (xml_receives(s))
            sum += primitives_of(o, s);
    }
    return sum * o->loops;
}

// The step that has primitive `at` of a loop.
static uint32_t step_of(const struct xml_operation *o, uint32_t block, uint64_t at)
{
    const uint32_t *before = before_of(o, block);
    uint32_t low = 0, high = o->algorithm->blocks[block].n_steps - 1;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (before[middle] <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

struct xml_primitive xml_primitive(const struct xml_operation *o, uint32_t block, uint64_t i)
{
    const struct xml_algorithm *a = o->algorithm;
    const struct xml_block *b = &a->blocks[block];
    uint64_t length = loop_length(o, block), loop = i / length, at = i % length;
    uint32_t number = step_of(o, block, at);
    const struct xml_step *s = &a->steps[b->first_step + number];
    struct xml_primitive p = {.idle = s->type == XML_NOP,
                              .takes_ps = s->takes_ps,
                              .joined = s->joined,
                              .after = XML_NONE};
    bool moves = xml_sends(s) || xml_receives(s);
    at -= before_of(o, block)[number];
    // A step waits for the other block once, before its first primitive.
    if (at == 0 && s->after_block != XML_NONE) {
        p.after = s->after_block;
        uint32_t before = a->gpus[b->gpu].first_block + s->after_block;
        p.after_length = loop * loop_length(o, before) + before_of(o, before)[s->after_step + 1];
    }
    if (p.idle)
        return p;
    uint32_t slices = moves ? o->slices : 1, part = (uint32_t)at / slices,
             slice = (uint32_t)at % slices, left = s->count - part * o->together;
    // The last loop has the bytes that are left.
    uint64_t piece = lesser(o->piece_bytes, o->chunk_bytes - loop * o->piece_bytes),
             bytes = piece * lesser(left, o->together);
    if (a->own_sizes)
        bytes = s->count;
    if (slices > 1)
        bytes = nccl_slice_bytes(&o->chunking, ELEMENT_BYTES, bytes, slice);
    p.primitive = (struct nccl_primitive){.receives = xml_receives(s),
                                          .sends = xml_sends(s),
                                          .bytes = bytes,
                                          .slots = o->chunking.slice_steps,
                                          .step = (uint32_t)loop * b->n_steps + number,
                                          .slice = (uint32_t)at,
                                          .reduces = xml_reduces(s)};
    return p;
}

// Of all messages of a block in one loop.
static uint64_t loop_bytes(const struct xml_operation *o, uint32_t block, uint64_t loop)
{
    uint64_t length = loop_length(o, block), sum = 0;
    for (uint64_t i = 0; i < length; i++) {
        struct xml_primitive p = xml_primitive(o, block, loop * length + i);
        if (p.primitive.sends)
            sum += nccl_wire_bytes(o->algorithm->protocol, p.primitive.bytes);
    }
    return sum;
}

uint64_t xml_operation_bytes(const struct xml_operation *o)
{
    uint64_t sum = 0;
    for (uint32_t b = 0; o->loops > 0 && b < o->algorithm->n_blocks; b++)
        // All loops but the last have the same sizes.
        sum += (o->loops - 1) * loop_bytes(o, b, 0) + loop_bytes(o, b, o->loops - 1);
    return sum;
}

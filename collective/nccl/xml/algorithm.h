// SPDX-License-Identifier: MIT
// An algorithm that files give: the steps of every thread block of every GPU, as MSCCL runs them.
//
// The operation's buffer is cut into `n_chunks` chunks. A step sends, receives, copies or reduces
// `count` of them. A thread block has at most one GPU to which it sends and one from which it
// receives, on one channel, and goes through its steps in order; a step may wait for a step of
// another thread block of its GPU. Where in the buffers a step works does not change its time, so
// offsets are not kept.
//
// An algorithm is one allocation without pointers to anything else: free() it.
// Source: github.com/microsoft/msccl (msccl.h, msccl_interpreter.h), microsoft/msccl-tools (ir.py).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/nccl/nccl.h"
#include "engine/base/units.h"

#define XML_NONE UINT32_MAX
#define XML_NAME 64         // bytes of a name, with its end
#define XML_COUNT_MAX 71    // chunks of a step
#define XML_CHANNELS_MAX 64 // of an algorithm
#define XML_BLOCKS_MAX 1024 // thread blocks of a GPU
#define XML_CHUNKS_MAX (1u << 20)
#define XML_GPUS_MAX (1u << 20)
#define XML_ALL_BLOCKS_MAX (1u << 20) // of all GPUs
#define XML_STEPS_MAX (1u << 22)      // of all GPUs

enum xml_step_type {
    XML_SEND,
    XML_RECEIVE,
    XML_RECEIVE_COPY_SEND,
    XML_RECEIVE_REDUCE_SEND,
    XML_RECEIVE_REDUCE_COPY,
    XML_RECEIVE_REDUCE_COPY_SEND,
    XML_COPY,
    XML_REDUCE,
    XML_NOP,
    XML_STEP_TYPES
};

struct xml_step {
    uint8_t type;   // enum xml_step_type
    uint32_t count; // chunks; bytes, if the algorithm has sizes of its own
    bool joined;    // a reduction that MSCCL makes together with the one before
    // The step that must have ended before: thread block of the same GPU and number of its step, or
    // XML_NONE.
    uint32_t after_block, after_step;
    uint32_t line; // of the file
    ps_t takes_ps; // of XML_NOP: a computation
};

struct xml_block {
    uint32_t gpu, id;       // id: among those of the GPU
    uint32_t send, receive; // GPUs, or XML_NONE
    uint32_t sends_to;      // index of the block that receives what this one sends, or XML_NONE
    uint32_t receives_from; // the reverse
    uint32_t channel;       // 0 where it neither sends nor receives
    uint32_t first_step, n_steps;
    uint32_t line;
};

struct xml_gpu {
    uint32_t first_block, n_blocks;
};

struct xml_algorithm {
    char name[XML_NAME], coll[XML_NAME]; // coll: the operation, "allreduce"
    enum nccl_protocol protocol;
    uint32_t n_gpus, n_channels, n_chunks, line;
    uint32_t n_blocks, n_steps;
    uint64_t min_bytes, max_bytes; // for which MSCCL would take it; 0 = no bound
    // Steps have sizes of their own, in bytes, whatever the operation's size. Each goes at once.
    bool own_sizes;
    const char *place;       // what `line` counts: "line", "record"
    uint32_t most_blocks;    // of a GPU
    uint32_t together_least; // chunks that must go at once for all steps to end; 1 = any size
    struct xml_gpu *gpus;
    struct xml_block *blocks; // GPU by GPU, in the order of their ids
    struct xml_step *steps;   // block by block
};

// An algorithm with room for its parts, all zero.
struct xml_algorithm *xml_algorithm_new(uint32_t n_gpus, uint32_t n_blocks, uint32_t n_steps);

static inline bool xml_sends(const struct xml_step *s)
{
    return s->type == XML_SEND || s->type == XML_RECEIVE_COPY_SEND ||
           s->type == XML_RECEIVE_REDUCE_SEND || s->type == XML_RECEIVE_REDUCE_COPY_SEND;
}
static inline bool xml_receives(const struct xml_step *s)
{
    return s->type >= XML_RECEIVE && s->type <= XML_RECEIVE_REDUCE_COPY_SEND;
}
static inline bool xml_reduces(const struct xml_step *s)
{
    return (s->type >= XML_RECEIVE_REDUCE_SEND && s->type <= XML_RECEIVE_REDUCE_COPY_SEND) ||
           s->type == XML_REDUCE;
}

struct xml_error {
    uint32_t line;
    char text[480];
};

// Find the blocks that send to each other, and check that all steps will end: sends and receives
// match, dependencies exist, and no steps wait for each other in a circle, with the buffers that
// connections have, at least with small operations. Returns false with one sentence.
bool xml_algorithm_link(struct xml_algorithm *a, struct xml_error *error);

// SPDX-License-Identifier: MIT
// An operation by an algorithm of a file: how its data is cut, and the primitives of its blocks.
//
// The buffer of the operation is cut into the algorithm's chunks. A loop handles up to
// `piece_bytes` of every chunk. Of a step with several chunks as many go at once as fit into what a
// loop handles; under Simple this is cut into two slices, each a message, as on NCCL's rings.
#pragma once

#include "collective/nccl/chunks.h"
#include "collective/nccl/nccl_operation.h"
#include "collective/nccl/xml/algorithm.h"

struct xml_operation {
    const struct xml_algorithm *algorithm;
    struct nccl_chunking chunking;            // of what goes at once
    uint64_t chunk_bytes, piece_bytes, loops; // own sizes: the most that a step has, one loop
    uint32_t together;                        // chunks that go at once
    uint32_t slices;
    // [number of the step + index of its block] primitives of the block's loop before the step, and
    // at its end of the whole loop
    uint32_t *before;
};

// The most that goes at once where the user sets no limit: what one message of NCCL's rings is cut
// from.
uint64_t xml_piece_max(const struct nccl_cluster *cluster, enum nccl_protocol protocol);

// The largest operation whose steps all end; UINT64_MAX = any.
uint64_t xml_operation_max(const struct xml_algorithm *a, const struct nccl_cluster *cluster,
                           uint64_t limit_bytes);

// `limit_bytes`: of what goes at once, at most xml_piece_max(); 0 = that.
void xml_operation_init(struct xml_operation *o, const struct xml_algorithm *a,
                        const struct nccl_cluster *cluster, uint64_t limit_bytes, uint64_t bytes);
void xml_operation_free(struct xml_operation *o);

// Primitives of a block in all, and the messages among them that it receives.
uint64_t xml_block_length(const struct xml_operation *o, uint32_t block);
uint64_t xml_block_messages(const struct xml_operation *o, uint32_t block);

// A primitive, and what must be done before.
struct xml_primitive {
    struct nccl_primitive primitive; // receives, sends: bit 0
    bool idle;                       // moves nothing: waits, or computes
    ps_t takes_ps;                   // of an idle one
    bool joined;                     // goes on with the primitive before without waiting
    uint32_t after;                  // block of the rank that must have ended ..
    uint64_t after_length;           // .. so many primitives; XML_NONE = none
};
struct xml_primitive xml_primitive(const struct xml_operation *o, uint32_t block, uint64_t i);

// Bytes on the wire of all messages.
uint64_t xml_operation_bytes(const struct xml_operation *o);

// Messages of a chunk, and messages that the buffer of a connection holds.
void xml_messages_fit(enum nccl_protocol protocol, uint32_t *slices, uint32_t *window);

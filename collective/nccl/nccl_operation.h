// SPDX-License-Identifier: MIT
// An operation of a communicator: what NCCL has chosen for it, and the blocks of threads that run
// it on every rank.
//
// A block belongs to one channel of one rank. It goes through a sequence of primitives; each waits
// for a message of some of the block's senders, works on it, and sends a message to some of its
// receivers. Messages of a sender to a receiver on a channel are used in the order in which they
// were sent. A primitive is a function of its number, so nothing is stored for a long operation.
#pragma once

#include "collective/nccl/chunks.h"
#include "collective/nccl/layout.h"
#include "collective/nccl/p2p.h"

#define NCCL_PEERS 32 // of a block, each way

// What a communicator keeps for all of its operations.
struct nccl_communicator {
    struct nccl_layout layout;
    struct nccl_settings settings;
    struct nccl_model model;
    uint32_t ranks;
    uint32_t *position; // [channel * ranks + rank] on the ring, counted from rank 0
    // The ranks server by server, and of each rank the begin and the end of its server's.
    uint32_t *by_server, *server_begin, *server_end;
};

// Make a communicator of `n` members. Returns false with one sentence in `error`, and nothing to
// free, where nccl_layout_init() does.
bool nccl_communicator_init(struct nccl_communicator *c, const struct nccl_machine *machine,
                            const struct nccl_settings *settings, const struct nccl_member *members,
                            uint32_t n, char *error, size_t error_bytes);
void nccl_communicator_free(struct nccl_communicator *c);

struct nccl_operation {
    const struct nccl_communicator *comm;
    enum nccl_function function;
    struct nccl_choice choice;
    struct nccl_chunking first, middle, last; // of the channels of choice.split
    uint32_t root;
};

// Choose for an operation of `bytes` > 0, the larger side of all ranks together. Returns false if
// none of the allowed algorithms and protocols is possible for this function here.
bool nccl_operation_init(struct nccl_operation *o, const struct nccl_communicator *c,
                         enum nccl_function function, uint64_t bytes, uint32_t root);

// Bytes of user data of a channel that has data.
uint64_t nccl_operation_bytes(const struct nccl_operation *o, uint32_t channel);

enum nccl_role {
    NCCL_ROLE_RING,
    NCCL_ROLE_UP,          // of a tree: to the parent
    NCCL_ROLE_DOWN,        // to the children
    NCCL_ROLE_UP_DOWN,     // one block for both ways, all of the first before the second (RCCL)
    NCCL_ROLE_NVLS_READ,   // a head has the switch add up its part of the server's ranks
    NCCL_ROLE_NVLS_UP,     // its way to the heads of other servers
    NCCL_ROLE_NVLS_DOWN,   // and back
    NCCL_ROLE_NVLS_WRITE,  // a head has the switch write its part to the server's ranks
    NCCL_ROLE_NVLS_MEMBER, // a rank has its data read, and gets the result, by all heads
    NCCL_ROLE_PAT,
    NCCL_ROLES
};

struct nccl_block {
    uint8_t role; // enum nccl_role
    uint32_t channel, rank;
    uint32_t at; // position on the ring; of a chain from its begin
    uint8_t n_from, n_to;
    uint32_t from[NCCL_PEERS], to[NCCL_PEERS];
    uint64_t length; // number of primitives
    // Primitive k begins after primitive k of the rank's block before this one: at a root the way
    // down begins with what has come up.
    bool after;
};

// What a block of threads does at once.
struct nccl_primitive {
    uint32_t receives, sends; // bit sets over the block's `from` and `to`
    uint64_t bytes;           // of user data, of each message; 0 is sent all the same
    uint64_t local_bytes;     // of user data that NVLS reduces or spreads in the server
    uint32_t slots;           // steps of the buffers that a message takes
    uint32_t step, slice;
    bool reduces;
};

#define NCCL_BLOCKS 5 // of a rank on a channel, at most

// Write the blocks of a rank on a channel that has data; returns their number.
uint32_t nccl_blocks(const struct nccl_operation *o, uint32_t channel, uint32_t rank,
                     struct nccl_block blocks[NCCL_BLOCKS]);

// Messages that the block receives in all from its sender `k` of the network.
uint64_t nccl_block_messages(const struct nccl_operation *o, const struct nccl_block *block,
                             uint32_t k);

// Primitive `i` < block->length.
struct nccl_primitive nccl_primitive(const struct nccl_operation *o, const struct nccl_block *block,
                                     uint64_t i);

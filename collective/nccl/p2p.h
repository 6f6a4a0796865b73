// SPDX-License-Identifier: MIT
// The order in which a rank exchanges with all others (all-to-all, or sends and receives in one
// group), the channels of each pair, and its messages.
#pragma once

#include "collective/nccl/channels.h"

// A round: the rank sends to one rank and receives from another one at once.
struct nccl_round {
    uint32_t to, from;
    uint32_t channel; // of the first part
};

// Servers with the same number of ranks, numbered one after the other.
struct nccl_p2p {
    uint32_t nodes, per_node;
    struct nccl_channels channels;
    bool rccl, one_server;
};

// Write the rounds of `rank`, nodes * per_node of them, the first with itself.
void nccl_p2p_rounds(const struct nccl_p2p *p, uint32_t rank, struct nccl_round *rounds);

// How the bytes of a pair are split over channels and cut into messages.
struct nccl_p2p_split {
    uint32_t parts;
    uint64_t part_bytes;  // of all parts but the last, which has the rest
    uint64_t chunk_bytes; // of a message between servers
    uint64_t local_chunk_bytes;
    uint32_t batch; // sends and receives that a channel of a rank handles at once
};
// `chunk_bytes`: the largest message, P2P_NET_CHUNKSIZE; 0 = its default.
struct nccl_p2p_split nccl_p2p_split(const struct nccl_p2p *p, uint64_t bytes,
                                     uint64_t chunk_bytes);

// The channel of a part of a round.
uint32_t nccl_p2p_channel(const struct nccl_p2p *p, const struct nccl_round *round, uint32_t part);

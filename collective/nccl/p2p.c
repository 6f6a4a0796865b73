// SPDX-License-Identifier: MIT
// Rules of init.cc (p2pSchedule), enqueue.cc (addP2pToPlan) and channel.h.
#include "collective/nccl/p2p.h"

#include "collective/nccl/rccl_p2p.h"
#include "collective/nccl/rules.h"

#define KIB 1024u
#define LOCAL_A_CHANNEL 8    // ranks of a server that share the channels of a round
#define PART_ALIGN (4 * KIB) // bytes
#define LEAST_PART (64 * KIB)
#define NET_CHUNK (128 * KIB)   // P2P_NET_CHUNKSIZE: bytes of a step
#define LOCAL_CHUNK (512 * KIB) // P2P_NVL_CHUNKSIZE: bytes of a message in a server
#define STEPS 8
#define BATCH 8 // of a kernel's work

// Distances from 0 on by triangular numbers, modulo the next power of two: this visits each once.
// Returns the next distance below n.
struct distances {
    uint32_t n, span, at, add;
};

static struct distances distances_to(uint32_t n)
{
    struct distances d = {.n = n, .span = 1};
    while (d.span < n)
        d.span *= 2;
    return d;
}

static uint32_t next_distance(struct distances *d)
{
    uint32_t distance;
    do {
        distance = d->at;
        d->at = (d->at + ++d->add) % d->span;
    } while (distance >= d->n);
    return distance;
}

void nccl_p2p_rounds(const struct nccl_p2p *p, uint32_t rank, struct nccl_round *rounds)
{
    uint32_t node = rank / p->per_node, local = rank % p->per_node, n = 0,
             a_node = (p->per_node + LOCAL_A_CHANNEL - 1) / LOCAL_A_CHANNEL;
    if (p->rccl) {
        rccl_p2p_rounds(p, rank, rounds);
        return;
    }
    struct distances nodes = distances_to(p->nodes);
    for (uint32_t i = 0; i < p->nodes; i++) {
        uint32_t far = next_distance(&nodes);
        struct distances locals = distances_to(p->per_node);
        for (uint32_t k = 0; k < p->per_node; k++) {
            uint32_t near = next_distance(&locals);
            uint32_t to_node = (node + far) % p->nodes,
                     from_node = (node + p->nodes - far) % p->nodes;
            rounds[n++] = (struct nccl_round){
                .to = to_node * p->per_node + (local + near) % p->per_node,
                .from = from_node * p->per_node + (local + p->per_node - near) % p->per_node,
                .channel = (far * a_node + near / LOCAL_A_CHANNEL) % p->channels.p2p};
        }
    }
}

struct nccl_p2p_split nccl_p2p_split(const struct nccl_p2p *p, uint64_t bytes, uint64_t chunk_bytes)
{
    uint64_t chunk = chunk_bytes > 0 ? chunk_bytes : NET_CHUNK;
    if (p->rccl)
        return rccl_p2p_split(p, bytes, chunk_bytes);
    struct nccl_p2p_split s = {.parts = p->channels.p2p_per_peer,
                               .chunk_bytes = chunk,
                               .local_chunk_bytes = LOCAL_CHUNK,
                               .batch = BATCH};
    // A part of fewer bytes does not get a channel of its own.
    while (s.parts > 1 && bytes < (uint64_t)s.parts * LEAST_PART)
        s.parts--;
    s.part_bytes = nccl_round_up((bytes + s.parts - 1) / s.parts, PART_ALIGN);
    // Rounding up may have left the last parts without bytes.
    while (s.parts > 1 && s.part_bytes * (s.parts - 1) >= bytes)
        s.parts--;
    if (s.parts == 1)
        s.part_bytes = bytes;
    if (bytes < chunk)
        s.chunk_bytes /= 4;
    else if (bytes < STEPS * chunk)
        s.chunk_bytes /= 2;
    return s;
}

uint32_t nccl_p2p_channel(const struct nccl_p2p *p, const struct nccl_round *round, uint32_t part)
{
    if (p->rccl)
        return rccl_p2p_channel(p, round, part);
    return (round->channel + nccl_mirrored(part, p->channels.p2p)) % p->channels.p2p;
}

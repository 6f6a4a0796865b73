// SPDX-License-Identifier: MIT
// Rules of RCCL: init.cc (initTransportsRank, "Setup p2p structures"), include/channel.h,
// enqueue.cc (scheduleP2pTasksToPlan, calcP2pChunkSize), proxy.cc (ncclProxyComputeP2p).
#include "collective/nccl/rccl_p2p.h"

#include "collective/nccl/rules.h"

#define KIB 1024u
#define NET_CHUNK (128 * KIB)   // P2P_NET_CHUNKSIZE: bytes of a step
#define LOCAL_CHUNK (512 * KIB) // P2P_NVL_CHUNKSIZE, with one server
#define STEPS 8
#define BATCH 2 // a send and a receive of a channel at once (include/device.h)

/* ---- rounds ---- */

// Distances between servers in turn: near ones and far ones, each way.
struct distances {
    uint32_t nodes, pair, next;
    uint32_t of_pair[4];
};

static void begin_pair(struct distances *d, uint32_t pair)
{
    uint32_t n = d->nodes, near = pair, far = n / 2 - pair;
    d->pair = pair;
    d->next = 0;
    d->of_pair[0] = near;
    d->of_pair[1] = (n - near) % n;
    d->of_pair[2] = far;
    d->of_pair[3] = (n - far) % n;
}

static bool is_repeated(const struct distances *d, uint32_t i)
{
    const uint32_t *of = d->of_pair;
    // Distances coincide at 0, at n/2 and where near and far meet, and a server must come once
    // only.
    return (i == 1 && of[1] == of[0]) || (i == 2 && of[2] == of[0]) ||
           (i == 3 && (of[3] == of[2] || of[3] == of[1]));
}

static uint32_t next_distance(struct distances *d)
{
    uint32_t distance = d->of_pair[d->next++];
    while (d->next < 4 && is_repeated(d, d->next))
        d->next++;
    if (d->next == 4)
        begin_pair(d, d->pair + 1);
    return distance;
}

void rccl_p2p_rounds(const struct nccl_p2p *p, uint32_t rank, struct nccl_round *rounds)
{
    uint32_t each = p->per_node, node = rank / each, local = rank % each, n = 0;
    struct distances d = {.nodes = p->nodes};
    begin_pair(&d, 0);
    for (uint32_t i = 0; i < p->nodes; i++) {
        uint32_t far = next_distance(&d), to_node = (node + far) % p->nodes,
                 from_node = (node + p->nodes - far) % p->nodes;
        for (uint32_t step = 0; step < each; step++)
            rounds[n++] = (struct nccl_round){
                .to = to_node * each + (local + step) % each,
                .from = from_node * each + (local + each - step) % each,
                .channel = nccl_mirrored((far + step) % p->channels.p2p, p->channels.p2p)};
    }
}

uint32_t rccl_p2p_channel(const struct nccl_p2p *p, const struct nccl_round *round, uint32_t part)
{
    return (round->channel + part) % p->channels.p2p;
}

/* ---- parts and messages ---- */

static uint64_t part_of(const struct nccl_p2p *p, uint64_t bytes, uint64_t chunk)
{
    uint32_t most = p->channels.p2p_per_peer, n = most, ranks = p->nodes * p->per_node;
    uint64_t least = p->one_server ? chunk / 8 : chunk / 2,
             enough = p->one_server ? chunk * 32 : chunk;
    // Fewer channels for a peer, so that the channels are enough for all peers.
    while (n > 1 && n * ranks > p->channels.p2p)
        n /= 2;
    uint64_t part = (bytes + n - 1) / n;
    part = part > least ? part : least;
    // Large messages are spread over more channels until the parts are small enough.
    for (; part > enough && n <= most / 2; part = (bytes + n - 1) / n)
        n *= 2;
    return nccl_round_up(part, least);
}

struct nccl_p2p_split rccl_p2p_split(const struct nccl_p2p *p, uint64_t bytes, uint64_t chunk_bytes)
{
    uint64_t chunk = p->one_server ? LOCAL_CHUNK : chunk_bytes > 0 ? chunk_bytes : NET_CHUNK;
    uint64_t part = part_of(p, bytes, chunk);
    struct nccl_p2p_split s = {.parts = (uint32_t)((bytes + part - 1) / part),
                               .part_bytes = part,
                               .chunk_bytes = chunk,
                               .local_chunk_bytes = chunk,
                               .batch = BATCH};
    if (s.parts <= 1) {
        s.parts = 1;
        s.part_bytes = bytes;
    }
    if (!p->one_server && s.part_bytes < chunk)
        s.chunk_bytes /= 4;
    else if (!p->one_server && s.part_bytes < STEPS * chunk)
        s.chunk_bytes /= 2;
    return s;
}

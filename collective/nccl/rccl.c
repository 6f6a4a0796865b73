// SPDX-License-Identifier: MIT
#include "collective/nccl/rccl.h"

#include "collective/nccl/rules.h"

#define KIB 1024u

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* ---- channels: graph/connect.cc (ncclTopoPostset), init.cc (initTransportsRank) ---- */

#define MOST 128        // channels, with one server
#define MOST_SERVERS 64 // with several
#define LEAST 2         // MIN_NCHANNELS, unless it is set
#define FEW_RANKS 8     // which may not set more than 64
#define COPIES 2        // of every ring
#define COPIES_OF_2 16  // with two ranks
#define COPIES_OF_4 4   // with four
#define P2P_MOST 64     // channels of sends and receives
#define P2P_PER_PEER 2  // of a pair between servers
#define P2P_PEERS_A_CHANNEL 4

static uint32_t least_set(const struct nccl_cluster *c, const struct nccl_settings *settings,
                          uint32_t most)
{
    uint32_t least = settings && settings->min_channels > 0 ? settings->min_channels : LEAST;
    if (c->nodes > 1)
        least = smaller(least, MOST_SERVERS);
    bool ignored = least > most || (c->ranks < FEW_RANKS && least > MOST_SERVERS);
    return ignored ? LEAST : least;
}

static void count_rings(const struct nccl_cluster *c, const struct nccl_settings *settings,
                        struct nccl_channels *n)
{
    uint32_t most = c->nodes > 1 ? MOST_SERVERS : MOST, allowed = most,
             copies = c->ranks == 2   ? COPIES_OF_2
                      : c->ranks == 4 ? COPIES_OF_4
                                      : COPIES;
    if (settings && settings->max_channels > 0)
        allowed = smaller(settings->max_channels, most);
    n->found = c->ring.channels;
    n->made = n->found <= most / 2 ? 2 * n->found : smaller(n->found, most);
    n->kept = smaller(n->made, allowed);
    if (settings && settings->max_ctas > 0)
        n->kept = smaller(n->kept, settings->max_ctas);
    copies = smaller(copies, allowed / n->found);
    n->rings = larger(larger(n->kept, least_set(c, settings, most)), copies * n->found);
    if (settings)
        n->rings = larger(n->rings, settings->min_ctas);
}

// graph/paths.cc (ncclTopoComputeP2pChannels, ncclTopoGetNchannels)
static void count_pairs(const struct nccl_cluster *c, const struct nccl_settings *settings,
                        const struct nccl_pair_limits *limits, struct nccl_channels *n)
{
    uint32_t least = n->all, remote = P2P_PER_PEER;
    while (remote > 1 && remote * c->ranks > P2P_PEERS_A_CHANNEL * n->all)
        remote /= 2;
    remote = larger(remote, limits->nics);
    if (settings && settings->p2p_net_channels > 0)
        remote = settings->p2p_net_channels;
    if (limits->local > 0)
        least = smaller(least, 2 * limits->local); // twice as many as NCCL has
    if (c->nodes > 1)
        least = smaller(least, remote);
    n->p2p = smaller(nccl_power_of_two(n->all), P2P_MOST);
    n->p2p_per_peer = nccl_power_of_two(least) * (c->nodes > 1 ? 1 : 2);
    n->p2p_per_peer = smaller(n->p2p_per_peer, n->p2p);
}

struct nccl_channels rccl_channels_of(const struct nccl_cluster *c,
                                      const struct nccl_settings *settings,
                                      const struct nccl_pair_limits *limits)
{
    struct nccl_channels n = {.nvls = 0};
    count_rings(c, settings, &n);
    n.all = n.rings;
    count_pairs(c, settings, limits, &n);
    return n;
}

/* ---- the data of each channel: enqueue.cc ---- */

// getChannnelThreadInfo; the least bytes of a thread are those of comm.h.
void rccl_size_channels(const struct nccl_model *model, uint64_t bytes, struct nccl_choice *o)
{
    uint64_t least = o->protocol == NCCL_SIMPLE ? 64 : 8;
    if (o->protocol == NCCL_LL && o->algorithm == NCCL_RING)
        least *= model->cluster.ranks;
    o->threads = RCCL_THREADS;
    o->channels = model->cluster.channels;
    while (o->channels > 1 && bytes < o->channels * o->threads * least)
        o->channels--;
}

#define BYTES_ALIGN 16
#define WAVE 64

// computeCollAlignCount: 8 bytes of each thread, or 128 of each thread of a wave (enqueue.h).
static uint64_t align_of(enum nccl_protocol protocol)
{
    return protocol == NCCL_SIMPLE ? WAVE * 8 * 16 : 8 * RCCL_THREADS;
}

// scheduleCollTasksToPlan and addCBDCollToPlan, for one operation alone
struct nccl_split rccl_split(enum nccl_protocol protocol, uint64_t bytes, uint32_t channels)
{
    uint64_t share = nccl_round_up((bytes + channels - 1) / channels, BYTES_ALIGN),
             each = nccl_round_up(share, align_of(protocol)), n = (bytes + each - 1) / each;
    struct nccl_split split = {.channels = (uint32_t)n, .first = n == 1 ? bytes : each};
    split.middle = n > 2 ? each : 0;
    split.last = n == 1 ? 0 : bytes - (n - 1) * each;
    return split;
}

/* ---- chunks: enqueue.cc (computeCollChunkInfo) ---- */

#define RING_CHUNK_STEPS 4 // of Simple for all-reduce, all-gather and reduce-scatter
#define RING_SLICE_STEPS 2

// Halves a chunk while the operation has fewer than `chunks` of it, and down to `least`.
static uint64_t halved(uint64_t chunk, const struct nccl_choice *o, uint64_t chunks, uint64_t least)
{
    while (o->bytes / (o->channels * chunk) < chunks && chunk > least)
        chunk /= 2;
    return chunk;
}

static uint64_t tree_chunk(const struct nccl_cluster *c, const struct nccl_choice *o)
{
    uint64_t chunk = nccl_step_bytes(c, o->protocol),
             depth = c->ranks / c->nodes - 1 + (uint32_t)nccl_log2(c->nodes);
    if (o->protocol != NCCL_SIMPLE)
        return chunk;
    chunk = halved(chunk, o, 8 * depth, 128 * KIB);
    chunk = halved(chunk, o, 4 * depth, 64 * KIB);
    return halved(chunk, o, depth, 32 * KIB);
}

static uint64_t chain_chunk(const struct nccl_cluster *c, const struct nccl_choice *o)
{
    uint64_t chunk = nccl_step_bytes(c, o->protocol);
    if (o->protocol != NCCL_SIMPLE)
        return chunk;
    chunk = halved(chunk, o, 64, 256 * KIB);
    chunk = halved(chunk, o, 32, 128 * KIB);
    chunk = halved(chunk, o, 16, 64 * KIB);
    return halved(chunk, o, 8, 32 * KIB);
}

static uint64_t rounds(uint64_t bytes, uint64_t of) { return (bytes + of - 1) / of; }

struct nccl_chunking rccl_chunking(const struct nccl_cluster *c, enum nccl_function function,
                                   const struct nccl_choice *o, uint64_t channel_bytes)
{
    struct nccl_chunking k = {
        .chunk_steps = 1, .slice_steps = 1, .rest_align = (uint32_t)align_of(o->protocol)};
    bool chain = nccl_is_chain(function);
    uint64_t per_loop = function == NCCL_ALL_REDUCE ? 2 * (c->ranks - 1u) : c->ranks - 1u;
    if (o->algorithm == NCCL_TREE || chain) {
        k.chunk_bytes = chain ? chain_chunk(c, o) : tree_chunk(c, o);
        k.steps = rounds(channel_bytes, k.chunk_bytes);
        return k;
    }
    if (o->protocol == NCCL_SIMPLE) {
        k.chunk_steps = RING_CHUNK_STEPS;
        k.slice_steps = RING_SLICE_STEPS;
    }
    k.chunk_bytes = k.chunk_steps * nccl_step_bytes(c, o->protocol);
    uint64_t loop = k.chunk_bytes * (function == NCCL_ALL_REDUCE ? c->ranks : 1);
    k.steps = rounds(channel_bytes, loop) * per_loop * k.chunk_steps;
    return k;
}

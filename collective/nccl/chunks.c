// SPDX-License-Identifier: MIT
// Rules of enqueue.cc (calcCollChunking) and include/collectives.h.
#include "collective/nccl/chunks.h"

#include "collective/nccl/rccl.h"
#include "collective/nccl/rules.h"

#define KIB 1024u
#define RING_CHUNK_STEPS 4 // of Simple for all-reduce, all-gather and reduce-scatter
#define RING_SLICE_STEPS 2
#define CHUNK_ALIGN 16   // bytes
#define LL128_GRAIN 1920 // bytes of user data in 2,048 bytes of a warp's lines

uint64_t nccl_step_bytes(const struct nccl_cluster *c, enum nccl_protocol protocol)
{
    static const uint64_t buffers[NCCL_PROTOCOLS] = {512 * KIB / 2, 4800 * KIB / 16 * 15,
                                                     4096 * KIB};
    bool set = protocol == NCCL_SIMPLE && c->buffer_bytes > 0;
    if (c->rccl && protocol == NCCL_LL) // half the threads, so half the lines
        return buffers[NCCL_LL] / 2 / NCCL_STEPS;
    return (set ? c->buffer_bytes : buffers[protocol]) / NCCL_STEPS;
}

uint64_t nccl_wire_bytes(enum nccl_protocol protocol, uint64_t bytes)
{
    if (protocol == NCCL_LL) // 8 bytes of data in a line of 16
        return 2 * nccl_round_up(bytes, 8);
    if (protocol == NCCL_LL128) // 120 bytes of data in a line of 128
        return nccl_round_up(bytes, LL128_GRAIN) / 15 * 16;
    return bytes;
}

static double whole_chunks(uint64_t bytes, uint64_t chunk)
{
    uint64_t n = bytes / chunk;
    return (double)n;
}

// Smaller chunks where the tree would otherwise not be filled.
static uint64_t tree_ll128_chunk(const struct nccl_cluster *c, uint64_t bytes)
{
    uint64_t chunk = nccl_step_bytes(c, NCCL_LL128);
    double per_node = c->ranks / (double)c->nodes,
           levels = 1 + nccl_log2(c->nodes) + 0.1 * per_node;
    while (whole_chunks(bytes, chunk) < 64 * levels / per_node && chunk > 128 * KIB)
        chunk /= 2;
    while (whole_chunks(bytes, chunk) < 16 * levels / per_node && chunk > 32 * KIB)
        chunk /= 2;
    return chunk / LL128_GRAIN * LL128_GRAIN;
}

static uint32_t heads_of(const struct nccl_cluster *c) { return c->nvls.channels; }

// Each head has its part of every chunk of a channel.
static uint64_t nvls_chunk(const struct nccl_cluster *c, uint64_t bytes)
{
    uint64_t chunk = 128 * KIB, heads = heads_of(c);
    if (bytes < 64 * heads * chunk)
        chunk = 64 * KIB;
    if (bytes < 8 * heads * chunk && chunk > 32 * KIB)
        chunk = 32 * KIB;
    if (bytes < 2 * heads * chunk && chunk > 16 * KIB)
        chunk = 16 * KIB;
    return chunk;
}

static uint64_t nvls_tree_chunk(const struct nccl_cluster *c, uint64_t bytes)
{
    bool small = c->nodes >= 4 || (c->version == NCCL_2_30_7 && c->gpu == NCCL_BLACKWELL);
    uint64_t chunk = small ? 64 * KIB : 128 * KIB, heads = heads_of(c);
    if (bytes < 4 * heads * chunk && chunk > 64 * KIB)
        chunk = 64 * KIB;
    if (bytes < heads * chunk && chunk > 32 * KIB)
        chunk = 32 * KIB;
    return chunk;
}

// `bytes`: of the operation, all ranks and channels together.
static uint64_t pat_chunk(enum nccl_function function, uint32_t channels, uint64_t bytes)
{
    uint64_t chunk = 512 * KIB, times = function == NCCL_ALL_GATHER ? 32 : 16;
    while (chunk * channels * times > bytes && chunk > 64 * KIB)
        chunk /= 2;
    return chunk;
}

static uint64_t rounds(uint64_t bytes, uint64_t of) { return (bytes + of - 1) / of; }

static struct nccl_chunking ring_chunking(const struct nccl_cluster *c, enum nccl_function function,
                                          enum nccl_protocol protocol, uint64_t bytes)
{
    bool chain = nccl_is_chain(function);
    bool sliced = protocol == NCCL_SIMPLE && !chain;
    struct nccl_chunking k = {.chunk_steps = sliced ? RING_CHUNK_STEPS : 1,
                              .slice_steps = sliced ? RING_SLICE_STEPS : 1,
                              .rest_align = CHUNK_ALIGN};
    k.chunk_bytes = k.chunk_steps * nccl_step_bytes(c, protocol);
    if (function == NCCL_ALL_REDUCE)
        k.steps = rounds(bytes, k.chunk_bytes * c->ranks) * 2 * (c->ranks - 1) * k.chunk_steps;
    else
        k.steps = rounds(bytes, k.chunk_bytes) * (chain ? 1 : c->ranks - 1) * k.chunk_steps;
    return k;
}

struct nccl_chunking nccl_chunking(const struct nccl_model *model, enum nccl_function function,
                                   const struct nccl_choice *choice, uint64_t channel_bytes)
{
    const struct nccl_cluster *c = &model->cluster;
    struct nccl_chunking k = {.chunk_steps = 1, .slice_steps = 1};
    uint64_t blocks;
    if (c->rccl)
        return rccl_chunking(c, function, choice, channel_bytes);
    switch (choice->algorithm) {
    case NCCL_TREE:
        k.chunk_bytes = choice->protocol == NCCL_LL128 ? tree_ll128_chunk(c, channel_bytes)
                                                       : nccl_step_bytes(c, choice->protocol);
        k.steps = rounds(channel_bytes, k.chunk_bytes);
        return k;
    case NCCL_NVLS:
        k.chunk_bytes = nvls_chunk(c, channel_bytes);
        k.steps = rounds(channel_bytes, k.chunk_bytes * heads_of(c));
        return k;
    case NCCL_NVLS_TREE:
        k.chunk_bytes = nvls_tree_chunk(c, channel_bytes);
        k.steps = rounds(channel_bytes, k.chunk_bytes * heads_of(c));
        return k;
    case NCCL_PAT:
        k.chunk_bytes = pat_chunk(function, choice->channels, choice->bytes);
        blocks = k.chunk_bytes / channel_bytes; // of ranks, that share a message
        k.steps = blocks > 0 ? rounds(c->ranks - 1, blocks)
                             : (c->ranks - 1) * rounds(channel_bytes, k.chunk_bytes);
        return k;
    default:
        return ring_chunking(c, function, choice->protocol, channel_bytes);
    }
}

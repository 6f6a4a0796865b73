// SPDX-License-Identifier: MIT
// The blocks of threads of the algorithms, and their primitives.
//
// Rules of device/all_reduce.h (ring, runTreeSplit, NVLS, NVLSTree), all_gather.h and
// reduce_scatter.h (ring, PAT). The data of NVLS inside a server is not sent as messages: the
// NVSwitch reads from all GPUs or writes to all of them, and `local_bytes` is the number of these
// bytes. Two kinds of messages without data synchronize the GPUs: each rank sends one to its heads
// when it has begun, and each head sends one to the ranks when it has ended.
#include "collective/nccl/nccl_operation.h"
#include "collective/nccl/rccl.h"
#include "collective/nccl/ring_slices.h"
#include "collective/nccl/rules.h"

#define ELEMENT_BYTES 4 // of NCCL's tests: float

static const struct nccl_chunking *chunking_of(const struct nccl_operation *o, uint32_t channel)
{
    return channel == 0                             ? &o->first
           : channel + 1 < o->choice.split.channels ? &o->middle
                                                    : &o->last;
}

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void add(uint32_t *peers, uint8_t *n, int32_t rank)
{
    if (rank != NCCL_NONE && *n < NCCL_PEERS)
        peers[(*n)++] = (uint32_t)rank;
}

static uint32_t all_of(uint32_t n) { return n < 32 ? (UINT32_C(1) << n) - 1 : UINT32_MAX; }

/* ---- rings ---- */

static struct nccl_ring_part ring_part(const struct nccl_operation *o, const struct nccl_block *b)
{
    return (struct nccl_ring_part){.function = o->function,
                                   .protocol = o->choice.protocol,
                                   .chunking = *chunking_of(o, b->channel),
                                   .ranks = o->comm->ranks,
                                   .at = b->at,
                                   .bytes = nccl_operation_bytes(o, b->channel),
                                   .element_bytes = ELEMENT_BYTES};
}

// A broadcast's chain begins at the root; a reduction's ends there.
static uint32_t ring_at(const struct nccl_operation *o, uint32_t channel, uint32_t rank)
{
    uint32_t n = o->comm->ranks, *position = &o->comm->position[(size_t)channel * n],
             from_root = (position[rank] + n - position[o->root]) % n;
    if (o->function == NCCL_BROADCAST)
        return from_root;
    return o->function == NCCL_REDUCE ? (from_root + n - 1) % n : position[rank];
}

static uint32_t ring_block(const struct nccl_operation *o, uint32_t channel, uint32_t rank,
                           struct nccl_block *b)
{
    struct nccl_ring_links links = nccl_layout_ring(&o->comm->layout, channel, rank);
    *b = (struct nccl_block){.role = NCCL_ROLE_RING,
                             .channel = channel,
                             .rank = rank,
                             .at = ring_at(o, channel, rank),
                             .n_from = 1,
                             .n_to = 1,
                             .from = {(uint32_t)links.previous},
                             .to = {(uint32_t)links.next}};
    struct nccl_ring_part part = ring_part(o, b);
    b->length = nccl_ring_length(&part);
    return 1;
}

static struct nccl_primitive ring_primitive(const struct nccl_operation *o,
                                            const struct nccl_block *b, uint64_t i)
{
    struct nccl_ring_part part = ring_part(o, b);
    struct nccl_slice s = nccl_ring_slice(&part, i);
    return (struct nccl_primitive){.receives = s.receives,
                                   .sends = s.sends,
                                   .bytes = s.bytes,
                                   .slots = part.chunking.slice_steps,
                                   .step = s.loop * 2 * part.ranks + s.step,
                                   .slice = s.slice,
                                   .reduces = s.reduces};
}

/* ---- trees ---- */

static uint32_t tree_blocks(const struct nccl_operation *o, uint32_t channel, uint32_t rank,
                            struct nccl_block *b)
{
    struct nccl_tree_links links = nccl_layout_tree(&o->comm->layout, channel, rank);
    uint64_t length = chunking_of(o, channel)->steps;
    b[0] = b[1] = (struct nccl_block){.channel = channel, .rank = rank, .length = length};
    b[0].role = NCCL_ROLE_UP;
    b[1].role = NCCL_ROLE_DOWN;
    for (unsigned k = 0; k < 3; k++) {
        add(b[0].from, &b[0].n_from, links.down[k]);
        add(b[1].to, &b[1].n_to, links.down[k]);
    }
    add(b[0].to, &b[0].n_to, links.up);
    add(b[1].from, &b[1].n_from, links.up);
    // The root of the tree receives from no parent: its way down follows its own way up.
    b[1].after = links.up == NCCL_NONE;
    return 2;
}

static struct nccl_primitive tree_primitive(const struct nccl_operation *o,
                                            const struct nccl_block *b, uint64_t i)
{
    uint64_t chunk = chunking_of(o, b->channel)->chunk_bytes,
             rest = nccl_operation_bytes(o, b->channel) - i * chunk;
    return (struct nccl_primitive){.receives = all_of(b->n_from),
                                   .sends = all_of(b->n_to),
                                   .bytes = lesser(chunk, rest),
                                   .slots = 1,
                                   .step = (uint32_t)i,
                                   .reduces = b->role == NCCL_ROLE_UP && b->n_from > 0};
}

// RCCL's device/all_reduce.h (runTreeUpDown). Its last sender and its first receiver are the
// parent.
static uint32_t up_down_block(const struct nccl_operation *o, uint32_t channel, uint32_t rank,
                              struct nccl_block *b)
{
    struct nccl_tree_links links = nccl_layout_tree(&o->comm->layout, channel, rank);
    *b = (struct nccl_block){.role = NCCL_ROLE_UP_DOWN,
                             .channel = channel,
                             .rank = rank,
                             .at = links.up != NCCL_NONE,
                             .length = 2 * chunking_of(o, channel)->steps};
    add(b->to, &b->n_to, links.up);
    for (unsigned k = 0; k < 3; k++) {
        add(b->from, &b->n_from, links.down[k]);
        add(b->to, &b->n_to, links.down[k]);
    }
    add(b->from, &b->n_from, links.up);
    return 1;
}

static struct nccl_primitive up_down_primitive(const struct nccl_operation *o,
                                               const struct nccl_block *b, uint64_t i)
{
    uint32_t parent = b->at, children = b->n_from - parent;
    bool up = i < b->length / 2;
    uint64_t loop = up ? i : i - b->length / 2, chunk = chunking_of(o, b->channel)->chunk_bytes,
             rest = nccl_operation_bytes(o, b->channel) - loop * chunk;
    return (struct nccl_primitive){.receives = up ? all_of(children) : parent << children,
                                   .sends = up ? parent : all_of(children) << parent,
                                   .bytes = lesser(chunk, rest),
                                   .slots = 1,
                                   .step = (uint32_t)i,
                                   .reduces = up && children > 0};
}

/* ---- NVLS ---- */

// The other ranks of the rank's server.
static void add_local(const struct nccl_operation *o, uint32_t rank, bool heads, uint32_t *peers,
                      uint8_t *n)
{
    const struct nccl_communicator *c = o->comm;
    for (uint32_t i = c->server_begin[rank]; i < c->server_end[rank]; i++) {
        uint32_t peer = c->by_server[i];
        if (peer != rank && (!heads || nccl_layout_nvls(&c->layout, 0, peer).head != NCCL_NONE))
            add(peers, n, (int32_t)peer);
    }
}

static uint32_t nvls_blocks(const struct nccl_operation *o, uint32_t channel, uint32_t rank,
                            struct nccl_block *b)
{
    struct nccl_nvls_links links = nccl_layout_nvls(&o->comm->layout, channel, rank);
    enum { MEMBER, READ, UP, DOWN, WRITE, BLOCKS };
    static const uint8_t roles[BLOCKS] = {NCCL_ROLE_NVLS_MEMBER, NCCL_ROLE_NVLS_READ,
                                          NCCL_ROLE_NVLS_UP, NCCL_ROLE_NVLS_DOWN,
                                          NCCL_ROLE_NVLS_WRITE};
    for (unsigned i = 0; i < BLOCKS; i++)
        b[i] = (struct nccl_block){.role = roles[i],
                                   .channel = channel,
                                   .rank = rank,
                                   .at = (uint32_t)links.head,
                                   .length = i == MEMBER ? 2 : chunking_of(o, channel)->steps,
                                   .after = i == UP || i == WRITE};
    add_local(o, rank, true, b[MEMBER].to, &b[MEMBER].n_to);
    add_local(o, rank, true, b[MEMBER].from, &b[MEMBER].n_from);
    if (links.head == NCCL_NONE)
        return 1;
    for (unsigned k = 0; k < 2; k++) {
        add(b[UP].from, &b[UP].n_from, links.down[k]);
        add(b[DOWN].to, &b[DOWN].n_to, links.down[k]);
    }
    add_local(o, rank, false, b[READ].from, &b[READ].n_from);
    add_local(o, rank, false, b[WRITE].to, &b[WRITE].n_to);
    add(b[UP].to, &b[UP].n_to, links.up);
    add(b[DOWN].from, &b[DOWN].n_from, links.up);
    // As in a tree, the way down of the root follows its way up.
    b[DOWN].after = links.up == NCCL_NONE;
    return BLOCKS;
}

// Bytes of a head's part of loop i.
static uint64_t nvls_part(const struct nccl_operation *o, const struct nccl_block *b, uint64_t i)
{
    uint64_t chunk = chunking_of(o, b->channel)->chunk_bytes,
             heads = nccl_layout_nvls_heads(&o->comm->layout), from = (i * heads + b->at) * chunk,
             bytes = nccl_operation_bytes(o, b->channel);
    return from < bytes ? lesser(chunk, bytes - from) : 0;
}

static struct nccl_primitive nvls_primitive(const struct nccl_operation *o,
                                            const struct nccl_block *b, uint64_t i)
{
    struct nccl_primitive p = {.slots = 1, .step = (uint32_t)i};
    switch (b->role) {
    case NCCL_ROLE_NVLS_READ: // when the ranks of the server have begun
        p.receives = i == 0 ? all_of(b->n_from) : 0;
        p.local_bytes = o->function == NCCL_ALL_GATHER ? 0 : nvls_part(o, b, i);
        p.reduces = true;
        return p;
    case NCCL_ROLE_NVLS_WRITE: // after the last part the ranks get a message without data
        p.sends = i + 1 == b->length ? all_of(b->n_to) : 0;
        p.local_bytes = o->function == NCCL_REDUCE_SCATTER ? 0 : nvls_part(o, b, i);
        return p;
    case NCCL_ROLE_NVLS_MEMBER:
        p.sends = i == 0 ? all_of(b->n_to) : 0;
        p.receives = i == 0 ? 0 : all_of(b->n_from);
        return p;
    default:
        p.receives = all_of(b->n_from);
        p.sends = all_of(b->n_to);
        p.bytes = nvls_part(o, b, i);
        p.reduces = b->role == NCCL_ROLE_NVLS_UP && b->n_from > 0;
        return p;
    }
}

/* ---- PAT ---- */

// PAT exchanges blocks over log2 N distances, which are powers of two: the largest first in an
// all-gather, the smallest first in a reduce-scatter. Over each distance a rank sends the blocks of
// all ranks that are reached through it; blocks share a message as far as they fit into a chunk.
static uint32_t pat_dims(uint32_t ranks)
{
    uint32_t dims = 0;
    while ((UINT32_C(1) << dims) < ranks)
        dims++;
    return dims;
}

// Blocks that a rank sends over distance 2^dim, of a message of `ranks`.
static uint32_t pat_blocks(uint32_t ranks, uint32_t dim)
{
    uint32_t distance = UINT32_C(1) << dim, blocks = 0;
    for (uint32_t from = distance; from < ranks; from += 2 * distance)
        blocks++;
    return blocks;
}

struct pat_shape {
    uint32_t dims, merged; // merged: blocks of a message
    uint64_t loops, chunk; // chunks of a block, and bytes of one
};

static struct pat_shape pat_shape(const struct nccl_operation *o, uint32_t channel)
{
    uint64_t bytes = nccl_operation_bytes(o, channel), most = chunking_of(o, channel)->chunk_bytes,
             chunk = lesser(most, bytes), room = most / (chunk > 0 ? chunk : 1);
    return (struct pat_shape){.dims = pat_dims(o->comm->ranks),
                              .merged = room > 1 ? (uint32_t)room : 1,
                              .loops = (bytes + chunk - 1) / chunk,
                              .chunk = chunk};
}

static uint32_t pat_messages(const struct pat_shape *s, uint32_t ranks, uint32_t dim)
{
    return (pat_blocks(ranks, dim) + s->merged - 1) / s->merged;
}

static uint32_t pat_block(const struct nccl_operation *o, uint32_t channel, uint32_t rank,
                          struct nccl_block *b)
{
    struct pat_shape s = pat_shape(o, channel);
    uint32_t n = o->comm->ranks;
    *b = (struct nccl_block){.role = NCCL_ROLE_PAT, .channel = channel, .rank = rank};
    for (uint32_t d = 0; d < s.dims; d++) {
        uint32_t ahead = (rank + (UINT32_C(1) << d)) % n,
                 behind = (rank + n - (UINT32_C(1) << d) % n) % n;
        bool gathers = o->function == NCCL_ALL_GATHER;
        add(b->to, &b->n_to, (int32_t)(gathers ? behind : ahead));
        add(b->from, &b->n_from, (int32_t)(gathers ? ahead : behind));
        b->length += s.loops * (pat_messages(&s, n, d) + 1);
    }
    return 1;
}

// In each distance the rank sends all messages, each after the receipt of one of the same distance
// but for the first: messages of both ways alternate, and a receipt ends the distance.
static struct nccl_primitive pat_primitive(const struct nccl_operation *o,
                                           const struct nccl_block *b, uint64_t i)
{
    struct pat_shape s = pat_shape(o, b->channel);
    uint32_t n = o->comm->ranks;
    uint64_t loop_length = b->length / s.loops, loop = i / loop_length, at = i % loop_length;
    uint32_t d = 0, dim = 0;
    for (; d < s.dims; d++) {
        dim = o->function == NCCL_ALL_GATHER ? s.dims - 1 - d : d;
        uint64_t length = pat_messages(&s, n, dim) + 1u;
        if (at < length)
            break;
        at -= length;
    }
    uint32_t blocks = pat_blocks(n, dim), messages = pat_messages(&s, n, dim);
    uint64_t bytes = lesser(s.chunk, nccl_operation_bytes(o, b->channel) - loop * s.chunk),
             sent = at < messages ? lesser(s.merged, blocks - at * s.merged) : 0;
    return (struct nccl_primitive){.receives = at > 0 ? UINT32_C(1) << dim : 0,
                                   .sends = at < messages ? UINT32_C(1) << dim : 0,
                                   .bytes = bytes * sent,
                                   .slots = 1,
                                   .step = (uint32_t)(loop * s.dims + d),
                                   .slice = (uint32_t)at,
                                   .reduces = o->function == NCCL_REDUCE_SCATTER};
}

/* ---- all ---- */

uint32_t nccl_blocks(const struct nccl_operation *o, uint32_t channel, uint32_t rank,
                     struct nccl_block blocks[NCCL_BLOCKS])
{
    switch (o->choice.algorithm) {
    case NCCL_TREE:
        return rccl_goes_up_then_down(&o->comm->model.cluster, o->choice.protocol)
                   ? up_down_block(o, channel, rank, blocks)
                   : tree_blocks(o, channel, rank, blocks);
    case NCCL_NVLS:
    case NCCL_NVLS_TREE:
        return nvls_blocks(o, channel, rank, blocks);
    case NCCL_PAT:
        return pat_block(o, channel, rank, blocks);
    default:
        return ring_block(o, channel, rank, blocks);
    }
}

struct nccl_primitive nccl_primitive(const struct nccl_operation *o, const struct nccl_block *block,
                                     uint64_t i)
{
    switch (block->role) {
    case NCCL_ROLE_RING:
        return ring_primitive(o, block, i);
    case NCCL_ROLE_UP:
    case NCCL_ROLE_DOWN:
        return tree_primitive(o, block, i);
    case NCCL_ROLE_UP_DOWN:
        return up_down_primitive(o, block, i);
    case NCCL_ROLE_PAT:
        return pat_primitive(o, block, i);
    default:
        return nvls_primitive(o, block, i);
    }
}

uint64_t nccl_block_messages(const struct nccl_operation *o, const struct nccl_block *b, uint32_t k)
{
    struct pat_shape s;
    switch (b->role) {
    case NCCL_ROLE_RING:
        return nccl_is_chain(o->function) ? (b->at > 0 ? b->length : 0)
               : o->function == NCCL_ALL_REDUCE
                   ? b->length / (2 * o->comm->ranks - 1) * (2 * o->comm->ranks - 2)
                   : b->length / o->comm->ranks * (o->comm->ranks - 1);
    case NCCL_ROLE_PAT:
        s = pat_shape(o, b->channel);
        return s.loops * pat_messages(&s, o->comm->ranks, k);
    case NCCL_ROLE_NVLS_MEMBER:
    case NCCL_ROLE_NVLS_READ:
        return 1;
    case NCCL_ROLE_UP_DOWN: // of a child on the way up, of the parent on the way down
        return b->length / 2;
    default:
        return b->length;
    }
}

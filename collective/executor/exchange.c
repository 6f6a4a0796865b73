// SPDX-License-Identifier: MIT
// Exchanges between pairs of ranks, in NCCL's rounds (collective/nccl/p2p.h). A channel of a rank
// handles its sends and receives in the order of the rounds, a batch of them at once.
#include <stdlib.h>

#include "collective/executor/executor_internal.h"
#include "engine/base/memory.h"

#define BATCH_MAX 8 // of nccl_p2p_split.batch

// Where a channel of a member is in the sequence of the member's sends and receives.
struct cursor {
    uint32_t round, part; // of the next one to be looked at
    bool received;        // its send has been passed: next is its receive
    uint32_t active;      // of the present batch
    bool over;
};

struct exchange { // of a member
    struct nccl_round *rounds;
    struct cursor *channels; // [channel]
    uint32_t channels_left;
};

struct exchanges {
    struct nccl_p2p p2p;
    struct nccl_p2p_split split;
    uint64_t pair_bytes;
    struct exchange *members;
    // [src][round * parts + part]; [src] NULL = none yet
    struct connection ***connections;
};

// Members in the order of their servers, all of one size, or every rank as a server of its own.
static struct nccl_p2p shape_of(const struct executor_group *g)
{
    const struct nccl_communicator *c = g->comm;
    uint32_t each = c->server_end[0] - c->server_begin[0];
    bool regular = true;
    for (uint32_t r = 0; r < g->n; r++)
        // NCCL's rounds need servers of one size whose ranks are numbered one after the other.
        regular &= c->by_server[r] == r && c->server_end[r] - c->server_begin[r] == each;
    if (!regular)
        each = 1;
    return (struct nccl_p2p){.nodes = g->n / each,
                             .per_node = each,
                             .channels = c->layout.channels,
                             .rccl = c->settings.rccl,
                             .one_server = c->layout.cluster.nodes == 1};
}

static uint64_t pair_bytes(const struct executor_group *g, const struct executor_request *request)
{
    return request->exchange == EXECUTOR_SHIFT ? request->bytes : request->bytes / g->n;
}

void exchanges_new(struct executor_run *run)
{
    const struct executor_group *g = run->group;
    struct exchanges *x = run->exchanges = memory_zeroed(1, sizeof *x);
    x->p2p = shape_of(g);
    x->pair_bytes = pair_bytes(g, &run->request);
    x->split = nccl_p2p_split(&x->p2p, x->pair_bytes, g->spec->settings.p2p_chunk_bytes);
    x->members = memory_zeroed(g->n, sizeof *x->members);
    x->connections = memory_zeroed(g->n, sizeof(struct connection **));
}

void exchanges_free(struct executor_run *run)
{
    struct exchanges *x = run->exchanges;
    if (x == NULL)
        return;
    size_t each = (size_t)run->group->n * x->split.parts;
    for (uint32_t m = 0; m < run->group->n; m++) {
        for (size_t i = 0; x->connections[m] != NULL && i < each; i++)
            if (x->connections[m][i] != NULL)
                connection_free(x->connections[m][i]);
        free(x->connections[m]);
        free(x->members[m].rounds);
        free(x->members[m].channels);
    }
    free(x->connections);
    free(x->members);
    free(x);
}

// Whether the run has a message from one member to another.
static bool is_sent(const struct executor_run *run, uint32_t from, uint32_t to)
{
    // A rank copies its own part, which needs no message.
    if (from == to || run->exchanges->pair_bytes == 0)
        return false;
    switch (run->request.exchange) {
    case EXECUTOR_ALL_TO_ALL:
        return true;
    case EXECUTOR_GATHER:
        return to == run->request.root;
    case EXECUTOR_SCATTER:
        return from == run->request.root;
    default:
        return to == (from + 1) % run->group->n;
    }
}

static uint64_t part_bytes(const struct exchanges *x, uint32_t part)
{
    uint64_t before = part * x->split.part_bytes;
    return part + 1 < x->split.parts ? x->split.part_bytes : x->pair_bytes - before;
}

static uint64_t chunk_of(const struct exchanges *x, const struct executor_group *g, uint32_t a,
                         uint32_t b)
{
    return g->comm->server_begin[a] == g->comm->server_begin[b] ? x->split.local_chunk_bytes
                                                                : x->split.chunk_bytes;
}

static uint64_t messages_of(const struct block *b)
{
    return (b->bytes + b->chunk_bytes - 1) / b->chunk_bytes;
}

static struct connection *connection_of(struct executor_run *run, const struct block *b,
                                        uint32_t src, uint32_t dst, uint32_t round, uint32_t part)
{
    struct exchanges *x = run->exchanges;
    if (x->connections[src] == NULL)
        x->connections[src] =
            memory_zeroed((size_t)run->group->n * x->split.parts, sizeof(struct connection *));
    struct connection **at = &x->connections[src][(size_t)round * x->split.parts + part];
    // Whichever of the two ends begins first makes the connection.
    if (*at == NULL)
        *at = connection_new(run, b->plan.channel, src, dst, 1, messages_of(b));
    return *at;
}

static void begin_work(struct executor_run *run, uint32_t member, uint32_t channel, bool sends,
                       uint32_t round, uint32_t part, ps_t now)
{
    struct exchanges *x = run->exchanges;
    const struct nccl_round *r = &x->members[member].rounds[round];
    uint32_t src = sends ? member : r->from, dst = sends ? r->to : member;
    struct block *b = memory_zeroed(1, sizeof *b + sizeof(struct connection *));
    struct connection **peer = (struct connection **)(void *)(b + 1);
    b->plan =
        (struct nccl_block){.channel = channel, .rank = member, .n_from = !sends, .n_to = sends};
    b->run = run;
    b->from = b->to = peer;
    b->bytes = part_bytes(x, part);
    b->chunk_bytes = chunk_of(x, run->group, src, dst);
    b->plan.length = messages_of(b);
    *peer = connection_of(run, b, src, dst, round, part);
    block_begin(b, now);
}

// Begin what comes next on a channel, up to a batch. Counts before it begins anything, since a
// block may end at once.
static void begin_batch(struct executor_run *run, uint32_t member, uint32_t channel, ps_t now)
{
    struct exchanges *x = run->exchanges;
    struct exchange *e = &x->members[member];
    struct cursor *c = &e->channels[channel];
    struct {
        uint32_t round, part;
        bool sends;
    } works[BATCH_MAX];
    uint32_t n = 0, ranks = run->group->n;
    while (n < x->split.batch && c->round < ranks) {
        const struct nccl_round *r = &e->rounds[c->round];
        bool sends = !c->received;
        if (nccl_p2p_channel(&x->p2p, r, c->part) == channel &&
            is_sent(run, sends ? member : r->from, sends ? r->to : member)) {
            works[n].round = c->round;
            works[n].part = c->part;
            works[n++].sends = sends;
        }
        c->received = sends;
        if (!sends && ++c->part == x->split.parts) {
            c->part = 0;
            c->round++;
        }
    }
    c->active = n;
    c->over = n == 0;
    e->channels_left -= n == 0;
    for (uint32_t i = 0; i < n; i++)
        begin_work(run, member, channel, works[i].sends, works[i].round, works[i].part, now);
}

bool exchange_block_ended(struct block *b, ps_t now)
{
    struct executor_run *run = b->run;
    uint32_t member = b->plan.rank, channel = b->plan.channel;
    struct exchange *e = &run->exchanges->members[member];
    struct connection *c = b->plan.n_to > 0 ? b->to[0] : b->from[0];
    // The connection outlives the block and must not wake it any more.
    if (b->plan.n_to > 0)
        c->sender = NULL;
    else
        c->receiver = NULL;
    block_free(b);
    free(b);
    if (--e->channels[channel].active > 0)
        return false;
    begin_batch(run, member, channel, now);
    return e->channels[channel].over && e->channels_left == 0;
}

void exchanges_begin(struct executor_run *run, uint32_t member, ps_t now)
{
    struct exchanges *x = run->exchanges;
    struct exchange *e = &x->members[member];
    uint32_t channels = x->p2p.channels.p2p;
    e->rounds = memory_zeroed(run->group->n, sizeof *e->rounds);
    e->channels = memory_zeroed(channels, sizeof *e->channels);
    nccl_p2p_rounds(&x->p2p, member, e->rounds);
    e->channels_left = channels;
    for (uint32_t c = 0; c < channels; c++)
        begin_batch(run, member, c, now);
    if (e->channels_left == 0 && !run->members[member].ended)
        run_member_ended(run, member, now);
}

uint64_t exchanges_bytes(const struct executor_group *g, const struct executor_request *request)
{
    uint64_t pair = pair_bytes(g, request), pairs = (uint64_t)g->n - 1;
    if (request->exchange == EXECUTOR_ALL_TO_ALL)
        pairs *= g->n;
    else if (request->exchange == EXECUTOR_SHIFT)
        pairs = g->n;
    return pairs * pair;
}

uint32_t exchanges_channels(const struct executor_run *run)
{
    return run->exchanges->p2p.channels.p2p;
}

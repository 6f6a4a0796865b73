// SPDX-License-Identifier: MIT
// Communicators, and what NCCL chooses for their operations.
#include "collective/nccl/nccl_operation.h"

#include <stdio.h>
#include <stdlib.h>

#include "collective/nccl/rules.h"

// The position of every rank on the ring of a channel.
static void number_ring(struct nccl_communicator *c, uint32_t channel)
{
    uint32_t *position = &c->position[(size_t)channel * c->ranks], rank = 0;
    for (uint32_t at = 0; at < c->ranks; at++) {
        position[rank] = at;
        rank = (uint32_t)nccl_layout_ring(&c->layout, channel, rank).next;
    }
}

// NTHREADS bounds what LL and Simple start with.
static void limit_threads(struct nccl_communicator *c)
{
    static const enum nccl_protocol bound[] = {NCCL_LL, NCCL_SIMPLE};
    for (unsigned a = 0; c->settings.threads > 0 && a < NCCL_ALGORITHMS; a++)
        for (unsigned i = 0; i < 2; i++)
            if (c->model.threads[a][bound[i]] > c->settings.threads)
                c->model.threads[a][bound[i]] = c->settings.threads;
}

static bool communicator_alloc(struct nccl_communicator *c)
{
    c->position = calloc((size_t)c->layout.channels.all * c->ranks, sizeof *c->position);
    c->by_server = calloc(c->ranks, sizeof *c->by_server);
    c->server_begin = calloc(c->ranks, sizeof *c->server_begin);
    c->server_end = calloc(c->ranks, sizeof *c->server_end);
    return c->position && c->by_server && c->server_begin && c->server_end;
}

static void list_servers(struct nccl_communicator *c, const struct nccl_member *members)
{
    uint32_t at = 0;
    for (uint32_t r = 0; r < c->ranks; r++) {
        // The server of this rank is in the list already.
        if (c->server_end[r] > 0)
            continue;
        uint32_t begin = at;
        for (uint32_t k = r; k < c->ranks; k++)
            if (members[k].server == members[r].server)
                c->by_server[at++] = k;
        for (uint32_t i = begin; i < at; i++) {
            c->server_begin[c->by_server[i]] = begin;
            c->server_end[c->by_server[i]] = at;
        }
    }
}

bool nccl_communicator_init(struct nccl_communicator *c, const struct nccl_machine *machine,
                            const struct nccl_settings *settings, const struct nccl_member *members,
                            uint32_t n, char *error, size_t error_bytes)
{
    *c = (struct nccl_communicator){.settings = *settings, .ranks = n};
    if (!nccl_layout_init(&c->layout, machine, settings, members, n, error, error_bytes))
        return false;
    if (!communicator_alloc(c)) {
        snprintf(error, error_bytes, "out of memory");
        nccl_communicator_free(c);
        return false;
    }
    list_servers(c, members);
    // With NVLS the peers of a block are all other ranks of its server; it has room for NCCL_PEERS.
    for (uint32_t r = 0; r < n; r++)
        if (c->server_end[r] - c->server_begin[r] > NCCL_PEERS + 1)
            c->layout.cluster.nvls.channels = 0;
    c->layout.cluster.buffer_bytes = settings->buffer_bytes;
    nccl_model_init(&c->model, &c->layout.cluster);
    limit_threads(c);
    for (uint32_t k = 0; k < c->layout.channels.all; k++)
        number_ring(c, k);
    return true;
}

void nccl_communicator_free(struct nccl_communicator *c)
{
    nccl_layout_free(&c->layout);
    free(c->position);
    free(c->by_server);
    free(c->server_begin);
    free(c->server_end);
}

bool nccl_operation_init(struct nccl_operation *o, const struct nccl_communicator *c,
                         enum nccl_function function, uint64_t bytes, uint32_t root)
{
    *o = (struct nccl_operation){.comm = c, .function = function, .root = root};
    if (!nccl_choose(&c->model, function, bytes, c->settings.algorithms, c->settings.protocols,
                     &o->choice))
        return false;
    // RCCL would run a ring in place of what it was told and cannot; here that is an error, since
    // nobody wants the times of another algorithm than that which was given.
    if (!(c->settings.algorithms >> o->choice.algorithm & 1) ||
        !(c->settings.protocols >> o->choice.protocol & 1))
        return false;
    const struct nccl_split *s = &o->choice.split;
    o->first = nccl_chunking(&c->model, function, &o->choice, s->first);
    if (s->middle > 0)
        o->middle = nccl_chunking(&c->model, function, &o->choice, s->middle);
    if (s->last > 0)
        o->last = nccl_chunking(&c->model, function, &o->choice, s->last);
    return true;
}

uint64_t nccl_operation_bytes(const struct nccl_operation *o, uint32_t channel)
{
    const struct nccl_split *s = &o->choice.split;
    return channel == 0 ? s->first : channel + 1 < s->channels ? s->middle : s->last;
}

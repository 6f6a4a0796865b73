// SPDX-License-Identifier: MIT
// The hosts of a network in shards. A rank belongs to one shard. All shards use the same tables of
// flows. A sender belongs to the shard of its source, a receiver to the shard of its destination.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/crossing.h"
#include "transport/host.h"
#include "transport/nic/adapter.h"
#include "transport/nic/stack.h"
#include "transport/sender/pairs.h"

static struct transport_dim *dims_divide(struct hosts *shard, const struct hosts *hosts)
{
    struct transport_dim *dims = memory_zeroed(hosts->n_dims, sizeof *dims);
    for (uint32_t d = 0; d < hosts->n_dims; d++) {
        dims[d] = hosts->dims[d];
        dims[d].hosts = shard;
        dims[d].senders = dims[d].receivers = (struct slab){0};
        if (dims[d].ops->divide_dim)
            dims[d].ops->divide_dim(&dims[d], &hosts->dims[d]);
    }
    return dims;
}

// Give each shard a table of the pairs of its own sources, if clients are called without a lock.
static struct pair_table *pairs_shard(const struct hosts *hosts, const struct shards *p,
                                      uint32_t shard)
{
    struct pair_table *pairs = memory_zeroed(1, sizeof *pairs);
    for (size_t i = 0; i < hosts->pairs->n; i++) {
        const struct pair *pair = &hosts->pairs->pairs[i];
        if (p->shard_of[pair->src] == shard)
            pairs_copy(pairs, pair);
    }
    return pairs;
}

static void complete(void *ctx, struct flow_id *id)
{
    id->frames = hosts_dim(ctx, id->dim, id->transport)->ops->frames;
}

// Give this process a range of flow numbers of its own, and let the network send descriptions of
// its flows to other processes.
static void flows_divide(struct hosts *hosts)
{
    const struct collwire_processes *all = hosts->net->shards->all->processes;
    if (!all)
        return;
    struct passage *passage =
        passage_new(&hosts->flows, all->n, HOSTS_FLOWS_MAX, hosts->net->shards->n);
    passage->complete = complete;
    passage->ctx = hosts;
    hosts->net->shards->passage = passage;
    hosts->flows.first = hosts->flows.n = all->rank * passage->flows_per_process;
    hosts->flows.cap = hosts->flows.first + passage->flows_per_process;
}

struct hosts *hosts_shard(struct hosts *hosts)
{
    const struct network_shards *shards = hosts->net->shards;
    uint32_t n = shards->all->n;
    flows_divide(hosts);
    struct hosts *of = memory_zeroed(n, sizeof *of);
    for (uint32_t i = 0; i < n; i++) {
        struct hosts *shard = &of[i];
        *shard = *hosts;
        shard->net = &shards->nets[i];
        shard->net->ops[NET_RANK].ctx = adapters_divide(shard, stack_divide(shard, shard));
        shard->dims = dims_divide(shard, hosts);
        message_pool_init(&shard->messages);
        if (hosts->client.by_rank)
            shard->pairs = pairs_shard(hosts, shards->all, i);
        shard->times = (struct slab){0};
        shard->no_time = slab_alloc(&shard->times, sizeof *shard->no_time);
    }
    return of;
}

void hosts_unite(struct hosts *hosts, const struct hosts *shards)
{
    for (uint32_t i = 0; i < hosts->net->shards->all->n_own; i++) {
        const struct hosts *shard = &shards[i];
        COUNTERS_ADD(&hosts->counters, &shard->counters);
        hosts->n_running += shard->n_running;
        if (shard->last_delivery_ps > hosts->last_delivery_ps)
            hosts->last_delivery_ps = shard->last_delivery_ps;
        for (uint32_t d = 0; d < hosts->n_dims; d++)
            COUNTERS_ADD(&hosts->dims[d].counters, &shard->dims[d].counters);
    }
}

void hosts_shards_free(struct hosts *shards, uint32_t n)
{
    for (uint32_t i = 0; shards && i < n; i++) {
        struct hosts *shard = &shards[i];
        for (uint32_t d = 0; d < shard->n_dims; d++) {
            if (shard->dims[d].ops->close_dim && shard->dims[d].shared)
                shard->dims[d].ops->close_dim(&shard->dims[d]);
            slab_free(&shard->dims[d].senders);
            slab_free(&shard->dims[d].receivers);
        }
        slab_free(&shard->times);
        if (shard->client.by_rank) {
            pairs_free(shard->pairs);
            free(shard->pairs);
        }
        free(shard->dims);
        message_pool_free(&shard->messages);
        adapters_shard_free(shard);
        stack_shard_free(shard);
    }
    free(shards);
}

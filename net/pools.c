// SPDX-License-Identifier: MIT
// The pools of a network's packets, and of its shards.
#include "net/crossing.h"

static bool pools_low(const struct network *net)
{
    const struct ring_pool *rings = &net->rings;
    const struct fifo_pool *fifos = &net->pool;
    return rings->n_units > rings->cap_units - rings->cap_units / 16 ||
           fifos->n_chunks > fifos->cap_chunks - fifos->cap_chunks / 16 ||
           meta_pool_low(&net->meta);
}

bool network_pools_low(const struct network *net)
{
    bool low = pools_low(net);
    for (uint32_t i = 0; net->shards && i < net->shards->n; i++)
        low |= pools_low(&net->shards->nets[i]);
    return low;
}

void network_free_packets(struct network *net)
{
    for (uint32_t i = 0; net->shards && i < net->shards->n; i++) {
        struct network *shard = &net->shards->nets[i];
        ring_pool_free(&shard->rings);
        fifo_pool_free(&shard->pool);
        meta_pool_free(&shard->meta);
    }
    ring_pool_free(&net->rings);
    fifo_pool_free(&net->pool);
    meta_pool_free(&net->meta);
}

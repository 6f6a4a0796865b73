// SPDX-License-Identifier: MIT
// The pools of a network's packets, and of its parts.
#include "net/crossing.h"

static bool pools_low(const struct network *net)
{
    const struct ring_pool *rings = &net->rings;
    const struct fifo_pool *fifos = &net->pool;
    const struct meta_pool *meta = &net->meta;
    return rings->n_units > rings->cap_units - rings->cap_units / 16 ||
           fifos->n_chunks > fifos->cap_chunks - fifos->cap_chunks / 16 ||
           meta->n_slots > meta->cap_slots - meta->cap_slots / 16;
}

bool network_pools_low(const struct network *net)
{
    bool low = pools_low(net);
    for (uint32_t i = 0; net->parts && i < net->parts->n; i++)
        low |= pools_low(&net->parts->nets[i]);
    return low;
}

void network_free_packets(struct network *net)
{
    for (uint32_t i = 0; net->parts && i < net->parts->n; i++) {
        struct network *part = &net->parts->nets[i];
        ring_pool_free(&part->rings);
        fifo_pool_free(&part->pool);
        meta_pool_free(&part->meta);
    }
    ring_pool_free(&net->rings);
    fifo_pool_free(&net->pool);
    meta_pool_free(&net->meta);
}

// SPDX-License-Identifier: MIT
// Rules of graph/connect.cc (ncclTopoPostset), transport/nvls.cc and graph/paths.cc
// (ncclTopoComputeP2pChannels).
#include "nccl/channels.h"

#define COPIES 2          // of every channel that the search found
#define FAST_RING 45      // GB/s of a channel of Hopper from which few channels are copied again
#define FEW 16            // channels
#define P2P_PER_NIC 2     // channels of a pair, before 2.30
#define P2P_CHANNEL_BW 14 // GB/s that a channel of a pair carries, since 2.30
#define P2P_PEERS_A_CHANNEL 4 // of a channel, before 2.30
#define P2P_BATCH 8           // peers that a channel serves at once, since 2.30

static uint32_t power_of_two(uint32_t least)
{
    uint32_t n = 1;
    while (n < least)
        n *= 2;
    return n;
}

static uint32_t rings_of(const struct nccl_cluster *c)
{
    uint32_t n = COPIES * c->ring.channels;
    bool again = c->gpu >= NCCL_HOPPER && c->nodes > 1 && c->ring.bw_intra > FAST_RING && n < FEW;
    return again ? 2 * n : n;
}

static uint32_t nvls_of(const struct nccl_cluster *c)
{
    if (c->nvls.channels == 0)
        return 0;
    if (c->gpu != NCCL_BLACKWELL)
        return 16;
    bool few = c->nodes == 1 || (c->version == NCCL_2_30_7 && c->nodes > 2);
    return few ? 24 : 32;
}

static uint32_t per_peer(const struct nccl_cluster *c, uint32_t p2p, uint32_t nics, double net_bw)
{
    if (c->nodes == 1)
        return p2p;
    if (c->version != NCCL_2_30_7) {
        uint32_t n = P2P_PER_NIC * nics;
        while (n > 1 && n * c->ranks > P2P_PEERS_A_CHANNEL * p2p)
            n /= 2;
        return n;
    }
    uint32_t n = 1, batches = (c->ranks + P2P_BATCH - 1) / P2P_BATCH;
    while (n * P2P_CHANNEL_BW < net_bw)
        n++;
    n = n > nics ? n : nics;
    while (n > 1 && n * batches > p2p)
        n--;
    return n;
}

struct nccl_channels nccl_channels_of(const struct nccl_cluster *c, uint32_t nics, double net_bw)
{
    struct nccl_channels n = {.rings = rings_of(c), .nvls = nvls_of(c)};
    bool raised = c->version != NCCL_2_30_7 && n.nvls > n.rings; // until 2.27
    n.all = raised ? n.nvls : n.rings;
    n.p2p = power_of_two(n.all);
    n.p2p_per_peer = per_peer(c, n.p2p, nics, net_bw);
    return n;
}

// SPDX-License-Identifier: MIT
// Rules of graph/connect.cc (ncclTopoPostset), transport/nvls.cc and graph/paths.cc
// (ncclTopoComputeP2pChannels).
#include "collective/nccl/channels.h"

#include "collective/nccl/rccl.h"
#include "collective/nccl/rules.h"

#define COPIES 2          // of every channel that the search found
#define FAST_RING 45      // GB/s of a channel of Hopper from which few channels are copied again
#define FEW 16            // channels
#define MOST 64           // channels
#define MOST_2_21 32      // in 2.21
#define PAIR_CHANNELS 2   // of a pair between servers, before 2.30
#define P2P_CHANNEL_BW 14 // GB/s that a channel of a pair carries, since 2.30
#define P2P_PEERS_A_CHANNEL 4 // of a channel, before 2.30
#define P2P_BATCH 8           // peers that a channel serves at once, since 2.30

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void count_rings(const struct nccl_cluster *c, const struct nccl_settings *settings,
                        struct nccl_channels *n)
{
    uint32_t most = c->version == NCCL_2_21_5 ? MOST_2_21 : MOST;
    n->found = c->ring.channels;
    n->made = COPIES * n->found;
    n->kept = smaller(n->made, most);
    if (c->gpu >= NCCL_HOPPER && c->nodes > 1 && c->ring.bw_intra > FAST_RING && n->kept < FEW)
        n->kept *= 2;
    n->rings = n->kept;
    if (!settings)
        return;
    if (settings->max_channels > 0)
        n->kept = smaller(n->kept, settings->max_channels);
    if (settings->max_ctas > 0)
        n->kept = smaller(n->kept, settings->max_ctas);
    // A minimum that is set outweighs a maximum that is set.
    n->rings = larger(n->kept, smaller(larger(settings->min_channels, settings->min_ctas), most));
}

static uint32_t nvls_of(const struct nccl_cluster *c, const struct nccl_settings *settings)
{
    if (c->nvls.channels == 0)
        return 0;
    bool few = c->nodes == 1 || (c->version == NCCL_2_30_7 && c->nodes > 2);
    uint32_t n = c->gpu != NCCL_BLACKWELL ? 16 : few ? 24 : 32;
    if (settings && settings->max_ctas > 0)
        n = smaller(n, settings->max_ctas);
    return settings ? larger(n, settings->min_ctas) : n;
}

static uint32_t remote_2_27(const struct nccl_cluster *c, uint32_t p2p, uint32_t nics)
{
    uint32_t n = PAIR_CHANNELS;
    // A channel serves a limited number of peers, so with many ranks a pair gets fewer channels.
    while (n > 1 && n * c->ranks > P2P_PEERS_A_CHANNEL * p2p)
        n /= 2;
    return larger(n, nics);
}

static uint32_t remote_2_30(const struct nccl_pair_limits *limits)
{
    if (limits->nics == 0)
        return PAIR_CHANNELS;
    uint32_t whole_bw = (uint32_t)limits->net_bw;
    return larger(limits->nics, (whole_bw + P2P_CHANNEL_BW - 1) / P2P_CHANNEL_BW);
}

static uint32_t per_peer(const struct nccl_cluster *c, const struct nccl_settings *settings,
                         const struct nccl_pair_limits *limits, const struct nccl_channels *n)
{
    uint32_t least = c->version == NCCL_2_30_7 ? MOST : n->all;
    uint32_t set = settings ? settings->p2p_net_channels : 0;
    if (limits->local > 0)
        least = smaller(least, limits->local);
    if (c->nodes > 1 && set > 0)
        least = smaller(least, set);
    else if (c->nodes > 1)
        least = smaller(least, c->version == NCCL_2_30_7 ? remote_2_30(limits)
                                                         : remote_2_27(c, n->all, limits->nics));
    least = nccl_power_of_two(least);
    if (c->version == NCCL_2_30_7 && c->nodes > 1 && set == 0)
        for (uint32_t batches = (c->ranks + P2P_BATCH - 1) / P2P_BATCH;
             least > 1 && least * batches > n->p2p;)
            least /= 2;
    return smaller(least, n->p2p);
}

struct nccl_channels nccl_channels_of(const struct nccl_cluster *c,
                                      const struct nccl_settings *settings,
                                      const struct nccl_pair_limits *limits)
{
    if (c->rccl)
        return rccl_channels_of(c, settings, limits);
    struct nccl_channels n = {.nvls = nvls_of(c, settings)};
    count_rings(c, settings, &n);
    bool raised = c->version != NCCL_2_30_7 && n.nvls > n.rings; // until 2.27
    n.all = raised ? n.nvls : n.rings;
    n.p2p = nccl_power_of_two(n.all);
    n.p2p_per_peer = per_peer(c, settings, limits, &n);
    return n;
}

uint32_t nccl_channel_original(const struct nccl_channels *channels, uint32_t channel)
{
    // Channels beyond those of one round of copying repeat the earlier ones, so the remainders lead
    // back to the channel that the search has found.
    return channel % channels->rings % channels->kept % channels->made;
}

// SPDX-License-Identifier: MIT
// NCCL's table of latencies says what a hop of a small message takes as a whole. The simulated
// packets take a part of that by themselves: 0.5 us in a server (links of 250 ns) and about 1 us
// through a switch between servers. The costs here are the rest.
#include "collective/nccl/host_cost.h"

#define NS INT64_C(1000)       // ps
#define MBPS UINT64_C(8000000) // MB/s in bit/s

// MB/s of user data of a block. LL: what all 24 channels of one server may carry together
// (tuning.cc, llMaxBws), shared out. LL128: half the limit of a channel (perChMaxRingLL128Bws), of
// which two copies exist; that of Blackwell is the one of version 2.30, since 2.27 has twice the
// figure of Hopper. Simple: what one channel reaches in runs of NCCL's tests with
// NCCL_MAX_NCHANNELS=1, an estimate, above what channels together can send by their links.
static const uint64_t copy_mbps[NCCL_GPUS][NCCL_PROTOCOLS] = {
    [NCCL_VOLTA] = {1625, 10000, 14000},
    [NCCL_AMPERE] = {3650, 10000, 20000},
    [NCCL_HOPPER] = {5875, 18350, 24000},
    [NCCL_BLACKWELL] = {11750, 20000, 48000},
};

// Before it sends a message of LL, a proxy looks at the flag of every line of 8 bytes of data
// (transport/net.cc, sendProxyProgress), so the CPUs limit LL between servers: two of them reach 39
// GB/s with CPUs of Intel and 22.5 with those of AMD (tuning.cc, llMaxBws). All NICs of a server
// have their share of that, since there is a proxy for each.
static uint64_t check_bps(const struct nccl_machine *m)
{
    uint64_t all_mbps = m->cpu == NCCL_CPU_AMD ? 22500 : 39000;
    return m->nics > 0 ? all_mbps / m->nics * MBPS : 0;
}

struct nccl_host_cost nccl_host_cost_of(const struct nccl_machine *machine)
{
    struct nccl_host_cost cost = {
        // baseLat of rings
        .launch_ps = {6600 * NS, 14000 * NS, 8400 * NS},
        // hwLat of rings over NVLink, 0.6, 1.9 and 3.4 us, less the packets
        .primitive_ps = {100 * NS, 500 * NS, 1000 * NS},
        .link_ps = {0, 900 * NS, 1900 * NS},
        // of trees 0.6, 1.25 and 4.0 us
        .tree_link_ps = {0, 250 * NS, 2500 * NS},
        // hwLat of trees over the network, 5.0, 8.5 and 14 us, less the packets, the primitive and
        // the proxy; version 2.27 uses them for rings of one GPU a server too
        .send_ps = {2300 * NS, 3800 * NS, 5300 * NS},
        .receive_ps = {1400 * NS, 3000 * NS, 6300 * NS},
        // an estimate: a thread posts and polls some millions of work requests a second
        .proxy_ps = 200 * NS,
        .check_bps = check_bps(machine),
    };
    for (unsigned p = 0; p < NCCL_PROTOCOLS; p++)
        cost.block_bps[p] = copy_mbps[machine->gpu][p] * MBPS;
    return cost;
}

// RCCL's own table (graph/tuning.cc, baseLat and hwLat of tuning_model_5), divided as NCCL's is.
struct nccl_host_cost rccl_host_cost(void)
{
    return (struct nccl_host_cost){
        // baseLat
        .launch_ps = {12000 * NS, 12000 * NS, 17000 * NS},
        .primitive_ps = {100 * NS, 500 * NS, 1000 * NS},
        // hwLat of rings over XGMI, 0.8 and 2.1 us, less the packets and the primitive
        .link_ps = {200 * NS, 900 * NS, 600 * NS},
        // of trees 0.9 and 2.3 us
        .tree_link_ps = {300 * NS, 250 * NS, 800 * NS},
        // hwLat of trees over the network, 10.5 and 25 us, less the packets, the primitive and the
        // proxy; LL128 has no latency in that table, and no use
        .send_ps = {5700 * NS, 3800 * NS, 10400 * NS},
        .receive_ps = {3500 * NS, 3000 * NS, 12400 * NS},
        .proxy_ps = 200 * NS,
        // Simple: an XGMI link of 48 GB/s by the 4 channels that share it in one server; LL: the
        // 0.08 of all links that RCCL counts for it, by the 28 rings of one server
        .block_bps = {960 * MBPS, 10000 * MBPS, 12000 * MBPS},
    };
}

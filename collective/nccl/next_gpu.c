// SPDX-License-Identifier: MIT
// The order in which the next GPUs of a chain are tried: rules of graph/search.cc
// (ncclTopoSearchNextGpuSort).
#include "collective/nccl/chains.h"

// The merits of a GPU as the next one, whole GB/s and links; the first that differs decides.
struct merit {
    int32_t nic_rate, pcie_left, nic_links, rate, links, distance;
    uint8_t gpu;
};

static int32_t compare_near(const struct merit *a, const struct merit *b)
{
    return a->rate != b->rate ? b->rate - a->rate : a->links - b->links;
}

static int32_t compare(const struct merit *a, const struct merit *b)
{
    if (a->nic_rate != b->nic_rate)
        return b->nic_rate - a->nic_rate;
    if (a->pcie_left != b->pcie_left)
        return b->pcie_left - a->pcie_left;
    if (a->nic_links != b->nic_links)
        return a->nic_links - b->nic_links;
    int32_t near = compare_near(a, b);
    return near != 0 ? near : a->distance - b->distance;
}

// The PCIe bandwidth of a GPU that is not taken yet: the smaller one of its two directions. For the
// direction from the CPU, NCCL reads the C2C link where the GPU has one.
static int32_t pcie_left(const struct nccl_chains *s, uint32_t gpu)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    int32_t left_mb = 0;
    for (uint16_t out = w->first[gpu]; out != NCCL_NO_LINK; out = w->link[out].sibling) {
        uint16_t in = out ^ 1;
        if (w->link[out].type != NCCL_PATH_PIX)
            continue;
        for (uint16_t l = w->first[w->link[out].to]; l != NCCL_NO_LINK; l = w->link[l].sibling)
            if (w->link[l].to == gpu && w->link[l].rate_mb > w->link[in].rate_mb)
                in = l;
        left_mb = s->left_mb[out] < s->left_mb[in] ? s->left_mb[out] : s->left_mb[in];
    }
    return left_mb / 1000;
}

static bool is_open(const struct nccl_chains *s, uint32_t gpu, uint32_t next)
{
    return nccl_route_of(s->paths, gpu, next)->links > 0 && !(s->used[next] >> s->now.channels & 1);
}

static uint32_t list_merits(const struct nccl_chains *s, uint32_t gpu, bool to_nic,
                            struct merit *merits)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    uint32_t n = 0, nic = 0;
    if (to_nic)
        nic = nccl_nic_vertex(w, (uint32_t)s->now.order[s->now.channels].nic[0]);
    // The search begins behind the GPU, since of equal GPUs the next one by number comes first.
    for (uint32_t i = 1; i < w->gpus; i++) {
        uint32_t g = (gpu + i) % w->gpus;
        const struct nccl_route *r = nccl_route_of(s->paths, gpu, g);
        if (!is_open(s, gpu, g))
            continue;
        struct merit m = {.rate = r->rate_mb / 1000,
                          .links = r->links,
                          .distance = (int32_t)i,
                          .gpu = (uint8_t)g};
        if (to_nic) {
            const struct nccl_route *out = nccl_route_of(s->paths, nic, g);
            m.nic_rate = out->rate_mb / 1000;
            m.nic_links = out->links;
            m.pcie_left = pcie_left(s, g);
        }
        uint32_t k = n++;
        for (; k > 0 && compare(&m, &merits[k - 1]) < 0; k--)
            merits[k] = merits[k - 1];
        merits[k] = m;
    }
    return n;
}

// With an NVSwitch only neighbours by number are tried, so that each GPU has few peers.
static uint32_t list_neighbours(const struct nccl_chains *s, uint32_t gpu, uint8_t *next)
{
    enum nccl_pattern pattern = s->now.pattern;
    uint32_t gpus = s->paths->wiring.gpus, n = 0;
    uint32_t before = (gpu + gpus - 1) % gpus, after = (gpu + 1) % gpus;
    bool split = pattern == NCCL_PATTERN_SPLIT_TREE || pattern == NCCL_PATTERN_BALANCED_TREE;
    bool both = (split || pattern == NCCL_PATTERN_RING) && before != after;
    uint32_t order[2] = {both && !split ? before : after, split ? before : after};
    for (uint32_t i = 0; i < (both ? 2u : 1u); i++)
        if (is_open(s, gpu, order[i]))
            next[n++] = (uint8_t)order[i];
    return n;
}

uint32_t nccl_chains_next(const struct nccl_chains *s, uint32_t gpu, bool to_nic, bool soon,
                          uint8_t *next)
{
    struct merit merits[NCCL_SERVER_GPUS];
    if (s->paths->wiring.nvswitches > 0)
        return list_neighbours(s, gpu, next);
    uint32_t n = list_merits(s, gpu, to_nic, merits);
    bool alike = true;
    for (uint32_t i = 1; i < n; i++)
        alike = alike && compare_near(&merits[i], &merits[0]) == 0;
    for (uint32_t i = 0; i < n; i++)
        next[i] = merits[to_nic && !soon && alike ? n - 1 - i : i].gpu;
    return n;
}

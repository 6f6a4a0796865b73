// SPDX-License-Identifier: MIT
// The order in which the next GPUs of a chain are tried: rules of graph/search.cc
// (ncclTopoSearchNextGpuSort).
#include <string.h>

#include "nccl/chains.h"

// The merits of a GPU as the next one, whole GB/s and links; the first that differs decides.
struct merit {
    int32_t nic_rate, pcie_rate, nic_links, rate, links, distance;
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
    if (a->pcie_rate != b->pcie_rate)
        return b->pcie_rate - a->pcie_rate;
    if (a->nic_links != b->nic_links)
        return a->nic_links - b->nic_links;
    int32_t near = compare_near(a, b);
    return near != 0 ? near : a->distance - b->distance;
}

static int32_t pcie_rate(const struct nccl_wiring *w, uint32_t gpu)
{
    for (uint16_t l = w->first[gpu]; l != NCCL_NO_LINK; l = w->link[l].sibling)
        if (w->link[l].type == NCCL_PATH_PIX)
            return w->link[l].rate_mb / 1000;
    return 0;
}

static uint32_t list_merits(const struct nccl_chains *s, uint32_t gpu, bool to_nic,
                            struct merit *merits)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    uint32_t n = 0, nic = 0;
    if (to_nic)
        nic = nccl_nic_vertex(w, (uint32_t)s->now.order[s->now.channels].nic[0]);
    for (uint32_t i = 1; i < w->gpus; i++) {
        uint32_t g = (gpu + i) % w->gpus;
        const struct nccl_route *r = nccl_route_of(s->paths, gpu, g);
        if (r->links == 0 || (s->used[g] >> s->now.channels & 1))
            continue;
        struct merit m = {.rate = r->rate_mb / 1000,
                          .links = r->links,
                          .distance = (int32_t)i,
                          .gpu = (uint8_t)g};
        if (to_nic) {
            const struct nccl_route *out = nccl_route_of(s->paths, nic, g);
            m.nic_rate = out->rate_mb / 1000;
            m.nic_links = out->links;
            m.pcie_rate = pcie_rate(w, g);
        }
        uint32_t k = n++;
        for (; k > 0 && compare(&m, &merits[k - 1]) < 0; k--)
            merits[k] = merits[k - 1];
        merits[k] = m;
    }
    return n;
}

static uint32_t bring_forward(uint8_t *next, uint32_t n, uint32_t gpu)
{
    uint32_t i = 0;
    while (i < n && next[i] != gpu)
        i++;
    if (i == n)
        return 0;
    memmove(next + 1, next, i);
    next[0] = (uint8_t)gpu;
    return 1;
}

// With an NVSwitch only neighbours by number are tried, so that each GPU has few peers.
static uint32_t only_neighbours(const struct nccl_chains *s, uint32_t gpu, uint8_t *next,
                                uint32_t n)
{
    uint32_t gpus = s->paths->wiring.gpus;
    uint32_t before = (gpu + gpus - 1) % gpus, after = (gpu + 1) % gpus, kept = 0;
    switch (s->now.pattern) {
    case NCCL_PATTERN_RING:
        kept += bring_forward(next, n, after);
        return before == after ? kept : kept + bring_forward(next, n, before);
    case NCCL_PATTERN_SPLIT_TREE:
    case NCCL_PATTERN_BALANCED_TREE:
        kept += bring_forward(next, n, before);
        return before == after ? kept : kept + bring_forward(next, n, after);
    default:
        return bring_forward(next, n, after);
    }
}

uint32_t nccl_chains_next(const struct nccl_chains *s, uint32_t gpu, bool to_nic, bool soon,
                          uint8_t *next)
{
    struct merit merits[NCCL_SERVER_GPUS];
    uint32_t n = list_merits(s, gpu, to_nic, merits);
    bool alike = true;
    for (uint32_t i = 1; i < n; i++)
        alike = alike && compare_near(&merits[i], &merits[0]) == 0;
    for (uint32_t i = 0; i < n; i++)
        next[i] = merits[to_nic && !soon && alike ? n - 1 - i : i].gpu;
    return s->paths->wiring.nvswitches > 0 ? only_neighbours(s, gpu, next, n) : n;
}

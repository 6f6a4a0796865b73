// SPDX-License-Identifier: MIT
// The bandwidth of each link that the channels placed so far have not taken: rules of
// graph/search.cc (followPath, ncclTopoFollowPath).
#include "collective/nccl/chains.h"

#define PARTS 80 // of 1 MB/s, in which a demand is counted

// Parts of MB/s that a path of a channel takes from each of its PCIe links: through an Intel CPU,
// direct access between GPUs costs a fifth more.
static int32_t pcie_parts(const struct nccl_wiring *w, uint32_t from, const struct nccl_route *r)
{
    bool split = w->cpu == NCCL_CPU_INTEL && r->type == NCCL_PATH_PHB && nccl_is_gpu(w, from);
    return split ? PARTS * 6 / 5 : PARTS;
}

// A GPU before Ampere answers what comes from elsewhere, with an eighth of the rate.
static bool is_answered(const struct nccl_wiring *w, uint32_t from, const struct nccl_link *link)
{
    return w->gpu < NCCL_AMPERE && nccl_is_gpu(w, link->to) && !nccl_is_gpu(w, from);
}

// Subtracts parts and rounds to whole MB/s.
static int32_t less(int32_t rate_mb, int64_t parts)
{
    return (int32_t)(((int64_t)rate_mb * PARTS - parts + PARTS / 2) / PARTS);
}

// Takes a rate from the first `n` links of a path, or gives it back if negative; returns how many
// links had enough.
static uint32_t charge(struct nccl_chains *s, uint32_t from, const struct nccl_route *r, uint32_t n,
                       int32_t rate_mb)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    int32_t pcie = pcie_parts(w, from, r);
    for (uint32_t i = 0; i < n; i++) {
        const struct nccl_link *link = &w->link[r->link[i]];
        int32_t *left = &s->left_mb[r->link[i]], *back = &s->left_mb[r->link[i] ^ 1];
        int64_t parts = (int64_t)rate_mb * (link->type == NCCL_PATH_PIX ? pcie : PARTS);
        int64_t answer = is_answered(w, from, link) ? parts / 8 : 0;
        if ((int64_t)*left * PARTS < parts || (int64_t)*back * PARTS < answer)
            return i;
        *left = less(*left, parts);
        if (answer != 0)
            *back = less(*back, answer);
    }
    return n;
}

static bool is_inside(const struct nccl_wiring *w, uint32_t vertex)
{
    return nccl_is_gpu(w, vertex) || (w->nvswitches > 0 && vertex == nccl_nvswitch_vertex(w));
}

static bool is_tree(enum nccl_pattern pattern)
{
    return pattern == NCCL_PATTERN_TREE || pattern == NCCL_PATTERN_SPLIT_TREE ||
           pattern == NCCL_PATTERN_BALANCED_TREE;
}

static int32_t rate_of(const struct nccl_chains *s, uint32_t from, uint32_t to)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    return is_inside(w, from) && is_inside(w, to) ? s->now.intra_mb : s->now.inter_mb;
}

// The length of a path, by which NCCL ranks solutions. Since 2.30 a GPU and its NVLink and PCIe are
// two vertices, so that each path counts one link more at a GPU, and two more through one by PXN.
static int32_t hops_of(const struct nccl_wiring *w, const struct nccl_route *r, uint32_t from,
                       uint32_t to)
{
    if (w->version != NCCL_2_30_7 || r->links == 0)
        return r->links;
    return r->links + nccl_is_gpu(w, from) + nccl_is_gpu(w, to) +
           (r->type == NCCL_PATH_PXN ? 2 : 0);
}

bool nccl_chains_take(struct nccl_chains *s, uint32_t from, uint32_t to, int32_t times)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    const struct nccl_route *r = nccl_route_of(s->paths, from, to);
    bool inside = is_inside(w, from) && is_inside(w, to);
    uint8_t farthest = inside ? s->now.type_intra : s->now.type_inter;
    if (r->type == NCCL_PATHS)
        return false;
    if (times == 1 && r->type > farthest)
        return false;
    if (times == 1 && is_tree(s->now.pattern) && nccl_route_of(s->paths, to, from)->type > farthest)
        return false;
    int32_t rate_mb = rate_of(s, from, to) * times;
    uint32_t done = charge(s, from, r, r->links, rate_mb);
    if (done < r->links) {
        charge(s, from, r, done, -rate_mb);
        return false;
    }
    s->now.hops += times * hops_of(w, r, from, to);
    return true;
}

void nccl_chains_give_back(struct nccl_chains *s, uint32_t from, uint32_t to, int32_t times)
{
    const struct nccl_route *r = nccl_route_of(s->paths, from, to);
    charge(s, from, r, r->links, -rate_of(s, from, to) * times);
    s->now.hops -= times * hops_of(&s->paths->wiring, r, from, to);
}

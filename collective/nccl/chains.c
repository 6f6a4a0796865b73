// SPDX-License-Identifier: MIT
// Rules of graph/search.cc: ncclTopoSearchRec and what it calls.
#include "collective/nccl/chains.h"

#include <string.h>

/* ---- capacity ---- */

// The bandwidth of each link that the channels placed so far have not taken: rules of
// graph/search.cc (followPath, ncclTopoFollowPath).

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

// Takes `times` the rate of a channel along the path between two vertices, if it has that much and
// is near enough; the distance is not checked for twice the rate.
static bool nccl_chains_take(struct nccl_chains *s, uint32_t from, uint32_t to, int32_t times)
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
    // A path is taken as a whole or not at all.
    if (done < r->links) {
        charge(s, from, r, done, -rate_mb);
        return false;
    }
    s->now.hops += times * hops_of(w, r, from, to);
    return true;
}

static void nccl_chains_give_back(struct nccl_chains *s, uint32_t from, uint32_t to, int32_t times)
{
    const struct nccl_route *r = nccl_route_of(s->paths, from, to);
    charge(s, from, r, r->links, -rate_of(s, from, to) * times);
    s->now.hops -= times * hops_of(&s->paths->wiring, r, from, to);
}

/* ---- chains ---- */

#define FIRST_VISITS 1024 // of the order by number, which is tried first
#define NOWHERE UINT32_MAX

// How the next GPU is picked.
enum pick {
    PICK_ANY,
    PICK_BY_NUMBER,
    PICK_AS_BEFORE // as in the channel before
};

// Where a chain is: the GPUs passed, the number after which it goes to its NIC, and after which it
// returns to its first GPU (-1 = not any more).
struct at {
    int32_t step, nic_step, return_step;
    enum pick pick;
};

static void start_channel(struct nccl_chains *s);
static void visit(struct nccl_chains *s, uint32_t gpu, struct at at);

/* ---- a chain ---- */

static bool is_improvement(const struct nccl_chains *s)
{
    const struct nccl_attempt *a = &s->now, *b = &s->best;
    if (a->channels < a->least)
        return false;
    if (a->pattern == NCCL_PATTERN_NVLS)
        return (a->channels > b->channels && a->channels <= s->paths->wiring.gpus) ||
               (int64_t)a->channels * a->inter_mb > (int64_t)b->channels * b->inter_mb;
    int64_t now = (int64_t)a->channels * a->intra_mb, best = (int64_t)b->channels * b->intra_mb;
    if (now != best)
        return now > best;
    return a->pattern == b->pattern && a->cross_nic == b->cross_nic && a->hops < b->hops;
}

static void finish_channel(struct nccl_chains *s)
{
    s->now.channels++;
    if (is_improvement(s)) {
        s->best = s->now;
        // There are as many channels as wanted, so the search need not go on.
        if (s->now.channels == s->now.most)
            s->visits = NCCL_ALL_FOUND;
    }
    if (s->now.channels < s->now.most)
        start_channel(s);
    s->now.channels--;
}

// Goes to a GPU from another vertex, or begins with it from NOWHERE.
static void enter(struct nccl_chains *s, uint32_t from, uint32_t gpu, struct at at)
{
    if (s->visits <= 0 || (from != NOWHERE && !nccl_chains_take(s, from, gpu, 1)))
        return;
    s->used[gpu] ^= UINT64_C(1) << s->now.channels;
    visit(s, gpu, at);
    s->used[gpu] ^= UINT64_C(1) << s->now.channels;
    if (from != NOWHERE)
        nccl_chains_give_back(s, from, gpu, 1);
}

// Whether a channel that entered by one NIC may leave by another one.
static bool may_leave(const struct nccl_chains *s, uint8_t nic, int32_t step)
{
    const struct nccl_attempt *a = &s->now;
    const struct nccl_order *order = &a->order[a->channels];
    bool same = nic == order->nic[0], odd = a->channels & 1;
    // Of each two channels that cross NICs, the second one is the first one reversed.
    bool reversed = !odd || nic == a->order[a->channels - 1].nic[0];
    if (a->pattern == NCCL_PATTERN_TREE && !same)
        return false;
    if (a->pattern == NCCL_PATTERN_BALANCED_TREE && step > 0 && nic != order->nic[1])
        return false;
    if (s->paths->wiring.version == NCCL_2_21_5)
        return a->cross_nic ? reversed : same;
    if (a->pattern == NCCL_PATTERN_RING && a->cross_nic == NCCL_CROSS_NIC_AUTO)
        return reversed;
    return a->cross_nic || same;
}

// Goes from a GPU to each NIC. A balanced tree does so from its first two GPUs, with half the rate.
static void leave(struct nccl_chains *s, uint32_t gpu, struct at at)
{
    struct nccl_attempt *a = &s->now;
    bool balanced = a->pattern == NCCL_PATTERN_BALANCED_TREE;
    int32_t whole_mb = a->inter_mb, part_mb = balanced ? whole_mb / 2 : whole_mb;
    struct at then = at;
    then.nic_step = balanced && at.step == 0 ? 1 : -1;
    for (uint32_t i = 0; i < s->n_exits[gpu]; i++) {
        uint8_t nic = s->exits[gpu][i];
        uint32_t vertex = nccl_nic_vertex(&s->paths->wiring, nic);
        if (!may_leave(s, nic, at.step))
            continue;
        a->inter_mb = part_mb;
        bool taken = nccl_chains_take(s, gpu, vertex, 1);
        a->inter_mb = whole_mb;
        if (!taken)
            continue;
        a->order[a->channels].nic[1] = (int16_t)nic;
        visit(s, gpu, then);
        a->inter_mb = part_mb;
        nccl_chains_give_back(s, gpu, vertex, 1);
        a->inter_mb = whole_mb;
    }
}

// NVLS: the head pulls from the NVSwitch what all GPUs put in, and the sum goes back to all. The
// head moves it twice.
static void use_nvswitch(struct nccl_chains *s, uint32_t head)
{
    uint32_t gpus = s->paths->wiring.gpus, nvs = nccl_nvswitch_vertex(&s->paths->wiring);
    uint32_t out = 0, in = 0;
    while (out < gpus && nccl_chains_take(s, nvs, out, out == head ? 2 : 1))
        out++;
    while (out == gpus && in < gpus && nccl_chains_take(s, in, nvs, in == head ? 2 : 1))
        in++;
    if (in == gpus)
        visit(s, head, (struct at){.step = (int32_t)gpus, .nic_step = -1, .return_step = -1});
    while (in-- > 0)
        nccl_chains_give_back(s, in, nvs, in == head ? 2 : 1);
    while (out-- > 0)
        nccl_chains_give_back(s, nvs, out, out == head ? 2 : 1);
}

static void go_on(struct nccl_chains *s, uint32_t gpu, struct at at)
{
    uint8_t next[NCCL_SERVER_GPUS];
    uint32_t n = 1;
    if (at.pick == PICK_BY_NUMBER)
        next[0] = (uint8_t)(at.step + 1);
    else if (at.pick == PICK_AS_BEFORE)
        next[0] = s->now.order[s->now.channels - 1].gpu[at.step + 1];
    else
        n = nccl_chains_next(s, gpu, at.nic_step >= 0, at.nic_step == at.step + 1, next);
    at.step++;
    for (uint32_t i = 0; i < n; i++)
        enter(s, gpu, next[i], at);
}

static void visit(struct nccl_chains *s, uint32_t gpu, struct at at)
{
    int32_t gpus = (int32_t)s->paths->wiring.gpus;
    if (s->visits <= 0)
        return;
    s->visits--;
    if (at.step == gpus) {
        finish_channel(s);
        return;
    }
    uint8_t *order = s->now.order[s->now.channels].gpu;
    order[at.step] = (uint8_t)gpu;
    struct at end = {.step = gpus, .nic_step = -1, .return_step = -1, .pick = at.pick};
    if (at.step == at.nic_step) {
        leave(s, gpu, at);
    } else if (s->now.pattern == NCCL_PATTERN_NVLS) {
        use_nvswitch(s, gpu);
    } else if (at.step < gpus - 1) {
        go_on(s, gpu, at);
    } else if (at.step != at.return_step) {
        visit(s, gpu, end);
    } else if (nccl_chains_take(s, gpu, order[0], 1)) {
        visit(s, order[0], end);
        nccl_chains_give_back(s, gpu, order[0], 1);
    }
}

/* ---- the start of a channel ---- */

static uint32_t first_before(const struct nccl_chains *s)
{
    return s->now.order[s->now.channels - 1].gpu[0];
}

// The first order that is tried has visits of its own, and sets a mark for the others.
static void try_by_number(struct nccl_chains *s, uint32_t nic, struct at at)
{
    int64_t visits = s->visits;
    at.pick = PICK_BY_NUMBER;
    s->visits = FIRST_VISITS;
    enter(s, nic, 0, at);
    s->visits = s->visits == NCCL_ALL_FOUND ? NCCL_ALL_FOUND : visits;
}

static void try_near_gpus(struct nccl_chains *s, uint32_t nic, struct at at)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    uint32_t vertex = nccl_nic_vertex(w, nic);
    int32_t owner = s->paths->nic_gpu[nic];
    uint8_t near[NCCL_SERVER_GPUS];
    uint32_t n = nccl_paths_nearest(s->paths, vertex, 0, w->gpus, near);
    if (owner >= 0)
        enter(s, vertex, (uint32_t)owner, at);
    for (uint32_t i = 0; i < n; i++)
        if (near[i] != owner)
            enter(s, vertex, near[i], at);
}

// 2.21 has no owner of a NIC: of the GPUs with the fastest and then shortest path, each in turn.
static void try_near_gpus_2_21(struct nccl_chains *s, uint32_t nic, struct at at)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    uint32_t vertex = nccl_nic_vertex(w, nic);
    int32_t rate_mb = 0;
    uint8_t links = 0;
    for (uint32_t g = 0; g < w->gpus; g++) {
        const struct nccl_route *r = nccl_route_of(s->paths, vertex, g);
        if (r->rate_mb > rate_mb || (r->rate_mb == rate_mb && r->links < links)) {
            rate_mb = r->rate_mb;
            links = r->links;
        }
    }
    if (rate_mb < s->now.inter_mb / 1000 * 1000)
        return;
    for (uint32_t i = 0; i < w->gpus; i++) {
        uint32_t g = (s->now.channels + i) % w->gpus;
        const struct nccl_route *r = nccl_route_of(s->paths, vertex, g);
        if (r->rate_mb == rate_mb && r->links == links)
            enter(s, vertex, g, at);
    }
}

// NVLS: the head of a channel is the owner of its NIC. Since 2.27 no GPU is head twice. Returns
// whether a head was tried.
static bool try_head(struct nccl_chains *s, uint32_t nic, struct at at)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    int32_t owner = s->paths->nic_gpu[nic];
    if (owner < 0 || s->now.channels >= s->n_exits[w->gpus])
        return false;
    for (uint32_t c = 0; w->version != NCCL_2_21_5 && c < s->now.channels; c++)
        if (s->now.order[c].gpu[0] == owner)
            return false;
    enter(s, nccl_nic_vertex(w, nic), (uint32_t)owner, at);
    return true;
}

static void start_at_nic(struct nccl_chains *s, uint32_t nic, struct at at)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    uint32_t vertex = nccl_nic_vertex(w, nic);
    bool first = s->now.channels == 0, old = w->version == NCCL_2_21_5;
    if (!first && (s->now.same_channels || old)) {
        struct at again = at;
        again.pick = PICK_AS_BEFORE;
        enter(s, vertex, first_before(s), again);
        if (s->now.same_channels)
            return;
    }
    if (first && w->nvswitches == 0)
        try_by_number(s, vertex, at);
    if (old)
        try_near_gpus_2_21(s, nic, at);
    else
        try_near_gpus(s, nic, at);
}

// Whether a channel may enter by a NIC: of each two that cross NICs, the second enters where the
// first one leaves.
static bool may_enter(const struct nccl_chains *s, uint8_t nic)
{
    const struct nccl_attempt *a = &s->now;
    bool old = s->paths->wiring.version == NCCL_2_21_5;
    bool paired = old ? a->cross_nic > 0
                      : a->pattern == NCCL_PATTERN_RING && a->cross_nic == NCCL_CROSS_NIC_AUTO;
    return !paired || !(a->channels & 1) || nic == a->order[a->channels - 1].nic[1];
}

static void start_from_network(struct nccl_chains *s, struct at at)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    bool nvls = s->now.pattern == NCCL_PATTERN_NVLS, tried = false;
    uint32_t n = s->n_exits[w->gpus];
    int32_t rate_mb = s->now.inter_mb / 1000 * 1000; // ports are counted in whole GB/s
    for (uint32_t i = 0; i < n && !(nvls && tried); i++) {
        uint8_t nic = s->exits[w->gpus][(s->now.channels + i) % n];
        tried = w->version == NCCL_2_21_5; // which tries one NIC for NVLS
        if (s->port_left_mb[nic] < rate_mb || !may_enter(s, nic))
            continue;
        s->now.order[s->now.channels].nic[0] = (int16_t)nic;
        s->port_left_mb[nic] -= rate_mb;
        if (nvls)
            tried = try_head(s, nic, at) || tried;
        else
            start_at_nic(s, nic, at);
        s->port_left_mb[nic] += rate_mb;
    }
}

static void start_inside(struct nccl_chains *s, struct at at)
{
    if (s->now.pattern == NCCL_PATTERN_NVLS) {
        enter(s, NOWHERE, s->now.channels, at);
        return;
    }
    struct at given = at;
    bool first = s->now.channels == 0;
    given.pick = first ? PICK_BY_NUMBER : PICK_AS_BEFORE;
    enter(s, NOWHERE, first ? 0 : first_before(s), given);
    for (uint32_t g = 0; (first || !s->now.same_channels) && g < s->paths->wiring.gpus; g++)
        enter(s, NOWHERE, g, at);
}

static void start_channel(struct nccl_chains *s)
{
    int32_t last = (int32_t)s->paths->wiring.gpus - 1;
    bool ring = s->now.pattern == NCCL_PATTERN_RING;
    s->now.order[s->now.channels].nic[0] = s->now.order[s->now.channels].nic[1] = -1;
    if (s->paths->wiring.networked) {
        int32_t nic_step = ring ? last : s->now.pattern == NCCL_PATTERN_SPLIT_TREE ? 1 : 0;
        start_from_network(s, (struct at){.nic_step = nic_step, .return_step = -1});
    } else {
        start_inside(s, (struct at){.nic_step = -1, .return_step = ring ? last : -1});
    }
}

/* ---- an attempt ---- */

static void add_exit(struct nccl_chains *s, uint32_t from, uint8_t nic)
{
    uint32_t n = s->n_exits[from];
    if (memchr(s->exits[from], nic, n) == NULL)
        s->exits[from][s->n_exits[from]++] = nic;
}

// From a GPU, or from all: first the NICs that a GPU prefers on its channels, then all that are
// near enough.
static void list_exits(struct nccl_chains *s, uint32_t from)
{
    const struct nccl_wiring *w = &s->paths->wiring;
    uint32_t low = from == w->gpus ? 0 : from, high = from == w->gpus ? w->gpus : from + 1;
    s->n_exits[from] = 0;
    for (uint32_t g = low; g < high; g++)
        for (uint32_t channel = 0; channel < w->nics; channel++) {
            int32_t nic = nccl_paths_nic(s->paths, g, channel);
            if (nic < 0 || (channel > 0 && nic == nccl_paths_nic(s->paths, g, 0)))
                break;
            add_exit(s, from, (uint8_t)nic);
        }
    for (uint8_t type = 0; type <= s->now.type_inter; type++)
        for (uint32_t g = low; g < high; g++)
            for (uint32_t n = 0; n < w->nics; n++)
                if (nccl_route_of(s->paths, g, nccl_nic_vertex(w, n))->type == type)
                    add_exit(s, from, (uint8_t)n);
}

void nccl_chains_init(struct nccl_chains *s, const struct nccl_paths *paths)
{
    const struct nccl_wiring *w = &paths->wiring;
    s->paths = paths;
    for (uint32_t l = 0; l < w->links; l++)
        s->left_mb[l] = w->link[l].rate_mb;
    for (uint32_t n = 0; n < w->nics; n++)
        s->port_left_mb[n] = w->port_mb[n];
    memset(s->used, 0, sizeof s->used);
}

int64_t nccl_chains_try(struct nccl_chains *s, int64_t visits)
{
    for (uint32_t from = 0; from <= s->paths->wiring.gpus; from++)
        list_exits(s, from);
    s->visits = visits;
    s->now.channels = 0;
    start_channel(s);
    return s->visits;
}

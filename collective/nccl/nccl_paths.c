// SPDX-License-Identifier: MIT
// Rules of graph/paths.cc (ncclTopoComputePaths) and of the nearest devices in graph/topo.cc
// (ncclTopoGetLocal, ncclTopoGetLocalNet, ncclTopoGetLocalGpu).
#include "collective/nccl/nccl_paths.h"

#include <stdlib.h>
#include <string.h>

#include "collective/nccl/rules.h"

#define CHANNELS 64 // at which the nearest NICs are looked up

static struct nccl_route *route_at(struct nccl_paths *p, uint32_t from, uint32_t to)
{
    return &p->route[(size_t)from * p->wiring.ends + to];
}

/* ---- direct paths ---- */

static uint8_t later(uint8_t a, uint8_t b) { return a > b ? a : b; }

// Type of the path that begins with a link from `next` to `vertex` and goes on from there.
static uint8_t longer_type(const struct nccl_wiring *w, const struct nccl_link *link,
                           const struct nccl_route *rest)
{
    uint8_t type = link->type;
    // PCIe to a CPU goes through its host bridge.
    if (type == NCCL_PATH_PIX && (nccl_is_cpu(w, link->from) || nccl_is_cpu(w, link->to)))
        type = NCCL_PATH_PHB;
    bool through_gpu = nccl_is_gpu(w, link->from) && rest->links > 0;
    if (through_gpu && type == NCCL_PATH_NVL && rest->type == NCCL_PATH_NVL)
        type = NCCL_PATH_NVB;
    return later(rest->type, type);
}

// Whether a path of one more link than `rest` replaces `old`. Since 2.30 the type counts first.
static bool is_better(enum nccl_version version, const struct nccl_route *old,
                      const struct nccl_route *rest, uint8_t type, int32_t rate_mb)
{
    if (version != NCCL_2_30_7)
        return (old->rate_mb == 0 || old->links > rest->links) && old->rate_mb < rate_mb;
    if (type != old->type)
        return type < old->type;
    if (rate_mb != old->rate_mb)
        return rate_mb > old->rate_mb;
    return old->links > rest->links + 1;
}

// Traffic passes through a GPU only from NVLink to NVLink, and only through one.
static bool may_pass(const struct nccl_wiring *w, uint32_t end, const struct nccl_link *link,
                     const struct nccl_route *rest)
{
    if (link->from == end || !nccl_is_gpu(w, link->from))
        return true;
    return link->type == NCCL_PATH_NVL && nccl_is_gpu(w, link->to) && rest->links <= 1;
}

// Lengthens the path from a link's start to its other side; returns whether that is a new best.
static bool lengthen(struct nccl_paths *p, uint32_t end, uint16_t number)
{
    const struct nccl_wiring *w = &p->wiring;
    const struct nccl_link *link = &w->link[number];
    const struct nccl_route *rest = route_at(p, link->from, end);
    struct nccl_route *old = route_at(p, link->to, end);
    if (!may_pass(w, end, link, rest) || rest->links + 1 >= NCCL_ROUTE_LINKS)
        return false;
    uint8_t type = longer_type(w, link, rest);
    int32_t rate_mb = link->rate_mb < rest->rate_mb ? link->rate_mb : rest->rate_mb;
    if (!is_better(w->version, old, rest, type, rate_mb))
        return false;
    *old =
        (struct nccl_route){.type = type, .links = (uint8_t)(rest->links + 1), .rate_mb = rate_mb};
    // Paths lead towards `end`, so they use the link in the other direction.
    old->link[0] = number ^ 1;
    memcpy(&old->link[1], rest->link, rest->links * sizeof *rest->link);
    return true;
}

// Breadth first from `end`: the paths of all vertices to it.
static void find_paths_to(struct nccl_paths *p, uint32_t end)
{
    const struct nccl_wiring *w = &p->wiring;
    uint16_t ring[2][NCCL_WIRING_VERTICES];
    uint32_t n = 1;
    for (uint32_t v = 0; v < w->vertices; v++)
        *route_at(p, v, end) = (struct nccl_route){.type = NCCL_PATHS};
    *route_at(p, end, end) = (struct nccl_route){.type = NCCL_PATH_LOC, .rate_mb = NCCL_ANY_RATE};
    ring[0][0] = (uint16_t)end;
    for (unsigned side = 0; n > 0; side ^= 1) {
        bool listed[NCCL_WIRING_VERTICES] = {false};
        uint32_t next = 0;
        for (uint32_t i = 0; i < n; i++)
            for (uint16_t l = w->first[ring[side][i]]; l != NCCL_NO_LINK; l = w->link[l].sibling) {
                uint16_t to = w->link[l].to;
                if (!lengthen(p, end, l) || listed[to])
                    continue;
                listed[to] = true;
                ring[side ^ 1][next++] = to;
            }
        n = next;
    }
}

/* ---- paths through another device ---- */

// C2C and then PCIe under the same CPU is a type of its own, since 2.27.
static uint8_t joined_type(uint8_t a, uint8_t b)
{
    uint8_t far = later(a, b), near = a < b ? a : b;
    return far == NCCL_PATH_PHB && near == NCCL_PATH_C2C ? NCCL_PATH_P2C : far;
}

static void divert(struct nccl_paths *p, uint32_t from, uint32_t through, uint32_t to)
{
    const struct nccl_route a = *route_at(p, from, through), b = *route_at(p, through, to);
    struct nccl_route *r = route_at(p, from, to);
    if (a.type == NCCL_PATHS || b.type == NCCL_PATHS || a.links + b.links > NCCL_ROUTE_LINKS)
        return;
    r->links = (uint8_t)(a.links + b.links);
    r->type = nccl_is_gpu(&p->wiring, through) ? NCCL_PATH_PXN : joined_type(a.type, b.type);
    r->rate_mb = a.rate_mb < b.rate_mb ? a.rate_mb : b.rate_mb;
    memcpy(r->link, a.link, a.links * sizeof *a.link);
    memcpy(r->link + a.links, b.link, b.links * sizeof *b.link);
}

static uint32_t nearest_cpu(const struct nccl_paths *p, uint32_t gpu)
{
    uint32_t best = nccl_cpu_vertex(&p->wiring, 0);
    for (uint32_t c = best + 1; c < nccl_cpu_vertex(&p->wiring, p->wiring.cpus); c++)
        if (nccl_route_of(p, gpu, c)->links < nccl_route_of(p, gpu, best)->links)
            best = c;
    return best;
}

// GPUs that are too far apart for direct access copy through the memory of a CPU.
static void divert_far_gpus(struct nccl_paths *p)
{
    const struct nccl_wiring *w = &p->wiring;
    bool through_amd = w->cpu == NCCL_CPU_AMD && (w->version == NCCL_2_21_5 || w->gpus <= 2);
    uint8_t farthest = through_amd ? NCCL_PATH_SYS : NCCL_PATH_PXB;
    for (uint32_t to = 0; to < w->gpus; to++)
        for (uint32_t from = 0; from < w->gpus; from++)
            if (route_at(p, from, to)->type > farthest)
                divert(p, from, nearest_cpu(p, to), to);
}

// A NIC at the CPU of a GPU that has C2C. Since 2.30 only the nearest NICs of a GPU count so.
static void mark_c2c(struct nccl_paths *p)
{
    const struct nccl_wiring *w = &p->wiring;
    if (w->version == NCCL_2_21_5)
        return;
    for (uint32_t g = 0; g < w->gpus; g++) {
        uint32_t cpu = nearest_cpu(p, g), count = w->nics;
        uint8_t near[NCCL_SERVER_NICS];
        if (w->version == NCCL_2_30_7)
            count = nccl_paths_nearest(p, g, nccl_nic_vertex(w, 0), w->nics, near);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t nic = nccl_nic_vertex(w, w->version == NCCL_2_30_7 ? near[i] : i);
            struct nccl_route *out = route_at(p, g, nic), *in = route_at(p, nic, g);
            uint8_t joined = joined_type(route_at(p, g, cpu)->type, route_at(p, nic, cpu)->type);
            if (joined != NCCL_PATH_P2C)
                continue;
            out->type = out->type < joined ? out->type : joined;
            in->type = in->type < joined ? in->type : joined;
        }
    }
}

enum nccl_path nccl_paths_widest_relay(enum nccl_version version)
{
    return version == NCCL_2_30_7 ? NCCL_PATH_P2C : NCCL_PATH_PXB; // PXN_C2C
}

static int32_t owner_of(const struct nccl_paths *p, uint32_t nic)
{
    const struct nccl_wiring *w = &p->wiring;
    uint8_t near[NCCL_SERVER_GPUS];
    uint32_t n = nccl_paths_nearest(p, nccl_nic_vertex(w, nic), 0, w->gpus, near);
    for (uint32_t channel = 0; channel < CHANNELS; channel++)
        for (uint32_t i = 0; i < n; i++)
            if (nccl_paths_nic(p, near[i], channel) == (int32_t)nic)
                return near[i];
    return -1;
}

// PXN: to send through the GPU that owns the NIC, which is reached by NVLink. Receivers use the
// direct path.
static void add_relays(struct nccl_paths *p)
{
    const struct nccl_wiring *w = &p->wiring;
    for (uint32_t n = 0; n < w->nics; n++)
        for (uint32_t g = 0; g < w->gpus; g++) {
            int32_t owner = owner_of(p, n);
            if (owner < 0 || owner == (int32_t)g)
                continue;
            uint32_t nic = nccl_nic_vertex(w, n), relay = (uint32_t)owner;
            const struct nccl_route *last = route_at(p, relay, nic), *own = route_at(p, g, nic);
            if (last->type <= nccl_paths_widest_relay(w->version) &&
                route_at(p, relay, g)->type <= NCCL_PATH_NVL &&
                (last->rate_mb > own->rate_mb || own->type > NCCL_PATH_PXN))
                divert(p, g, relay, nic);
        }
}

/* ---- the interface ---- */

bool nccl_paths_init(struct nccl_paths *p, const struct nccl_settings *settings)
{
    const struct nccl_wiring *w = &p->wiring;
    p->route = malloc((size_t)w->vertices * w->ends * sizeof *p->route);
    if (p->route == NULL)
        return false;
    for (uint32_t end = 0; end < w->ends; end++)
        find_paths_to(p, end);
    divert_far_gpus(p);
    mark_c2c(p);
    if (settings->pxn)
        add_relays(p);
    for (uint32_t n = 0; n < w->nics; n++)
        p->nic_gpu[n] = owner_of(p, n);
    return true;
}

void nccl_paths_free(struct nccl_paths *p)
{
    free(p->route);
    p->route = NULL;
}

uint32_t nccl_paths_nearest(const struct nccl_paths *p, uint32_t from, uint32_t base,
                            uint32_t count, uint8_t *nearest)
{
    uint32_t n = 0;
    int32_t rate_mb = 0;
    uint8_t type = NCCL_PATHS;
    for (uint32_t i = 0; i < count; i++) {
        const struct nccl_route *r = nccl_route_of(p, from, base + i);
        if (r->rate_mb > rate_mb || (r->rate_mb == rate_mb && r->type < type)) {
            rate_mb = r->rate_mb;
            type = r->type;
            n = 0;
        }
        if (r->type != NCCL_PATHS && r->rate_mb == rate_mb && r->type == type)
            nearest[n++] = (uint8_t)i;
    }
    return n;
}

int32_t nccl_paths_nic(const struct nccl_paths *p, uint32_t gpu, uint32_t channel)
{
    const struct nccl_wiring *w = &p->wiring;
    uint8_t nics[NCCL_SERVER_NICS], sharers[NCCL_SERVER_GPUS];
    uint32_t n = nccl_paths_nearest(p, gpu, nccl_nic_vertex(w, 0), w->nics, nics);
    if (n == 0)
        return -1;
    // GPUs that are equally near to a NIC share the near NICs: each uses its part of them in turn,
    // channel by channel.
    uint32_t shared = nccl_paths_nearest(p, nccl_nic_vertex(w, nics[0]), 0, w->gpus, sharers);
    uint32_t first = w->gpu_of_machine[gpu];
    if (w->version == NCCL_2_30_7)
        first %= shared;
    if ((n & (n - 1)) == 0) // neighbours use NICs far apart
        first = nccl_mirrored(first, n);
    return nics[(first + channel % ((n + shared - 1) / shared)) % n];
}

uint32_t nccl_paths_relay(const struct nccl_paths *p, uint32_t gpu, uint32_t nic)
{
    const struct nccl_wiring *w = &p->wiring;
    const struct nccl_route *r = nccl_route_of(p, gpu, nccl_nic_vertex(w, nic));
    // A path with PXN leads by NVLink, possibly through an NVSwitch, to its relay: the first GPU on
    // the path.
    for (uint32_t i = 0; r->type == NCCL_PATH_PXN && i < r->links; i++)
        if (nccl_is_gpu(w, w->link[r->link[i]].to))
            return w->link[r->link[i]].to;
    return gpu;
}

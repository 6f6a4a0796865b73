// SPDX-License-Identifier: MIT
// Rules of graph/search.cc (ncclTopoCompute, ncclTopoDupChannels): which demands are tried, in
// which order, and when the result is good enough.
#include "collective/nccl/nccl_search.h"

#include <stdlib.h>
#include <string.h>

#include "collective/nccl/chains.h"

// Visits of one attempt, and of all attempts after which any solution will do.
#define VISITS 16384
#define VISITS_SAME_CHANNELS 256
#define VISITS_IN_ALL 524288

#define NVLS_HEADS 32

// Rings at most, before copying.
#define RINGS_2_21 16
#define RINGS 32
#define RINGS_RCCL 64
#define RINGS_RCCL_BIG 2 // of one server with more than so many GPUs
#define RCCL_BIG 4

/* ---- rates to try ---- */

// MB/s, falling.
struct speeds {
    uint32_t n;
    int32_t mb[20];
};

static const struct speeds inside = {
    13, {40000, 30000, 20000, 18000, 15000, 12000, 10000, 9000, 7000, 6000, 5000, 4000, 3000}};
static const struct speeds between = {19,
                                      {48000, 30000, 28000, 24000, 20000, 18000, 15000, 12000,
                                       10000, 9000, 7000, 6000, 5000, 4000, 3000, 2400, 1200, 240,
                                       120}};
static const struct speeds hopper_inside = {
    11, {60000, 50000, 40000, 30000, 24000, 20000, 15000, 12000, 11000, 6000, 3000}};
static const struct speeds hopper_between = {17,
                                             {48000, 45000, 42000, 40000, 30000, 24000, 22000,
                                              20000, 17500, 15000, 12000, 6000, 3000, 2400, 1200,
                                              240, 120}};
static const struct speeds blackwell_inside = {
    11, {90000, 80000, 70000, 60000, 50000, 40000, 30000, 24000, 20000, 19000, 18000}};
static const struct speeds blackwell_between = {18,
                                                {96000, 48000, 45100, 42000, 40000, 30000, 24000,
                                                 22000, 20000, 17500, 15000, 12000, 6000, 3000,
                                                 2400, 1200, 240, 120}};
static const struct speeds blackwell_inside_2_30 = {
    12, {90000, 80000, 70000, 60000, 50000, 45000, 40000, 30000, 24000, 20000, 19000, 18000}};
static const struct speeds blackwell_between_2_30 = {
    20, {96000, 86000, 80000, 48000, 45100, 42000, 40000, 30000, 24000, 22000,
         20000, 17500, 15000, 12000, 6000,  3000,  2400,  1200,  240,   120}};

// RCCL's, inside a server and between servers.
static const struct speeds rccl_any = {17,
                                       {48000, 24000, 20000, 18000, 15000, 12000, 10000, 9000, 7000,
                                        6000, 5000, 4000, 3000, 2400, 1200, 240, 120}};

static const struct speeds *speeds_of(const struct nccl_wiring *w, bool rccl)
{
    if (rccl)
        return &rccl_any;
    if (w->gpu < NCCL_HOPPER)
        return w->networked ? &between : &inside;
    if (w->gpu == NCCL_HOPPER || w->version == NCCL_2_21_5)
        return w->networked ? &hopper_between : &hopper_inside;
    if (w->version == NCCL_2_30_7)
        return w->networked ? &blackwell_between_2_30 : &blackwell_inside_2_30;
    return w->networked ? &blackwell_between : &blackwell_inside;
}

/* ---- bounds ---- */

struct search {
    struct nccl_chains chains;
    const struct speeds *speeds;
    uint32_t speed;
    int32_t path_mb, gpu_mb; // the fastest path of a GPU, and all its links together
    uint8_t nearest_intra, farthest_intra, nearest_inter, farthest_inter;
    uint32_t cross_nic; // the setting, as far as the pattern may cross NICs
    bool same_channels; // at first
    int64_t visits;     // left of those in all
};

static int32_t all_links_mb(const struct nccl_wiring *w, uint32_t gpu)
{
    int32_t nvlink_mb = 0, pcie_mb = 0;
    for (uint16_t l = w->first[gpu]; l != NCCL_NO_LINK; l = w->link[l].sibling) {
        if (w->link[l].type == NCCL_PATH_NVL)
            nvlink_mb += w->link[l].rate_mb;
        if (w->link[l].type == NCCL_PATH_PIX)
            pcie_mb = w->link[l].rate_mb;
    }
    return nvlink_mb > pcie_mb ? nvlink_mb : pcie_mb;
}

static void bound_rates(struct search *s)
{
    const struct nccl_paths *p = s->chains.paths;
    const struct nccl_wiring *w = &p->wiring;
    uint32_t base = w->networked ? nccl_nic_vertex(w, 0) : 0;
    uint32_t count = w->networked ? w->nics : w->gpus;
    s->path_mb = s->gpu_mb = 0;
    for (uint32_t g = 0; g < w->gpus; g++) {
        int32_t all_mb = all_links_mb(w, g);
        s->gpu_mb = all_mb > s->gpu_mb ? all_mb : s->gpu_mb;
        for (uint32_t i = 0; i < count; i++) {
            const struct nccl_route *r = nccl_route_of(p, g, base + i);
            if (r->links > 0 && r->rate_mb > s->path_mb)
                s->path_mb = r->rate_mb;
        }
    }
    // A single GPU without a network has no path that could bound the rate.
    if (!w->networked && w->gpus == 1)
        s->path_mb = s->gpu_mb = NCCL_ANY_RATE;
}

// The nearest and the farthest path from any GPU to any of `count` ends from `base`.
static void bound_types(const struct nccl_paths *p, uint32_t base, uint32_t count, uint8_t *nearest,
                        uint8_t *farthest)
{
    *nearest = NCCL_PATH_SYS;
    *farthest = NCCL_PATH_LOC;
    for (uint32_t g = 0; g < p->wiring.gpus; g++)
        for (uint32_t i = 0; i < count; i++) {
            uint8_t type = nccl_route_of(p, g, base + i)->type;
            if (base + i == g)
                continue;
            *nearest = type < *nearest ? type : *nearest;
            *farthest = type > *farthest ? type : *farthest;
        }
}

static void bound_distances(struct search *s)
{
    const struct nccl_paths *p = s->chains.paths;
    const struct nccl_wiring *w = &p->wiring;
    s->nearest_intra = NCCL_PATH_LOC;
    s->nearest_inter = NCCL_PATH_PIX;
    s->farthest_intra = s->farthest_inter = NCCL_PATH_SYS;
    if (w->version == NCCL_2_21_5) {
        s->nearest_intra = w->gpus == 1 ? NCCL_PATH_LOC : NCCL_PATH_NVL;
        return;
    }
    if (w->gpus > 1)
        bound_types(p, 0, w->gpus, &s->nearest_intra, &s->farthest_intra);
    if (!w->networked)
        return;
    bound_types(p, nccl_nic_vertex(w, 0), w->nics, &s->nearest_inter, &s->farthest_inter);
    // The second NIC of a balanced tree may be far.
    if (w->version == NCCL_2_30_7 && w->gpu < NCCL_HOPPER)
        s->farthest_inter = NCCL_PATH_SYS;
}

// The next farther type of path that this version of NCCL has.
static uint8_t farther(const struct nccl_wiring *w, uint8_t type)
{
    type++;
    bool unknown = type == NCCL_PATH_C2C || type == NCCL_PATH_P2C;
    return w->version == NCCL_2_21_5 && unknown ? type + 1 : type;
}

/* ---- pass 1: the highest rate that any demand allows ---- */

static void set_speed(struct search *s, uint32_t speed)
{
    s->speed = speed;
    s->chains.now.intra_mb = s->chains.now.inter_mb = s->speeds->mb[speed];
}

static bool is_last_speed(const struct search *s) { return s->speed + 1 >= s->speeds->n; }

static void set_first_speed(struct search *s)
{
    const struct nccl_attempt *a = &s->chains.now;
    uint32_t gpus = s->chains.paths->wiring.gpus;
    double all_mb = s->gpu_mb;
    if (gpus > 1 && a->pattern != NCCL_PATTERN_RING)
        all_mb = all_mb * gpus / (gpus - 1);
    s->speed = 0;
    while (!is_last_speed(s) && (s->speeds->mb[s->speed] > s->path_mb ||
                                 (double)s->speeds->mb[s->speed] * a->least > all_mb))
        s->speed++;
    set_speed(s, s->speed);
}

static int64_t try_now(struct search *s)
{
    int64_t visits = s->chains.now.same_channels ? VISITS_SAME_CHANNELS : VISITS;
    // All attempts share one budget of visits. relax() returns what an attempt did not use.
    s->visits -= visits;
    return nccl_chains_try(&s->chains, visits);
}

// Whether to stop with what was found: as many channels as wanted, or all that a GPU can carry.
static bool is_enough(const struct search *s, int64_t visits_left)
{
    const struct nccl_attempt *best = &s->chains.best;
    return visits_left == NCCL_ALL_FOUND || (int64_t)best->channels * best->inter_mb >= s->gpu_mb;
}

static bool relax_distances(struct search *s)
{
    const struct nccl_wiring *w = &s->chains.paths->wiring;
    const struct nccl_attempt *best = &s->chains.best;
    struct nccl_attempt *now = &s->chains.now;
    bool found = best->channels > 0;
    uint8_t farthest = w->networked                ? now->type_inter
                       : w->version == NCCL_2_21_5 ? NCCL_PATH_SYS
                                                   : s->farthest_intra;
    if (now->type_intra < farthest && (!found || now->type_intra < best->type_intra)) {
        now->type_intra = farther(w, now->type_intra);
        return true;
    }
    now->type_intra = s->nearest_intra;
    if (w->networked && now->type_inter < s->farthest_inter &&
        (!found || now->type_inter < best->type_inter || now->type_inter < NCCL_PATH_PXN)) {
        now->type_inter = farther(w, now->type_inter);
        return true;
    }
    now->type_inter = s->nearest_inter;
    return false;
}

static bool relax_nics(struct search *s)
{
    bool old = s->chains.paths->wiring.version == NCCL_2_21_5;
    enum nccl_pattern pattern = s->chains.best.pattern;
    struct nccl_attempt *now = &s->chains.now;
    if (s->cross_nic == NCCL_CROSS_NIC_AUTO && now->cross_nic == 0 &&
        (old || pattern == NCCL_PATTERN_RING || pattern == NCCL_PATTERN_BALANCED_TREE)) {
        now->cross_nic = old ? 1 : NCCL_CROSS_NIC_AUTO;
        return true;
    }
    now->cross_nic = s->cross_nic == 1;
    return false;
}

// Demands less of the next attempt; false if there is nothing left to give up.
static bool relax(struct search *s, int64_t visits_left)
{
    const struct nccl_wiring *w = &s->chains.paths->wiring;
    const struct nccl_attempt *best = &s->chains.best;
    struct nccl_attempt *now = &s->chains.now;
    bool through_amd = w->cpu == NCCL_CPU_AMD && now->type_intra == NCCL_PATH_SYS;
    if (now->same_channels && !through_amd) {
        now->same_channels = false;
        return true;
    }
    now->same_channels = s->same_channels;
    s->visits += visits_left;
    if (s->visits < 0 && best->channels > 0)
        return false;
    if (w->gpu >= NCCL_HOPPER && now->pattern == NCCL_PATTERN_BALANCED_TREE) {
        now->pattern = NCCL_PATTERN_TREE;
        return true;
    }
    now->pattern = best->pattern;
    if (relax_distances(s) || relax_nics(s))
        return true;
    // More channels of half the rate would be no gain.
    if (is_last_speed(s) || (best->channels > 0 && s->speeds->mb[s->speed + 1] * INT64_C(100) <=
                                                       best->inter_mb * INT64_C(49)))
        return false;
    set_speed(s, s->speed + 1);
    return true;
}

/* ---- pass 2: more rate for what was found ---- */

#define FAST_CHANNEL_MB 25000     // from which a channel becomes two
#define FAST_CHANNEL_NEW_MB 50000 // since Hopper, if there are more than a few
#define FEW_CHANNELS 4

static void split_channels(struct nccl_attempt *a, enum nccl_gpu gpu)
{
    if (a->channels == 0 || a->pattern == NCCL_PATTERN_NVLS || a->intra_mb < FAST_CHANNEL_MB)
        return;
    if (gpu >= NCCL_HOPPER && a->intra_mb < FAST_CHANNEL_NEW_MB && a->channels > FEW_CHANNELS)
        return;
    uint32_t found = a->channels;
    while (a->channels < a->most && a->channels < 2 * found) {
        a->order[a->channels] = a->order[a->channels - found];
        a->channels++;
    }
    if (a->channels == found)
        return;
    a->intra_mb /= 2;
    a->inter_mb /= 2;
}

// Demands more of the next attempt; false if there is nothing more to win.
static bool raise(struct search *s)
{
    const struct nccl_attempt *best = &s->chains.best;
    struct nccl_attempt *now = &s->chains.now;
    if (s->speed == 0)
        return false;
    if (best->pattern == NCCL_PATTERN_RING) {
        set_speed(s, s->speed - 1);
        return true;
    }
    if (best->pattern == NCCL_PATTERN_NVLS && now->inter_mb == best->inter_mb &&
        now->inter_mb < 2 * now->intra_mb) {
        now->least = now->most = best->channels;
        now->inter_mb = s->speeds->mb[--s->speed];
        return true;
    }
    if (now->intra_mb != best->intra_mb || now->intra_mb >= 2 * now->inter_mb)
        return false;
    now->intra_mb = s->speeds->mb[--s->speed];
    return true;
}

static void improve(struct search *s)
{
    struct nccl_attempt *now = &s->chains.now;
    split_channels(&s->chains.best, s->chains.paths->wiring.gpu);
    *now = s->chains.best;
    s->speed = 0;
    while (!is_last_speed(s) && s->speeds->mb[s->speed] > s->chains.best.inter_mb)
        s->speed++;
    set_speed(s, s->speed);
    now->least = s->chains.best.channels;
    while (raise(s))
        if (try_now(s) == 0)
            return;
}

/* ---- one pattern ---- */

// Without any solution, a slow channel through the GPUs by their number.
static void settle(struct search *s)
{
    const struct nccl_paths *p = s->chains.paths;
    const struct nccl_wiring *w = &p->wiring;
    struct nccl_attempt *best = &s->chains.best;
    best->channels = 1;
    best->intra_mb = best->inter_mb = 100;
    best->type_intra = best->type_inter = NCCL_PATH_SYS;
    for (uint32_t g = 0; g < w->gpus; g++)
        best->order[0].gpu[g] = (uint8_t)g;
    best->order[0].nic[0] = best->order[0].nic[1] = w->networked ? 0 : -1;
    if (w->version != NCCL_2_30_7 || !w->networked)
        return;
    best->order[0].nic[0] = (int16_t)nccl_paths_nic(p, 0, 0);
    best->order[0].nic[1] = (int16_t)nccl_paths_nic(p, w->gpus - 1, 0);
}

static void prepare(struct search *s, enum nccl_pattern pattern,
                    const struct nccl_settings *settings, uint32_t least, uint32_t most)
{
    const struct nccl_wiring *w = &s->chains.paths->wiring;
    struct nccl_attempt *best = &s->chains.best;
    bool may_cross = w->nics > 1 && pattern != NCCL_PATTERN_NVLS && pattern != NCCL_PATTERN_TREE;
    memset(best, 0, sizeof *best);
    s->speeds = speeds_of(w, settings->rccl);
    s->cross_nic = may_cross ? settings->cross_nic : 0;
    s->same_channels = pattern != NCCL_PATTERN_NVLS;
    s->visits = VISITS_IN_ALL;
    bound_rates(s);
    bound_distances(s);
    best->pattern = pattern;
    best->cross_nic = s->cross_nic == 1;
    best->same_channels = s->same_channels;
    best->type_intra = s->nearest_intra;
    best->type_inter = s->nearest_inter;
    best->least = least;
    best->most = most;
}

static void search_pattern(struct search *s)
{
    int64_t visits_left;
    s->chains.now = s->chains.best;
    set_first_speed(s);
    do
        visits_left = try_now(s);
    while (!is_enough(s, visits_left) && relax(s, visits_left));
    improve(s);
    if (s->chains.best.channels == 0 && s->chains.best.pattern != NCCL_PATTERN_NVLS)
        settle(s);
}

static void report(const struct search *s, struct nccl_search *out)
{
    const struct nccl_attempt *best = &s->chains.best;
    out->graph = (struct nccl_graph){.channels = best->channels,
                                     .bw_intra = best->intra_mb / 1000.0,
                                     .bw_inter = best->inter_mb / 1000.0,
                                     .pattern = (uint8_t)best->pattern,
                                     .type_intra = best->type_intra,
                                     .type_inter = best->type_inter,
                                     .cross_nic = best->cross_nic,
                                     .same_channels = best->same_channels};
    memcpy(out->order, best->order, sizeof out->order);
}

// Two groups of GPUs, each with NVLink, and none between them.
static bool is_split(const struct nccl_paths *p)
{
    const struct nccl_wiring *w = &p->wiring;
    uint32_t group[NCCL_SERVER_GPUS], size[NCCL_SERVER_GPUS] = {0}, groups = 0;
    for (uint32_t g = 0; g < w->gpus; g++)
        group[g] = g;
    for (uint32_t g = 0; g < w->gpus; g++)
        for (uint32_t q = g + 1; q < w->gpus; q++)
            if (nccl_route_of(p, g, q)->type == NCCL_PATH_NVL)
                group[q] = group[g];
    for (uint32_t g = 0; g < w->gpus; g++)
        // A group counts when its second GPU is found: a GPU without NVLink is no group.
        groups += ++size[group[g]] == 2;
    return groups == 2;
}

// NVLS is left out with too few GPUs (transport/nvls.cc, ncclNvlsInit).
static bool has_nvls(const struct nccl_wiring *w, const struct nccl_settings *settings)
{
    uint32_t fewest = w->version == NCCL_2_30_7 ? 2 : 3;
    return settings->nvls && w->nvswitches > 0 && w->gpu >= NCCL_HOPPER && w->gpus >= fewest;
}

static uint32_t most_rings(const struct nccl_wiring *w, bool rccl)
{
    if (rccl)
        return !w->networked && w->gpus > RCCL_BIG ? RINGS_RCCL_BIG : RINGS_RCCL;
    return w->version == NCCL_2_21_5 ? RINGS_2_21 : RINGS;
}

bool nccl_search_server(const struct nccl_paths *p, const struct nccl_settings *settings,
                        struct nccl_search *ring, struct nccl_search *tree,
                        struct nccl_search *nvls)
{
    const struct nccl_wiring *w = &p->wiring;
    bool old = w->version == NCCL_2_21_5;
    struct search *s = malloc(sizeof *s);
    if (s == NULL)
        return false;
    nccl_chains_init(&s->chains, p);
    prepare(s, NCCL_PATTERN_RING, settings, !old && is_split(p) ? 2 : 1,
            most_rings(w, settings->rccl));
    search_pattern(s);
    report(s, ring);

    uint32_t channels = ring->graph.channels;
    prepare(s, NCCL_PATTERN_BALANCED_TREE, settings, settings->rccl && w->networked ? 1 : channels,
            channels);
    if (w->gpus == 1)
        s->chains.best.pattern = NCCL_PATTERN_TREE;
    search_pattern(s);
    report(s, tree);

    uint32_t heads = w->gpus < NVLS_HEADS ? w->gpus : NVLS_HEADS;
    prepare(s, NCCL_PATTERN_NVLS, settings, w->networked ? 1 : heads, heads);
    if (has_nvls(w, settings))
        search_pattern(s);
    report(s, nvls);
    free(s);
    return true;
}

bool nccl_search_nvlinks(const struct nccl_machine *machine, const struct nccl_settings *settings,
                         uint64_t gpus, double *gbytes)
{
    struct nccl_paths *p = calloc(1, sizeof *p);
    struct nccl_search *found = calloc(3, sizeof *found);
    bool made = p != NULL && found != NULL;
    if (made) {
        nccl_wiring_init(&p->wiring, machine, settings->version, gpus, false);
        made = nccl_paths_init(p, settings) &&
               nccl_search_server(p, settings, &found[0], &found[1], &found[2]);
        *gbytes = found[2].graph.channels * found[2].graph.bw_intra;
        nccl_paths_free(p);
    }
    free(p);
    free(found);
    return made;
}

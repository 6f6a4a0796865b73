// SPDX-License-Identifier: MIT
// Rules of graph/connect.cc, of graph/search.cc (ncclTopoGetNetDev) and of init.cc
// (initTransportsRank).
#include "collective/nccl/layout.h"

#include <stdio.h>
#include <stdlib.h>

#include "collective/nccl/members.h"
#include "collective/nccl/nccl_search.h"
#include "collective/nccl/rccl_rings.h"
#include "collective/nccl/trees.h"

// What a search has found for a set of GPUs of a server. Servers share it where the communicator
// uses the same GPUs of each and, under RCCL, where they take their rings from the same table.
struct kind {
    struct kind *next;
    uint64_t gpus;
    enum rccl_table table;
    struct nccl_paths paths;
    struct nccl_search ring, tree, nvls;
    double nvlinks; // GB/s of NVLS inside the server
    uint32_t heads;
    uint8_t head[NCCL_SEARCH_CHANNELS]; // vertices
};

struct nccl_layout_data {
    struct nccl_members members;
    struct kind *kinds;
    const struct kind **kind_of; // of a server
    bool pxn;
    uint32_t cross_nic;
    uint32_t heads; // that all servers have
};

/* ---- kinds of servers ---- */

static void list_heads(struct kind *k)
{
    for (uint32_t c = 0; c < k->nvls.graph.channels; c++) {
        uint8_t gpu = k->nvls.order[c].gpu[0];
        bool listed = false;
        for (uint32_t h = 0; h < k->heads; h++)
            listed = listed || k->head[h] == gpu;
        if (!listed)
            k->head[k->heads++] = gpu;
    }
}

static bool kind_init(struct kind *k, const struct nccl_machine *machine,
                      const struct nccl_settings *settings, uint64_t gpus, enum rccl_table table,
                      bool networked)
{
    k->gpus = gpus;
    k->table = table;
    nccl_wiring_init(&k->paths.wiring, machine, settings->version, gpus, networked);
    if (!nccl_paths_init(&k->paths, settings))
        return false;
    if (table != RCCL_SEARCHED)
        rccl_rings(table, &k->paths.wiring, settings, &k->ring, &k->tree);
    else if (!nccl_search_server(&k->paths, settings, &k->ring, &k->tree, &k->nvls))
        return false;
    list_heads(k);
    k->nvlinks = k->nvls.graph.channels * k->nvls.graph.bw_intra;
    return !networked || k->heads == 0 || nccl_search_nvlinks(machine, settings, gpus, &k->nvlinks);
}

// The kind of a server, made where it is new; NULL without memory.
static const struct kind *kind_of_server(struct nccl_layout_data *d,
                                         const struct nccl_machine *machine,
                                         const struct nccl_settings *settings, uint32_t server)
{
    const struct nccl_members *m = &d->members;
    enum rccl_table table = settings->rccl ? rccl_table_of(m, server) : RCCL_SEARCHED;
    for (const struct kind *k = d->kinds; k != NULL; k = k->next)
        if (k->gpus == m->gpus[server] && k->table == table)
            return k;
    struct kind *k = calloc(1, sizeof *k);
    if (k == NULL)
        return NULL;
    k->next = d->kinds;
    d->kinds = k;
    // A kind that fails stays in the list, which frees its memory.
    bool made = kind_init(k, machine, settings, m->gpus[server], table, m->servers > 1);
    return made ? k : NULL;
}

static bool find_kinds(struct nccl_layout_data *d, const struct nccl_machine *machine,
                       const struct nccl_settings *settings, char *error, size_t error_bytes)
{
    const struct nccl_members *m = &d->members;
    if (m->servers > 1 && machine->nics == 0) {
        snprintf(error, error_bytes, "Ranks are in several servers, but these have no NICs.");
        return false;
    }
    d->kind_of = calloc(m->servers, sizeof *d->kind_of);
    bool made = d->kind_of != NULL;
    for (uint32_t s = 0; made && s < m->servers; s++) {
        d->kind_of[s] = kind_of_server(d, machine, settings, s);
        made = d->kind_of[s] != NULL;
    }
    if (!made)
        snprintf(error, error_bytes, "There is no memory for a layout of NCCL.");
    return made;
}

/* ---- the poorest of all servers ---- */

static void keep_poorer(struct nccl_graph *g, const struct nccl_graph *other)
{
    g->channels = other->channels < g->channels ? other->channels : g->channels;
    g->bw_intra = other->bw_intra < g->bw_intra ? other->bw_intra : g->bw_intra;
    g->bw_inter = other->bw_inter < g->bw_inter ? other->bw_inter : g->bw_inter;
    // Larger numbers are farther paths.
    g->type_intra = other->type_intra > g->type_intra ? other->type_intra : g->type_intra;
    g->type_inter = other->type_inter > g->type_inter ? other->type_inter : g->type_inter;
    g->cross_nic = other->cross_nic > g->cross_nic ? other->cross_nic : g->cross_nic;
    g->same_channels = g->same_channels && other->same_channels;
    if (other->pattern == NCCL_PATTERN_TREE)
        g->pattern = NCCL_PATTERN_TREE;
}

static void fill_cluster(struct nccl_layout *layout, const struct nccl_machine *machine,
                         const struct nccl_settings *settings)
{
    struct nccl_layout_data *d = layout->data;
    const struct kind *first = d->kind_of[0];
    struct nccl_cluster *c = &layout->cluster;
    *c = (struct nccl_cluster){.version = settings->version,
                               .rccl = settings->rccl,
                               .rccl_mesh = first->table != RCCL_SEARCHED,
                               .gpu = machine->gpu,
                               .cpu = machine->cpu,
                               .nodes = d->members.servers,
                               .ranks = d->members.ranks,
                               .nvswitch = machine->nvlink == NCCL_NVLINK_SWITCH,
                               .ring = first->ring.graph,
                               .tree = first->tree.graph,
                               .nvls = first->nvls.graph,
                               .nvlinks = first->nvlinks};
    d->heads = first->heads;
    // Every channel leads through all servers, so the server with the least decides for all.
    for (const struct kind *k = d->kinds; k != NULL; k = k->next) {
        keep_poorer(&c->ring, &k->ring.graph);
        keep_poorer(&c->tree, &k->tree.graph);
        keep_poorer(&c->nvls, &k->nvls.graph);
        d->heads = k->heads < d->heads ? k->heads : d->heads;
    }
    // Rings and trees use the same channels.
    if (c->tree.channels < c->ring.channels)
        c->ring.channels = c->tree.channels;
    c->tree.channels = c->ring.channels;
}

/* ---- channels of pairs ---- */

// NICs of a GPU, as many as its path to a CPU can feed, and their rate.
static void limit_by_nics(const struct nccl_paths *p, uint32_t gpu, struct nccl_pair_limits *out)
{
    const struct nccl_wiring *w = &p->wiring;
    int32_t feed_mb = 0, sum_mb = 0;
    uint32_t nics = 0;
    // Before 2.30, NCCL considers only CPUs to which the GPU has a direct link.
    bool old = w->version != NCCL_2_30_7;
    for (uint32_t c = 0; c < w->cpus; c++) {
        const struct nccl_route *r = nccl_route_of(p, gpu, nccl_cpu_vertex(w, c));
        if ((!old || r->links == 1) && r->rate_mb > feed_mb)
            feed_mb = r->rate_mb;
    }
    // The search goes on until the NICs carry what the path to a CPU can feed. The first NIC again
    // means that all nearest NICs have been counted.
    for (uint32_t channel = 0; channel < w->nics && (!old || sum_mb < feed_mb); channel++) {
        int32_t nic = nccl_paths_nic(p, gpu, channel);
        if (nic < 0 || (channel > 0 && nic == nccl_paths_nic(p, gpu, 0)))
            break;
        sum_mb += nccl_route_of(p, gpu, nccl_nic_vertex(w, (uint32_t)nic))->rate_mb;
        nics++;
        if (sum_mb >= feed_mb)
            break;
    }
    if (nics < out->nics)
        out->nics = nics;
    if (sum_mb / 1000.0 < out->net_bw)
        out->net_bw = sum_mb / 1000.0;
}

static void limit_by_peers(const struct nccl_paths *p, uint32_t gpu, struct nccl_pair_limits *out)
{
    const struct nccl_wiring *w = &p->wiring;
    for (uint32_t peer = 0; peer < w->gpus; peer++) {
        const struct nccl_route *r = nccl_route_of(p, peer, gpu);
        // Since 2.30 two NVLinks over another GPU (NVB) count like one.
        bool nvlink =
            r->type == NCCL_PATH_NVL || (r->type == NCCL_PATH_NVB && w->version == NCCL_2_30_7);
        uint32_t links = nvlink ? (uint32_t)(r->rate_mb / w->nvlink_mb) : 1;
        uint32_t channels = 2 * (links > 1 ? links : 1);
        if (peer != gpu && (out->local == 0 || channels < out->local))
            out->local = channels;
    }
}

static struct nccl_pair_limits limits_of(const struct nccl_layout_data *d)
{
    struct nccl_pair_limits limits = {.nics = UINT32_MAX, .net_bw = 1e9};
    for (const struct kind *k = d->kinds; k != NULL; k = k->next)
        for (uint32_t g = 0; g < k->paths.wiring.gpus; g++) {
            limit_by_nics(&k->paths, g, &limits);
            limit_by_peers(&k->paths, g, &limits);
        }
    return limits;
}

/* ---- the interface ---- */

void nccl_layout_free(struct nccl_layout *layout)
{
    struct nccl_layout_data *d = layout->data;
    if (d == NULL)
        return;
    while (d->kinds != NULL) {
        struct kind *k = d->kinds;
        d->kinds = k->next;
        nccl_paths_free(&k->paths);
        free(k);
    }
    nccl_members_free(&d->members);
    free(d->kind_of);
    free(d);
    layout->data = NULL;
}

bool nccl_layout_init(struct nccl_layout *layout, const struct nccl_machine *machine,
                      const struct nccl_settings *settings, const struct nccl_member *members,
                      uint32_t n, char *error, size_t error_bytes)
{
    *layout = (struct nccl_layout){.data = calloc(1, sizeof *layout->data)};
    struct nccl_layout_data *d = layout->data;
    if (d == NULL) {
        snprintf(error, error_bytes, "There is no memory for a layout of NCCL.");
        return false;
    }
    d->pxn = settings->pxn;
    d->cross_nic = settings->cross_nic;
    if (!nccl_machine_valid(machine, error, error_bytes) ||
        !nccl_members_init(&d->members, machine, members, n, error, error_bytes) ||
        (settings->rccl && !rccl_runs_on(machine, settings, &d->members, error, error_bytes)) ||
        !find_kinds(d, machine, settings, error, error_bytes)) {
        nccl_layout_free(layout);
        return false;
    }
    fill_cluster(layout, machine, settings);
    struct nccl_pair_limits limits = limits_of(d);
    layout->channels = nccl_channels_of(&layout->cluster, settings, &limits);
    layout->cluster.channels = layout->channels.all;
    layout->cluster.nvls_channels = layout->channels.nvls;
    return true;
}

/* ---- links ---- */

// A rank in its server.
struct spot {
    const struct kind *kind;
    uint32_t server, vertex;
};

static struct spot spot_of(const struct nccl_layout_data *d, uint32_t rank)
{
    uint32_t server = d->members.server_of[rank];
    return (struct spot){.kind = d->kind_of[server],
                         .server = server,
                         .vertex = nccl_members_vertex(&d->members, rank)};
}

static int32_t rank_at(const struct nccl_layout_data *d, uint32_t server, uint32_t vertex)
{
    return (int32_t)nccl_members_rank(&d->members, server, vertex);
}

static uint32_t place_in(const struct nccl_order *order, uint32_t vertex)
{
    uint32_t i = 0;
    while (order->gpu[i] != vertex)
        i++;
    return i;
}

static int32_t proxy_of(const struct nccl_layout_data *d, const struct spot *at, int32_t nic)
{
    if (nic < 0)
        return NCCL_NONE;
    return rank_at(d, at->server, nccl_paths_relay(&at->kind->paths, at->vertex, (uint32_t)nic));
}

// The NIC of a channel at its first GPU, or at any other. This goes by the channel's number, even
// where its GPUs are a copy of another channel's.
static int32_t nic_of(const struct nccl_search *found, uint32_t channels, uint32_t channel,
                      uint32_t vertex)
{
    const struct nccl_order *order = &found->order[channel % channels];
    return order->nic[order->gpu[0] == vertex ? 0 : 1];
}

// Where channels cross NICs, odd servers swap the two of each pair, so that NICs of the same number
// face each other.
static const struct nccl_order *ring_order(const struct nccl_layout *layout, uint32_t channel,
                                           uint32_t server)
{
    const struct nccl_layout_data *d = layout->data;
    const struct nccl_search *ring = &d->kind_of[server]->ring;
    enum nccl_version version = layout->cluster.version;
    uint8_t crossing =
        version == NCCL_2_30_7 ? ring->graph.cross_nic : layout->cluster.ring.cross_nic;
    bool swaps = version == NCCL_2_21_5 ? crossing > 0 : crossing == NCCL_CROSS_NIC_AUTO;
    uint32_t found = layout->channels.found;
    uint32_t original = nccl_channel_original(&layout->channels, channel) % found;
    return &ring->order[swaps && found % 2 == 0 && server % 2 == 1 ? original ^ 1 : original];
}

struct nccl_ring_links nccl_layout_ring(const struct nccl_layout *layout, uint32_t channel,
                                        uint32_t rank)
{
    const struct nccl_layout_data *d = layout->data;
    struct spot at = spot_of(d, rank);
    uint32_t servers = d->members.servers, last = at.kind->paths.wiring.gpus - 1;
    const struct nccl_order *order = ring_order(layout, channel, at.server);
    uint32_t place = place_in(order, at.vertex);
    int32_t nic = nic_of(&at.kind->ring, layout->channels.found, channel, at.vertex);
    struct nccl_ring_links links = {
        .receive_nic = NCCL_NONE, .send_nic = NCCL_NONE, .send_proxy = NCCL_NONE};
    // A ring enters a server at its first GPU in the order of the channel, and leaves it at its
    // last.
    if (place > 0) {
        links.previous = rank_at(d, at.server, order->gpu[place - 1]);
    } else {
        uint32_t before = (at.server + servers - 1) % servers;
        uint32_t end = d->kind_of[before]->paths.wiring.gpus - 1;
        links.previous = rank_at(d, before, ring_order(layout, channel, before)->gpu[end]);
        links.receive_nic = servers > 1 ? nic : NCCL_NONE;
    }
    if (place < last) {
        links.next = rank_at(d, at.server, order->gpu[place + 1]);
    } else {
        uint32_t after = (at.server + 1) % servers;
        links.next = rank_at(d, after, ring_order(layout, channel, after)->gpu[0]);
        links.send_nic = servers > 1 ? nic : NCCL_NONE;
        links.send_proxy = proxy_of(d, &at, links.send_nic);
    }
    return links;
}

// The GPU of a server that is linked to the parent in another one, or to child 0 or 1.
enum tree_end { TREE_UP = -1, TREE_CHILD_0, TREE_CHILD_1 };

static uint32_t tree_gpu(const struct nccl_layout_data *d, uint32_t server, uint32_t original,
                         enum tree_end end)
{
    const struct kind *k = d->kind_of[server];
    bool second = (end == TREE_CHILD_0 && k->tree.graph.pattern != NCCL_PATTERN_TREE) ||
                  (end == TREE_CHILD_1 && k->tree.graph.pattern == NCCL_PATTERN_SPLIT_TREE);
    return k->tree.order[original].gpu[second ? 1 : 0];
}

static void add_child(struct nccl_tree_links *links, int32_t child)
{
    uint32_t i = 0;
    while (links->down[i] != NCCL_NONE)
        i++;
    links->down[i] = child;
}

struct nccl_tree_links nccl_layout_tree(const struct nccl_layout *layout, uint32_t channel,
                                        uint32_t rank)
{
    const struct nccl_layout_data *d = layout->data;
    struct spot at = spot_of(d, rank);
    uint32_t found = layout->channels.found;
    uint32_t original = nccl_channel_original(&layout->channels, channel);
    // Of the double binary tree, the found channels use the first tree and their copies the second.
    unsigned tree = original >= layout->channels.made / 2;
    original %= found;
    const struct nccl_order *order = &at.kind->tree.order[original];
    uint32_t place = place_in(order, at.vertex), last = at.kind->paths.wiring.gpus - 1;
    struct nccl_tree_links links = {.up = NCCL_NONE,
                                    .down = {NCCL_NONE, NCCL_NONE, NCCL_NONE},
                                    .nic = NCCL_NONE,
                                    .proxy = NCCL_NONE};
    // Inside a server the tree is a chain.
    if (place > 0)
        links.up = rank_at(d, at.server, order->gpu[place - 1]);
    if (place < last)
        add_child(&links, rank_at(d, at.server, order->gpu[place + 1]));

    struct nccl_tree_node node = nccl_tree_node(d->members.servers, at.server, tree);
    bool outside = false;
    if (node.up != NCCL_NO_NODE && tree_gpu(d, at.server, original, TREE_UP) == at.vertex) {
        enum tree_end end = node.child == 0 ? TREE_CHILD_0 : TREE_CHILD_1;
        links.up = rank_at(d, node.up, tree_gpu(d, node.up, original, end));
        outside = true;
    }
    for (uint32_t i = 0; i < 2; i++) {
        enum tree_end end = i == 0 ? TREE_CHILD_0 : TREE_CHILD_1;
        if (node.down[i] == NCCL_NO_NODE || tree_gpu(d, at.server, original, end) != at.vertex)
            continue;
        add_child(&links, rank_at(d, node.down[i], tree_gpu(d, node.down[i], original, TREE_UP)));
        outside = true;
    }
    if (outside) {
        links.nic = nic_of(&at.kind->tree, found, channel, at.vertex);
        links.proxy = proxy_of(d, &at, links.nic);
    }
    return links;
}

/* ---- NVLS ---- */

uint32_t nccl_layout_nvls_heads(const struct nccl_layout *layout) { return layout->data->heads; }

// The NIC of a head: its channels of the search in turn.
static int32_t head_nic(const struct kind *k, uint32_t channel, uint32_t vertex)
{
    int32_t nics[NCCL_SEARCH_CHANNELS];
    uint32_t n = 0;
    for (uint32_t c = 0; c < k->nvls.graph.channels; c++)
        if (k->nvls.order[c].gpu[0] == vertex)
            nics[n++] = k->nvls.order[c].nic[0];
    return n == 0 ? NCCL_NONE : nics[channel % n];
}

struct nccl_nvls_links nccl_layout_nvls(const struct nccl_layout *layout, uint32_t channel,
                                        uint32_t rank)
{
    const struct nccl_layout_data *d = layout->data;
    struct spot at = spot_of(d, rank);
    struct nccl_nvls_links links = {.head = NCCL_NONE,
                                    .up = NCCL_NONE,
                                    .down = {NCCL_NONE, NCCL_NONE},
                                    .nic = NCCL_NONE,
                                    .proxy = NCCL_NONE};
    for (uint32_t h = 0; h < d->heads; h++)
        if (at.kind->head[h] == at.vertex)
            links.head = (int32_t)h;
    // Within one server the NVSwitch reduces, and the heads need no tree between servers.
    if (links.head == NCCL_NONE || d->members.servers == 1)
        return links;
    struct nccl_tree_node node = nccl_tree_node(d->members.servers, at.server, channel % 2);
    if (node.up != NCCL_NO_NODE)
        links.up = rank_at(d, node.up, d->kind_of[node.up]->head[links.head]);
    uint32_t n = 0;
    for (uint32_t i = 0; i < 2; i++)
        if (node.down[i] != NCCL_NO_NODE)
            links.down[n++] = rank_at(d, node.down[i], d->kind_of[node.down[i]]->head[links.head]);
    links.nic = head_nic(at.kind, channel, at.vertex);
    links.proxy = proxy_of(d, &at, links.nic);
    return links;
}

/* ---- pairs ---- */

// PXN sends by the NIC that the peer's GPU would use in this server, if the GPU that owns the NIC
// is near by NVLink: then the message stays on the rail of its receiver.
struct nccl_p2p_links nccl_layout_p2p(const struct nccl_layout *layout, uint32_t channel,
                                      uint32_t rank, uint32_t peer)
{
    const struct nccl_layout_data *d = layout->data;
    const struct nccl_members *m = &d->members;
    struct spot at = spot_of(d, rank), to = spot_of(d, peer);
    struct nccl_p2p_links links = {.send_nic = nccl_paths_nic(&at.kind->paths, at.vertex, channel),
                                   .send_proxy = (int32_t)rank,
                                   .receive_nic =
                                       nccl_paths_nic(&to.kind->paths, to.vertex, channel)};
    // The twin has the peer's number in this server, and so the NIC on the peer's rail.
    uint8_t twin = m->gpu_of[peer];
    if ((!d->pxn && d->cross_nic != 0) || !(at.kind->gpus >> twin & 1))
        return links;
    const struct nccl_paths *p = &at.kind->paths;
    uint32_t vertex = 0;
    while (p->wiring.gpu_of_machine[vertex] != twin)
        vertex++;
    int32_t nic = nccl_paths_nic(p, vertex, channel);
    if (d->cross_nic == 0)
        links.send_nic = nic;
    int32_t owner = p->nic_gpu[nic];
    if (!d->pxn || owner < 0)
        return links;
    const struct nccl_route *out =
        nccl_route_of(p, (uint32_t)owner, nccl_nic_vertex(&p->wiring, (uint32_t)nic));
    if (nccl_route_of(p, (uint32_t)owner, at.vertex)->type <= NCCL_PATH_NVL &&
        out->type <= nccl_paths_widest_relay(p->wiring.version)) {
        links.send_nic = nic;
        links.send_proxy = rank_at(d, at.server, (uint32_t)owner);
    }
    return links;
}

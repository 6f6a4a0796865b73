// SPDX-License-Identifier: MIT
// The constants are those of graph/tuning.cc (ncclTopoTuneModel).
#include "collective/nccl/model.h"

#include "collective/nccl/rccl.h"
#include "collective/nccl/rules.h"

// Kinds of links inside servers and between them.
enum { LINK_NVLINK, LINK_PCI, LINK_NET, LINKS };

// us, by protocol.
static const double base_latency[2][NCCL_PROTOCOLS] = {
    [NCCL_TREE] = {6.8, 14, 8.4}, [NCCL_RING] = {6.6, 14, 8.4}};

static const double hop_latency[LINKS][NCCL_ALGORITHMS][NCCL_PROTOCOLS] = {
    [LINK_NVLINK] = {[NCCL_TREE] = {0.6, 1.25, 4},
                     [NCCL_RING] = {0.6, 1.9, 3.4},
                     [NCCL_COLLNET_DIRECT] = {0, 0, 3.7},
                     [NCCL_COLLNET_CHAIN] = {0, 0, 2.8},
                     [NCCL_NVLS] = {0, 0, 25},
                     [NCCL_NVLS_TREE] = {0, 0, 25}},
    [LINK_PCI] = {[NCCL_TREE] = {1, 1.9, 4},
                  [NCCL_RING] = {1, 2.5, 5.7},
                  [NCCL_COLLNET_DIRECT] = {0, 0, 3.7},
                  [NCCL_COLLNET_CHAIN] = {0, 0, 2.8}},
    [LINK_NET] = {[NCCL_TREE] = {5, 8.5, 14},
                  [NCCL_RING] = {2.7, 4, 14},
                  [NCCL_COLLNET_DIRECT] = {0, 0, 31},
                  [NCCL_COLLNET_CHAIN] = {0, 0, 30},
                  [NCCL_NVLS] = {0, 0, 18},
                  [NCCL_NVLS_TREE] = {0, 0, 14}}};
#define NVLS_TREE_NET_2_30 20.9
#define TREE_SIMPLE_2_21 28 // on every link, and without a base

// GB/s, by generation and 1, 2, more servers. LL's is of all channels; for several servers its row
// is that of the CPU: Intel and Arm the first, AMD the second.
static const double ll_max[NCCL_GPUS][3] = {
    {39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {2 * 141, 2 * 45, 2 * 35}};
static const double ring_ll128_max[NCCL_GPUS][3] = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {2 * 36.7, 2 * 36.7, 2 * 36.7}};
static const double tree_ll128_max[NCCL_GPUS][3] = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {2 * 36.7, 2 * 36.7, 2 * 29}};
static const double tree_max[NCCL_GPUS][3] = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {2 * 38.7, 2 * 41.4, 2 * 36}};
// 2.30 has figures of its own for Blackwell, and a limit of NVLSTree.
static const double blackwell_ring_ll128_2_30[3] = {40, 40, 40};
static const double blackwell_tree_ll128_2_30[3] = {55.6, 31.67, 20};
static const double blackwell_tree_2_30[3] = {70, 42.8, 24};
static const double nvls_tree_max_2_30[NCCL_GPUS][3] = {
    {0, 0, 0}, {0, 0, 0}, {0, 57.7, 45.5}, {0, 96, 80}};

#define RING_SHARE 0.92      // of the bandwidth of channels that LL128 and trees reach
#define ALONE_SHARE_2_21 0.7 // that LL128 reaches with one GPU a server
#define TREE_LL 3.8          // times slower
#define SIMPLE_TREE 0.85

static double lesser(double a, double b) { return a < b ? a : b; }

static bool is_old(const struct nccl_cluster *c) { return c->version == NCCL_2_21_5; }

static bool is_alone(const struct nccl_cluster *c) { return c->ranks == c->nodes; }

static bool is_blackwell_2_30(const struct nccl_cluster *c)
{
    return c->version == NCCL_2_30_7 && c->gpu == NCCL_BLACKWELL;
}

static unsigned column(const struct nccl_cluster *c)
{
    return c->nodes == 1 ? 0 : c->nodes == 2 ? 1 : 2;
}

static double graph_bw(const struct nccl_cluster *c, const struct nccl_graph *g)
{
    return g->channels * (c->nodes <= 2 ? g->bw_intra : g->bw_inter);
}

static double ll_limit(const struct nccl_cluster *c)
{
    unsigned row = c->nodes == 1 ? (unsigned)c->gpu : c->cpu == NCCL_CPU_AMD ? 1 : 0;
    return ll_max[row][column(c)];
}

/* ---- bandwidth on the bus ---- */

static double ring_bw(const struct nccl_cluster *c, enum nccl_protocol protocol)
{
    double bus = graph_bw(c, &c->ring);
    const double *per_channel =
        is_blackwell_2_30(c) ? blackwell_ring_ll128_2_30 : ring_ll128_max[c->gpu];
    // LL stores a flag of 4 bytes with each 4 bytes of data, which halves the bandwidth.
    if (protocol == NCCL_LL)
        return lesser(ll_limit(c), 0.5 * bus);
    if (protocol == NCCL_LL128)
        return lesser((is_old(c) && is_alone(c) ? ALONE_SHARE_2_21 : RING_SHARE) * bus,
                      c->ring.channels * per_channel[column(c)]);
    return bus;
}

static double tree_bw(const struct nccl_cluster *c, enum nccl_protocol protocol)
{
    const double *per_channel = is_blackwell_2_30(c) ? blackwell_tree_2_30 : tree_max[c->gpu];
    const double *per_ll128 =
        is_blackwell_2_30(c) ? blackwell_tree_ll128_2_30 : tree_ll128_max[c->gpu];
    double bw =
        lesser(RING_SHARE * graph_bw(c, &c->tree), c->tree.channels * per_channel[column(c)]);
    if (protocol == NCCL_LL)
        bw = lesser(bw / TREE_LL, ll_limit(c));
    // LL128 has 120 bytes of data in 128 bytes; the factor inside a server is NCCL's own.
    if (protocol == NCCL_LL128)
        bw = lesser(bw * (c->nodes == 1 ? 7.0 / 9 : 120.0 / 128),
                    c->tree.channels * per_ll128[column(c)]);
    return c->tree.pattern == NCCL_PATTERN_TREE ? SIMPLE_TREE * bw : bw;
}

static double nvls_efficiency(const struct nccl_cluster *c)
{
    return c->gpu == NCCL_BLACKWELL ? 0.74 : 0.85;
}

// Before 2.30 the rates are those of the search; since then the rate inside the server is what the
// channels but one reach.
static double nvls_intra(const struct nccl_cluster *c, enum nccl_function function)
{
    const struct nccl_graph *g = &c->nvls;
    if (c->version != NCCL_2_30_7)
        return g->channels * g->bw_intra;
    double bw = g->bw_intra * nvls_efficiency(c) * (g->channels - 1);
    return function == NCCL_ALL_REDUCE ? 2 * bw : bw;
}

static double nvls_bw(const struct nccl_cluster *c, enum nccl_function function)
{
    double intra = nvls_intra(c, function), per_node = c->ranks / (double)c->nodes;
    if (c->nodes > 1 || nccl_is_chain(function))
        return 0; // between servers it needs switches that reduce
    if (function == NCCL_ALL_REDUCE || c->version == NCCL_2_30_7)
        return intra;
    return intra * (per_node - 1) / per_node;
}

static double nvls_tree_bw(const struct nccl_cluster *c, enum nccl_function function)
{
    const struct nccl_graph *g = &c->nvls;
    if (c->nodes == 1 || function != NCCL_ALL_REDUCE)
        return 0;
    double intra = nvls_intra(c, function), inter = g->channels * g->bw_inter;
    if (c->version != NCCL_2_30_7)
        return lesser(intra, c->nodes == 2 ? inter : inter / 2);
    inter *= c->nodes == 2 ? 2 : 1;
    return lesser(lesser(intra, inter), g->channels * nvls_tree_max_2_30[c->gpu][column(c)]);
}

static bool has_pat(const struct nccl_cluster *c, enum nccl_function function)
{
    return !is_old(c) && nccl_scatters(function) && is_alone(c) && c->nodes > 1;
}

// LL128 needs writes of 128 bytes that arrive whole (graph/tuning.cc).
static bool has_ll128(const struct nccl_cluster *c, const struct nccl_graph *g)
{
    uint8_t farthest = c->gpu >= NCCL_HOPPER ? NCCL_PATH_PXN : NCCL_PATH_PXB;
    if (is_old(c) && g->type_inter == NCCL_PATH_P2C)
        return false;
    return g->type_intra <= NCCL_PATH_NVB && (c->nodes == 1 || g->type_inter <= farthest);
}

static double bus_bw(const struct nccl_cluster *c, enum nccl_function function,
                     enum nccl_algorithm algorithm, enum nccl_protocol protocol)
{
    // NVLS and PAT exist for Simple only.
    bool simple = protocol == NCCL_SIMPLE;
    switch (algorithm) {
    case NCCL_RING:
        return protocol == NCCL_LL128 && !has_ll128(c, &c->ring) ? 0 : ring_bw(c, protocol);
    case NCCL_TREE:
        // NCCL's trees are for all-reduce only.
        if (function != NCCL_ALL_REDUCE || (protocol == NCCL_LL128 && !has_ll128(c, &c->tree)))
            return 0;
        return tree_bw(c, protocol);
    case NCCL_NVLS:
        return simple && c->nvls.channels > 0 ? nvls_bw(c, function) : 0;
    case NCCL_NVLS_TREE:
        return simple && c->nvls.channels > 0 ? nvls_tree_bw(c, function) : 0;
    case NCCL_PAT:
        return simple && has_pat(c, function) ? 0.75 * graph_bw(c, &c->tree) : 0;
    default:
        return 0; // needs switches that reduce
    }
}

// Messages that follow each other on the ring.
static double ring_steps(const struct nccl_cluster *c, enum nccl_function function)
{
    // A ring reduces and then gathers, and passes the data around twice.
    if (function == NCCL_ALL_REDUCE)
        return 2.0 * (c->ranks - 1);
    return nccl_scatters(function) ? c->ranks - 1.0 : c->ranks;
}

static double algorithm_bw(const struct nccl_cluster *c, enum nccl_function function,
                           enum nccl_algorithm algorithm, double bus)
{
    double by_steps = c->ranks / ring_steps(c, function);
    switch (algorithm) {
    case NCCL_RING:
        return bus * by_steps;
    case NCCL_TREE:
        return bus * 0.5;
    case NCCL_NVLS:
    case NCCL_NVLS_TREE:
        if (c->version == NCCL_2_30_7)
            return bus * by_steps;
        return function == NCCL_ALL_REDUCE ? bus * 5 / 6 : bus;
    default:
        return bus;
    }
}

/* ---- latency ---- */

static double overhead(const struct nccl_cluster *c, enum nccl_protocol protocol)
{
    double us = c->nodes == 1 ? 0 : c->cpu == NCCL_CPU_AMD ? 2 : 1;
    return protocol == NCCL_SIMPLE ? 3 * us : us;
}

// Latency of a step over a kind of link, us.
static double hop(const struct nccl_cluster *c, unsigned link, enum nccl_algorithm algorithm,
                  enum nccl_protocol protocol)
{
    if (algorithm == NCCL_TREE && protocol == NCCL_SIMPLE && is_old(c))
        return TREE_SIMPLE_2_21;
    if (algorithm == NCCL_NVLS_TREE && link == LINK_NET && c->version == NCCL_2_30_7)
        return NVLS_TREE_NET_2_30;
    return hop_latency[link][algorithm][protocol];
}

static unsigned inner_link(const struct nccl_graph *g)
{
    return g->type_intra == NCCL_PATH_NVL ? LINK_NVLINK : LINK_PCI;
}

// The latency of a ring: of its steps inside servers and of those between servers, of which 2.21
// counts two more for an all-reduce.
static double ring_latency(const struct nccl_cluster *c, enum nccl_function function,
                           enum nccl_protocol protocol)
{
    double steps = ring_steps(c, function), least = overhead(c, protocol), over_net = 0;
    double intra = hop(c, inner_link(&c->ring), NCCL_RING, protocol);
    double inter = hop(c, LINK_NET, is_alone(c) && !is_old(c) ? NCCL_TREE : NCCL_RING, protocol);
    if (c->nodes > 1)
        over_net = function != NCCL_ALL_REDUCE ? c->nodes - 1.0
                   : is_old(c)                 ? 2.0 * c->nodes
                                               : 2.0 * (c->nodes - 1);
    return (steps - over_net) * (intra > least ? intra : least) + over_net * inter;
}

// A broadcast or a reduce goes along a chain, in chunks. With Simple a step has the latency of a
// tree's.
static double chain_latency(const struct nccl_cluster *c, enum nccl_function function,
                            enum nccl_protocol protocol)
{
    unsigned link = c->nodes > 1 ? (unsigned)LINK_NET : inner_link(&c->ring);
    if (c->ring.same_channels)
        return hop(c, link, NCCL_RING, protocol);
    return ring_steps(c, function) *
           hop(c, link, protocol == NCCL_SIMPLE ? NCCL_TREE : NCCL_RING, protocol);
}

static double latency(const struct nccl_cluster *c, enum nccl_function function,
                      enum nccl_algorithm algorithm, enum nccl_protocol protocol)
{
    double per_node = c->ranks / (double)c->nodes, levels = nccl_log2(c->nodes), base;
    double inter = hop(c, LINK_NET, algorithm, protocol);
    switch (algorithm) {
    case NCCL_RING:
        base = base_latency[algorithm][protocol];
        if (function == NCCL_ALL_REDUCE || nccl_scatters(function))
            return base + ring_latency(c, function, protocol);
        return base + chain_latency(c, function, protocol);
    case NCCL_TREE:
        base = is_old(c) && protocol == NCCL_SIMPLE ? 0 : base_latency[algorithm][protocol];
        return base + 2 * ((per_node - 1) * hop(c, inner_link(&c->tree), algorithm, protocol) +
                           levels * inter);
    case NCCL_NVLS:
        return hop(c, LINK_NVLINK, algorithm, protocol) + (c->nodes > 1 ? inter : 0);
    case NCCL_NVLS_TREE:
        return hop(c, LINK_NVLINK, algorithm, protocol) + 2 * levels * inter;
    case NCCL_PAT:
        return 8 + levels * hop(c, LINK_NET, NCCL_TREE, protocol) / 3.5 + 2.8 * c->ranks;
    default:
        return 0;
    }
}

/* ---- threads ---- */

static uint32_t threads_of(const struct nccl_cluster *c, enum nccl_algorithm algorithm,
                           enum nccl_protocol protocol)
{
    if (protocol == NCCL_LL)
        return 512;
    if (protocol == NCCL_LL128)
        return 640;
    if (algorithm == NCCL_RING)
        return c->ring.bw_intra * c->ring.channels <= 12 ? 256 : 512;
    return algorithm == NCCL_PAT ? 0 : algorithm == NCCL_TREE ? 512 : 640;
}

void nccl_model_init(struct nccl_model *model, const struct nccl_cluster *cluster)
{
    *model = (struct nccl_model){.cluster = *cluster};
    if (cluster->rccl) {
        rccl_model_init(model);
        return;
    }
    for (unsigned a = 0; a < NCCL_ALGORITHMS; a++)
        for (unsigned p = 0; p < NCCL_PROTOCOLS; p++) {
            model->threads[a][p] =
                threads_of(cluster, (enum nccl_algorithm)a, (enum nccl_protocol)p);
            for (unsigned f = 0; f < NCCL_FUNCTIONS; f++) {
                double bus = bus_bw(cluster, (enum nccl_function)f, (enum nccl_algorithm)a,
                                    (enum nccl_protocol)p);
                if (bus <= 0)
                    continue;
                model->costs[f][a][p] = (struct nccl_cost){
                    latency(cluster, (enum nccl_function)f, (enum nccl_algorithm)a,
                            (enum nccl_protocol)p),
                    algorithm_bw(cluster, (enum nccl_function)f, (enum nccl_algorithm)a, bus)};
            }
        }
}

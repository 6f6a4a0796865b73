// SPDX-License-Identifier: MIT
// The numbers are those of RCCL's src/graph/tuning.cc: baseLat (line 57), tuning_model_0 (line 74),
// tuning_model_5 (line 224); the rules, of ncclTopoTuneModel and ncclTopoGetAlgoTime there.
//
// Only trees and rings have costs: the others need NVSwitches or a plugin. LL128 is left out, as
// RCCL leaves it out on gfx942 unless it is forced, and then the table of whole servers has no
// bandwidth for it.
#include "collective/nccl/rccl.h"
#include "collective/nccl/rules.h"

#define SIZES 27 // powers of two from 64 B on; the last one holds for all that are larger

enum { LINK_XGMI, LINK_PCI, LINK_NET, LINKS };

// By algorithm (tree, ring) and protocol.
struct tuning {
    double latency[LINKS][2][NCCL_PROTOCOLS];    // us, of a step
    double share[2][2][NCCL_PROTOCOLS];          // of the bandwidth; up to two servers, or more
    double correction[2][NCCL_PROTOCOLS][SIZES]; // factors of the bandwidth
};

static const double base_latency[NCCL_PROTOCOLS] = {12, 12, 17}; // us

// Of whole servers, for which RCCL has rings.
static const struct tuning of_mesh = {
    .latency = {[LINK_XGMI] = {{0.9, 0, 2.3}, {0.8, 0, 2.1}},
                [LINK_PCI] = {{2.2, 2.2, 5.7}, {2.2, 2.2, 5.7}},
                [LINK_NET] = {{10.5, 0, 25}, {9.5, 0, 320}}},
    .share = {{{0.06, 0, 0.11}, {0.08, 0, 1}}, {{0.06, 0, 0.59}, {0.08, 0, 1}}},
    .correction = {
        [NCCL_TREE] = {[NCCL_LL] = {.1, .1, .1, .1, .1, .1, 1,  1,  1,  1,  1,  .6, 1, .9,
                                    1,  1,  .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                       [NCCL_SIMPLE] = {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                                        .1, .7, 1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  .8}},
        [NCCL_RING] = {[NCCL_LL] = {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1,  .2, 1,
                                    .4, .4, .1, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1},
                       [NCCL_SIMPLE] = {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                                        .1, .1, .1, .1, .1, .1, .1, .1, .1, .8, 1,  1,  1}}}};

// Of everything else.
static const struct tuning of_others = {
    .latency = {[LINK_XGMI] = {{0.8, 1.4, 2.5}, {0.8, 2.2, 3.6}},
                [LINK_PCI] = {{2.2, 2.2, 5.7}, {2.2, 2.2, 5.7}},
                [LINK_NET] = {{11.8, 18.2, 20.8}, {9.5, 19.8, 15.1}}},
    .share = {{{0.04, 0.22, 0.91}, {0.04, 0.34, 1}}, {{0.04, 0.22, 0.95}, {0.04, 0.34, 1}}},
    .correction = {
        [NCCL_TREE] = {[NCCL_LL] = {.1, .2, .1, .1, .9, .3, .4, .1, .2, .4, .2, .1, .3, .3,
                                    .2, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                       [NCCL_SIMPLE] = {.2, 1, .1, .1, .7, .2, .4, .1, .1, .3, .4, .3, .6, .8,
                                        1,  1, 1,  1,  .9, .8, .8, .8, .8, .8, .9, .9, .9}},
        [NCCL_RING] = {[NCCL_LL] = {.1, .1, .1, .1, .1, .2, .4, .2, .3, .5, .3, .1, .5, .5,
                                    .3, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                       [NCCL_SIMPLE] = {1,  .8, .2, 1,  1, .3, 1, .1, .1, .2, .2, .1, .5, 1,
                                        .8, .8, 1,  .9, 1, 1,  1, 1,  1,  1,  1,  1,  1}}}};

static const struct tuning *tuning_of(const struct nccl_cluster *c)
{
    return c->rccl_mesh ? &of_mesh : &of_others;
}

double rccl_correction(const struct nccl_cluster *c, enum nccl_algorithm algorithm,
                       enum nccl_protocol protocol, uint64_t bytes)
{
    int size = bytes < 64 ? 0 : nccl_log2(bytes >> 6);
    if (algorithm == NCCL_RING && c->nodes == 1)
        return 1;
    return tuning_of(c)->correction[algorithm][protocol][size < SIZES ? size : SIZES - 1];
}

/* ---- bandwidth ---- */

#define CHAIN_LL 1.65 // times as fast in one server

// GB/s of the operation; 0 = not possible.
static double bandwidth(const struct nccl_cluster *c, enum nccl_function function,
                        enum nccl_algorithm algorithm, enum nccl_protocol protocol, double steps)
{
    bool tree = algorithm == NCCL_TREE, alone = c->nodes == 1;
    const struct nccl_graph *g = tree ? &c->tree : &c->ring;
    double bus = g->channels * (c->nodes <= 2 ? g->bw_intra : g->bw_inter) *
                 tuning_of(c)->share[c->nodes <= 2 ? 0 : 1][algorithm][protocol];
    if (tree && (function != NCCL_ALL_REDUCE || (alone && protocol == NCCL_SIMPLE)))
        return 0;
    if (tree)
        // Data of a tree crosses each link twice, up and down.
        return bus / 2;
    if (alone && protocol == NCCL_LL && nccl_is_chain(function))
        bus *= CHAIN_LL;
    return bus * c->ranks / steps;
}

/* ---- latency ---- */

static double post_overhead(const struct nccl_cluster *c, enum nccl_protocol protocol)
{
    double us = c->nodes == 1 ? 0 : c->cpu == NCCL_CPU_AMD ? 2 : 1;
    return protocol == NCCL_SIMPLE ? 3 * us : us;
}

static double latency(const struct nccl_cluster *c, enum nccl_function function,
                      enum nccl_algorithm algorithm, enum nccl_protocol protocol, double steps)
{
    const struct tuning *t = tuning_of(c);
    const struct nccl_graph *g = algorithm == NCCL_TREE ? &c->tree : &c->ring;
    unsigned inner = g->type_intra == NCCL_PATH_NVL ? LINK_XGMI : LINK_PCI,
             any = c->nodes > 1 ? (unsigned)LINK_NET : inner;
    double base = base_latency[protocol], intra = t->latency[inner][algorithm][protocol],
           inter = t->latency[LINK_NET][algorithm][protocol];
    unsigned per_node = c->ranks / c->nodes;
    if (algorithm == NCCL_TREE)
        return base + 2 * ((per_node - 1) * intra + nccl_log2(c->nodes) * inter);
    if (nccl_is_chain(function)) {
        unsigned as = protocol == NCCL_SIMPLE && !g->same_channels ? NCCL_TREE : NCCL_RING;
        return base + (g->same_channels ? 1 : steps) * t->latency[any][as][protocol];
    }
    double least = post_overhead(c, protocol), between = 0;
    // Only some steps of a ring cross between servers: those at the end of each server's part.
    if (c->nodes > 1)
        between = function == NCCL_ALL_REDUCE ? 2.0 * c->nodes : c->nodes - 1.0;
    return base + (steps - between) * (intra > least ? intra : least) + between * inter;
}

void rccl_model_init(struct nccl_model *model)
{
    const struct nccl_cluster *c = &model->cluster;
    static const enum nccl_algorithm algorithms[] = {NCCL_TREE, NCCL_RING};
    static const enum nccl_protocol protocols[] = {NCCL_LL, NCCL_SIMPLE};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++)
            for (unsigned f = 0; f < NCCL_FUNCTIONS; f++) {
                enum nccl_algorithm a = algorithms[i];
                enum nccl_protocol p = protocols[k];
                enum nccl_function function = (enum nccl_function)f;
                double steps = function == NCCL_ALL_REDUCE ? 2.0 * (c->ranks - 1)
                               : nccl_scatters(function)   ? c->ranks - 1.0
                                                           : c->ranks;
                model->costs[f][a][p] =
                    (struct nccl_cost){.latency_us = latency(c, function, a, p, steps),
                                       .bw = bandwidth(c, function, a, p, steps)};
                model->threads[a][p] = RCCL_THREADS;
            }
}

// SPDX-License-Identifier: MIT
// Two-tier Clos network: leaves hold consecutive ranks, and every leaf is linked to every spine by
// parallel trunks. With several planes there are as many such networks beside each other, and every
// rank has a port in each.
#include "net/topology/kinds.h"

struct leaf_spine_params {
    uint64_t ranks_per_leaf, spines, trunks, planes;
};

#define FIELD(f) offsetof(struct leaf_spine_params, f)
static const struct param params[] = {
    PARAM_ROW("ranks_per_leaf", COUNT, FIELD(ranks_per_leaf), .min = "1", .max = "2048",
              .help = "ranks on each leaf switch", .source = "Clos 1953"),
    PARAM_ROW("spines", COUNT, FIELD(spines), .min = "1", .max = "2048", .help = "spine switches",
              .source = "Clos 1953"),
    PARAM_ROW("trunks", COUNT, FIELD(trunks), .def = "1", .min = "1", .max = "64",
              .help = "parallel links of each leaf to each spine", .source = "Clos 1953"),
    PARAM_ROW("planes", COUNT, FIELD(planes), .def = "1", .min = "1", .max = "64",
              .help = "networks beside each other; every rank has one port to each",
              .source = "Araujo et al., 2026 (arXiv 2605.04333): eight planes of 100 Gb/s"),
};

static void check(const void *p, uint32_t size, uint32_t ranks, const char *path, struct err *err)
{
    (void)size;
    const struct leaf_spine_params *lp = p;
    if (ranks % lp->ranks_per_leaf != 0)
        err_add(err, path, "%u ranks are not a multiple of ranks_per_leaf %u", ranks,
                (unsigned)lp->ranks_per_leaf);
    if (lp->ranks_per_leaf + lp->spines * lp->trunks > 4095)
        err_add(err, path, "a leaf switch would have %u ports; the maximum is 4095",
                (unsigned)(lp->ranks_per_leaf + lp->spines * lp->trunks));
    if (ranks / lp->ranks_per_leaf * lp->trunks > 4095)
        err_add(err, path, "a spine switch would have %u ports; the maximum is 4095",
                (unsigned)(ranks / lp->ranks_per_leaf * lp->trunks));
}

static void build_plane(struct graph *g, uint32_t dim, uint32_t plane,
                        const struct leaf_spine_params *lp, const struct link_spec *links)
{
    uint32_t per_leaf = (uint32_t)lp->ranks_per_leaf, leaves = g->n_ranks / per_leaf;
    uint32_t spines = (uint32_t)lp->spines, first_leaf = g->n_nodes;
    for (uint32_t l = 0; l < leaves; l++)
        graph_add_switch(g, NODE_LEAF, dim, l, plane);
    uint32_t first_spine = g->n_nodes;
    for (uint32_t s = 0; s < spines; s++)
        graph_add_switch(g, NODE_SPINE, dim, s, plane);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        graph_add_link(g, r, first_leaf + r / per_leaf, dim, &links[0]);
    graph_add_trunks(g, first_leaf, leaves, first_spine, spines, (uint32_t)lp->trunks, dim,
                     &links[1]);
}

static void build(struct graph *g, uint32_t dim, const void *p, const struct link_spec *links)
{
    const struct leaf_spine_params *lp = p;
    for (uint32_t plane = 0; plane < lp->planes; plane++)
        build_plane(g, dim, plane, lp, links);
}

static uint64_t width(const void *p, uint32_t size)
{
    (void)size;
    return ((const struct leaf_spine_params *)p)->planes;
}

static uint32_t hops(const void *p, uint32_t ranks, uint32_t from, uint32_t to)
{
    (void)ranks;
    uint64_t per_leaf = ((const struct leaf_spine_params *)p)->ranks_per_leaf;
    return from / per_leaf == to / per_leaf ? 2 : 4;
}

static const char *const link_names[] = {"trunk", NULL};

const struct topology_kind topology_leaf_spine = {
    .name = "leaf_spine",
    .doc = "one two-tier Clos fabric joining all ranks",
    .source = "Alizadeh & Edsall, HotI 2013; Clos 1953",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .params_bytes = sizeof(struct leaf_spine_params),
    .links = link_names,
    .fabric = true,
    .shape = SHAPE_TIERED,
    .width = width,
    .hops = hops,
    .check = check,
    .build = build,
};

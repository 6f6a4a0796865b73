// SPDX-License-Identifier: MIT
// A fat tree of equal switches with `radix` ports (Al-Fares et al., SIGCOMM 2008, section 3): three
// tiers of edge, aggregation and core switches hold radix^3/4 ranks, two tiers radix^2/2. Every
// switch has as many ports down as up. With oversubscription N every edge switch has N times as
// many ranks and therefore more ports down than up (Raiciu et al., SIGCOMM 2011: 4:1), and the tree
// holds N times as many ranks. Ranks fill the edge switches in order; if there are fewer ranks than
// the tree holds, the last edge switches stay empty.
#include "net/topology/kinds.h"

struct fat_tree_params {
    uint64_t tiers, radix, oversubscription;
};

#define FIELD(f) offsetof(struct fat_tree_params, f)
static const struct param params[] = {
    PARAM_ROW("tiers", COUNT, FIELD(tiers), .def = "3", .min = "2", .max = "3",
              .help = "levels of switches", .source = "Al-Fares et al., SIGCOMM 2008"),
    PARAM_ROW(
        "radix", COUNT, FIELD(radix), .def = "auto", .can_auto = true, .min = "2", .max = "2048",
        .help = "ports per switch (even; an edge switch has more if oversubscribed); auto = the "
                "smallest that holds all ranks",
        .source = "Al-Fares et al., SIGCOMM 2008"),
    PARAM_ROW("oversubscription", COUNT, FIELD(oversubscription), .def = "1", .min = "1",
              .max = "64", .help = "ranks per uplink of an edge switch",
              .source = "Raiciu et al., SIGCOMM 2011"),
};

static uint64_t capacity(const struct fat_tree_params *p, uint64_t radix)
{
    uint64_t edges = p->tiers == 3 ? radix * radix / 2 : radix;
    return edges * p->oversubscription * radix / 2;
}

static uint64_t radix_of(const struct fat_tree_params *p, uint32_t ranks)
{
    uint64_t radix = 2;
    if (p->radix != PARAM_AUTO)
        return p->radix;
    while (capacity(p, radix) < ranks)
        radix += 2;
    return radix;
}

static void check(const void *params_of, uint32_t size, uint32_t ranks, const char *path,
                  struct err *err)
{
    (void)size;
    const struct fat_tree_params *p = params_of;
    uint64_t radix = radix_of(p, ranks);
    if (radix % 2 != 0)
        err_add(err, path, "radix %u is odd; it must be even, because half of the ports lead up",
                (unsigned)radix);
    else if (capacity(p, radix) < ranks)
        err_add(err, path, "%u tiers of radix %u hold %u ranks, not %u", (unsigned)p->tiers,
                (unsigned)radix, (unsigned)capacity(p, radix), ranks);
    if ((p->oversubscription + 1) * (radix / 2) > SWITCH_MAX_PORTS)
        err_add(err, path, "an edge switch would have %u ports; the maximum is %u",
                (unsigned)((p->oversubscription + 1) * (radix / 2)), SWITCH_MAX_PORTS);
}

// Add `n` switches of one role, with indices from 0. Returns the first node.
static uint32_t add_switches(struct graph *g, enum node_role role, uint32_t dim, uint32_t n)
{
    uint32_t first = g->n_nodes;
    for (uint32_t i = 0; i < n; i++)
        graph_add_switch(g, role, dim, i, 0);
    return first;
}

static void build_two(struct graph *g, uint32_t dim, uint32_t k, const struct link_spec *trunk,
                      uint32_t edge)
{
    uint32_t core = add_switches(g, NODE_CORE, dim, k / 2);
    for (uint32_t e = 0; e < k; e++)
        for (uint32_t c = 0; c < k / 2; c++)
            graph_add_link(g, edge + e, core + c, dim, trunk);
}

// Aggregation switch j of a pod is linked to the cores j*k/2 to (j+1)*k/2 - 1.
static void build_three(struct graph *g, uint32_t dim, uint32_t k, const struct link_spec *trunk,
                        uint32_t edge)
{
    uint32_t half = k / 2, agg = add_switches(g, NODE_AGG, dim, k * half);
    uint32_t core = add_switches(g, NODE_CORE, dim, half * half);
    for (uint32_t pod = 0; pod < k; pod++)
        for (uint32_t e = 0; e < half; e++)
            for (uint32_t a = 0; a < half; a++)
                graph_add_link(g, edge + pod * half + e, agg + pod * half + a, dim, trunk);
    for (uint32_t pod = 0; pod < k; pod++)
        for (uint32_t a = 0; a < half; a++)
            for (uint32_t c = 0; c < half; c++)
                graph_add_link(g, agg + pod * half + a, core + a * half + c, dim, trunk);
}

static void build(struct graph *g, uint32_t dim, const void *params_of,
                  const struct link_spec *links)
{
    const struct fat_tree_params *p = params_of;
    uint32_t k = (uint32_t)radix_of(p, g->n_ranks);
    uint32_t down = (uint32_t)p->oversubscription * k / 2; // ranks per edge switch
    uint32_t edges = p->tiers == 3 ? k * k / 2 : k;
    uint32_t edge = add_switches(g, NODE_EDGE, dim, edges);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        graph_add_link(g, r, edge + r / down, dim, &links[0]);
    if (p->tiers == 3)
        build_three(g, dim, k, &links[1], edge);
    else
        build_two(g, dim, k, &links[1], edge);
}

static uint64_t width(const void *params_of, uint32_t size)
{
    (void)params_of, (void)size;
    return 1;
}

static uint32_t hops(const void *params_of, uint32_t ranks, uint32_t from, uint32_t to)
{
    const struct fat_tree_params *p = params_of;
    uint64_t half = radix_of(p, ranks) / 2, down = p->oversubscription * half;
    if (from / down == to / down)
        return 2;
    return p->tiers == 2 || from / (down * half) == to / (down * half) ? 4 : 6;
}

static const char *const link_names[] = {"trunk", NULL};

const struct topology_kind topology_fat_tree = {
    .name = "fat_tree",
    .doc = "one fabric of equal switches in two or three tiers",
    .source = "Al-Fares et al., SIGCOMM 2008",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .params_bytes = sizeof(struct fat_tree_params),
    .links = link_names,
    .fabric = true,
    .shape = SHAPE_TIERED,
    .width = width,
    .hops = hops,
    .check = check,
    .build = build,
};

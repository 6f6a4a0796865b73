// SPDX-License-Identifier: MIT
// Dragonfly (Kim et al., ISCA 2008, section 3): groups of fully connected routers, with global
// links between every two groups. p, a and h are the paper's parameters: ranks per router, routers
// per group, global links per router. There are g = ranks / (p a) groups, at most a h + 1.
//
// Global port k of a group belongs to router k / h. The ports of a group are assigned to the other
// groups in ascending order, in as many rounds as all of them get one more link, so every pair of
// groups has floor(a h / (g - 1)) links; the remaining ports are unused. With g = a h + 1 this is
// the arrangement of the paper. Routing is minimal (section 4: local, global, local): a path has
// the fewest possible global links, and among those the fewest local links.
#include "net/topology/kinds.h"

// More than the number of local links that a second global link could save.
#define GLOBAL_COST 4

struct dragonfly_params {
    uint64_t ranks_per_router, routers_per_group, global_links;
};

#define SOURCE "Kim et al., ISCA 2008"
#define FIELD(f) offsetof(struct dragonfly_params, f)
static const struct param params[] = {
    PARAM_ROW("ranks_per_router", COUNT, FIELD(ranks_per_router), .min = "1", .max = "2048",
              .help = "p: ranks of a router", .source = SOURCE),
    PARAM_ROW("routers_per_group", COUNT, FIELD(routers_per_group), .min = "1", .max = "1024",
              .help = "a: routers of a group, fully connected", .source = SOURCE),
    PARAM_ROW("global_links", COUNT, FIELD(global_links), .min = "1", .max = "1024",
              .help = "h: links of a router to other groups", .source = SOURCE),
};

static void check(const void *params_of, uint32_t size, uint32_t ranks, const char *path,
                  struct err *err)
{
    (void)size;
    const struct dragonfly_params *d = params_of;
    uint64_t p = d->ranks_per_router, a = d->routers_per_group, h = d->global_links;
    if (ranks % (p * a) != 0)
        err_add(err, path, "%u ranks are not a multiple of a group (%u routers of %u ranks)", ranks,
                (unsigned)a, (unsigned)p);
    else if (ranks / (p * a) > a * h + 1)
        err_add(err, path, "%u groups are too many: at most %u with %u global links per group",
                (unsigned)(ranks / (p * a)), (unsigned)(a * h + 1), (unsigned)(a * h));
    if (p + a - 1 + h > SWITCH_MAX_PORTS)
        err_add(err, path, "a router would have %u ports; the maximum is %u",
                (unsigned)(p + a - 1 + h), SWITCH_MAX_PORTS);
}

static void build(struct graph *g, uint32_t dim, const void *params_of,
                  const struct link_spec *links)
{
    const struct dragonfly_params *d = params_of;
    uint32_t p = (uint32_t)d->ranks_per_router, a = (uint32_t)d->routers_per_group;
    uint32_t h = (uint32_t)d->global_links, groups = g->n_ranks / (p * a), first = g->n_nodes;
    const struct link_spec *local = &links[1], *global = &links[2];
    for (uint32_t i = 0; i < groups * a; i++)
        graph_add_switch(g, NODE_ROUTER, dim, i, 0);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        graph_add_link(g, r, first + r / p, dim, &links[0]);
    for (uint32_t group = 0; group < groups; group++)
        for (uint32_t i = 0; i < a; i++)
            for (uint32_t j = i + 1; j < a; j++)
                graph_add_link(g, first + group * a + i, first + group * a + j, dim, local);
    uint32_t rounds = groups > 1 ? a * h / (groups - 1) : 0;
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t x = 0; x < groups; x++)
            for (uint32_t y = x + 1; y < groups; y++) { // group y is number y - 1 among the other
                                                        // groups of x
                uint32_t from = round * (groups - 1) + y - 1, to = round * (groups - 1) + x;
                graph_add_costly_link(g, first + x * a + from / h, first + y * a + to / h, dim,
                                      global, GLOBAL_COST);
            }
}

static const char *const link_names[] = {"local", "global", NULL};

const struct topology_kind topology_dragonfly = {
    .name = "dragonfly",
    .doc = "one fabric of fully connected groups of routers, all pairs of groups joined",
    .source = SOURCE,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .params_bytes = sizeof(struct dragonfly_params),
    .links = link_names,
    .fabric = true,
    .check = check,
    .build = build,
};

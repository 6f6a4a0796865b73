// SPDX-License-Identifier: MIT
// Rail-optimised fabric: GPU i of every server of a pod is linked to rail switch i of that pod, and
// every rail switch to every spine. Ranks fill servers in order, so the rail of a rank is rank %
// gpus_per_server. With several planes there are as many such networks beside each other, and every
// rank has a NIC in each: so each NIC of a server has a rail of its own. The network inside the
// servers is a dimension of its own.
#include "net/topology/kinds.h"

struct rail_params {
    uint64_t gpus_per_server, servers_per_pod, spines, trunks, planes;
};

#define SOURCE "NVIDIA DGX SuperPOD reference architecture, compute fabric"
#define FIELD(f) offsetof(struct rail_params, f)
static const struct param params[] = {
    PARAM_ROW("gpus_per_server", COUNT, FIELD(gpus_per_server), .min = "1", .max = "256",
              .help = "ranks of a server, and rail switches of a pod", .source = SOURCE),
    PARAM_ROW("servers_per_pod", COUNT, FIELD(servers_per_pod), .def = "auto", .can_auto = true,
              .min = "1", .max = "4094", .help = "servers on the same rail switches; auto = all",
              .source = SOURCE),
    PARAM_ROW("spines", COUNT, FIELD(spines), .min = "1", .max = "2048",
              .help = "spine switches, over all pods", .source = SOURCE),
    PARAM_ROW("trunks", COUNT, FIELD(trunks), .def = "1", .min = "1", .max = "64",
              .help = "parallel links of each rail switch to each spine", .source = SOURCE),
    PARAM_ROW("planes", COUNT, FIELD(planes), .def = "1", .min = "1", .max = "64",
              .help = "networks beside each other; every rank has one NIC in each",
              .source = SOURCE),
};

static uint64_t pod_servers(const struct rail_params *p, uint32_t ranks)
{
    return p->servers_per_pod == PARAM_AUTO ? ranks / p->gpus_per_server : p->servers_per_pod;
}

static void check(const void *params_of, uint32_t size, uint32_t ranks, const char *path,
                  struct err *err)
{
    (void)size;
    const struct rail_params *p = params_of;
    uint64_t servers = pod_servers(p, ranks), pod = servers * p->gpus_per_server;
    if (ranks % p->gpus_per_server != 0) {
        err_add(err, path, "%u ranks are not a multiple of gpus_per_server %u", ranks,
                (unsigned)p->gpus_per_server);
        return;
    }
    if (ranks % pod != 0) {
        err_add(err, path, "%u ranks are not a multiple of a pod (%u servers of %u GPUs)", ranks,
                (unsigned)servers, (unsigned)p->gpus_per_server);
        return;
    }
    uint64_t rail_ports = servers + p->spines * p->trunks;
    uint64_t spine_ports = ranks / pod * p->gpus_per_server * p->trunks;
    if (rail_ports > SWITCH_MAX_PORTS)
        err_add(err, path, "a rail switch would have %u ports; the maximum is %u",
                (unsigned)rail_ports, SWITCH_MAX_PORTS);
    if (spine_ports > SWITCH_MAX_PORTS)
        err_add(err, path, "a spine switch would have %u ports; the maximum is %u",
                (unsigned)spine_ports, SWITCH_MAX_PORTS);
}

static void build_plane(struct graph *g, uint32_t dim, uint32_t plane, const struct rail_params *p,
                        const struct link_spec *links)
{
    uint32_t gpus = (uint32_t)p->gpus_per_server, spines = (uint32_t)p->spines;
    uint32_t pod = (uint32_t)pod_servers(p, g->n_ranks) * gpus;
    uint32_t rails = g->n_ranks / pod * gpus, first_rail = g->n_nodes;
    for (uint32_t i = 0; i < rails; i++)
        graph_add_switch(g, NODE_RAIL, dim, i, plane);
    uint32_t first_spine = g->n_nodes;
    for (uint32_t s = 0; s < spines; s++)
        graph_add_switch(g, NODE_SPINE, dim, s, plane);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        graph_add_link(g, r, first_rail + r / pod * gpus + r % gpus, dim, &links[0]);
    graph_add_trunks(g, first_rail, rails, first_spine, spines, (uint32_t)p->trunks, dim,
                     &links[1]);
}

static void build(struct graph *g, uint32_t dim, const void *params_of,
                  const struct link_spec *links)
{
    const struct rail_params *p = params_of;
    for (uint32_t plane = 0; plane < p->planes; plane++)
        build_plane(g, dim, plane, p, links);
}

static uint64_t width(const void *params_of, uint32_t size)
{
    (void)size;
    return ((const struct rail_params *)params_of)->planes;
}

static uint32_t hops(const void *params_of, uint32_t ranks, uint32_t from, uint32_t to)
{
    const struct rail_params *p = params_of;
    uint64_t gpus = p->gpus_per_server, pod = pod_servers(p, ranks) * gpus;
    return from / pod == to / pod && from % gpus == to % gpus ? 2 : 4;
}

static const char *const link_names[] = {"trunk", NULL};

const struct topology_kind topology_rail = {
    .name = "rail",
    .doc =
        "one rail-optimised fabric joining all ranks: a switch per GPU index and pod, spines above",
    .source = SOURCE,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .params_bytes = sizeof(struct rail_params),
    .links = link_names,
    .fabric = true,
    .shape = SHAPE_TIERED,
    .width = width,
    .hops = hops,
    .check = check,
    .build = build,
};

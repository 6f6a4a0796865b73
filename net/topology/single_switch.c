// SPDX-License-Identifier: MIT
// One switch, or several parallel planes, for every group of ranks with equal other coordinates.
#include "net/topology/group.h"
#include "net/topology/kinds.h"

struct switch_params {
    uint64_t planes;
};

static const struct param params[] = {
    PARAM_ROW("planes", COUNT, offsetof(struct switch_params, planes), .def = "1", .min = "1",
              .max = "64", .help = "parallel switches; every rank has one port to each",
              .source = "NVSwitch systems"),
};

static void check(const void *p, uint32_t size, uint32_t ranks, const char *path, struct err *err)
{
    (void)p;
    (void)ranks;
    if (size > 4095)
        err_add(err, path, "a switch would have %u ports; the maximum is 4095", size);
}

static void build(struct graph *g, uint32_t dim, const void *p, const struct link_spec *links)
{
    const struct switch_params *sp = p;
    for (uint32_t k = 0; k < rank_groups(g, dim); k++) {
        struct rank_group group = rank_group_at(g, dim, k);
        for (uint32_t plane = 0; plane < sp->planes; plane++) {
            uint32_t sw = graph_add_switch(g, NODE_SWITCH, dim, k, plane);
            for (uint32_t i = 0; i < group.size; i++)
                graph_add_link(g, group_rank(&group, i), sw, dim, &links[0]);
        }
    }
}

static uint64_t width(const void *p, uint32_t size)
{
    (void)size;
    return ((const struct switch_params *)p)->planes;
}

const struct topology_kind topology_switch = {
    .name = "switch",
    .shape = SHAPE_SWITCH,
    .width = width,
    .doc = "one switch per group of ranks that share all other coordinates",
    .source = "any single-switch or NVSwitch system",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .params_bytes = sizeof(struct switch_params),
    .check = check,
    .build = build,
};

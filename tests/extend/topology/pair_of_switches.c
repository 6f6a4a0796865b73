// SPDX-License-Identifier: MIT
// A kind of dimension for tests: two switches with `trunks` links between them, the ranks of a
// group shared out in turn.
#include "net/topology/group.h"
#include "net/topology/kinds.h"

struct pair_params {
    uint64_t trunks;
};

static const struct param params[] = {
    PARAM_ROW("trunks", COUNT, offsetof(struct pair_params, trunks), .def = "1", .min = "1",
              .max = "64", .help = "links between the two switches", .source = "this test"),
};

static void build(struct graph *g, uint32_t dim, const void *p, const struct link_spec *links)
{
    const struct pair_params *pair = p;
    for (uint32_t k = 0; k < rank_groups(g, dim); k++) {
        struct rank_group group = rank_group_at(g, dim, k);
        uint32_t sw[2] = {graph_add_switch(g, NODE_SWITCH, dim, 2 * k, 0),
                          graph_add_switch(g, NODE_SWITCH, dim, 2 * k + 1, 0)};
        for (uint32_t i = 0; i < group.size; i++)
            graph_add_link(g, group_rank(&group, i), sw[i % 2], dim, &links[0]);
        for (uint32_t t = 0; t < pair->trunks; t++)
            graph_add_link(g, sw[0], sw[1], dim, &links[0]);
    }
}

const struct topology_kind topology_pair = {
    .name = "pair",
    .doc = "two switches, the ranks shared out in turn",
    .source = "a test",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .params_bytes = sizeof(struct pair_params),
    .build = build,
};

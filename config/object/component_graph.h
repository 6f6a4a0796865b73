// SPDX-License-Identifier: MIT
// A graph of components, of which some are parts of links: it becomes the links of a `graph`.
//
// Components that carry nothing, because only one link leads to them, are left out, unless they are
// ranks. A NIC or a port between two links is a part of one link, which has the lower rate and the
// sum of the delays. All other components that have links are switches.
#pragma once

#include "net/topology/graph_kind.h"

enum component { COMPONENT_RANK, COMPONENT_PORT, COMPONENT_OTHER };

struct component_link {
    uint32_t ends[2];  // components
    uint64_t rate_bps; // 0 = not given
    ps_t delay_ps;     // negative = not given
};

struct component_graph {
    uint8_t *kinds; // enum component of each
    uint32_t n;
    struct component_link *links;
    size_t n_links;
};

// Fill in hosts, switches and links of `params`, numbered as the components are; what is not given
// is as in `link`. Returns false if there are too many links or switches.
bool component_graph_links(const struct component_graph *g, const struct link_spec *link,
                           struct graph_params *params);

// SPDX-License-Identifier: MIT
// Networks in the files of other simulators, as the links of a `graph`. Each is recognised by the
// begin of its text. A reader fills in everything of `params` but the file's name, or adds errors
// that name the line; the caller frees the links in both cases.
#pragma once

#include "engine/text/text_file.h"
#include "net/topology/graph_kind.h"

#define FOREIGN_SWITCHES_MAX 1000000
#define FOREIGN_LINKS_MAX (UINT64_C(1) << 24)

// Links while a file is read.
struct foreign_links {
    struct graph_params *params;
    size_t cap;
};

// Add a link, the same in both directions. Returns it, or NULL if there are too many.
struct graph_link *foreign_link_add(struct foreign_links *links, struct graph_end a,
                                    struct graph_end b);

// HPCC's model of ns-3: "NODES SWITCHES LINKS", the ids of the switches, and for each link "SRC DST
// RATE DELAY ERROR_RATE", wherever lines end. SimAI has the same with "NODES GPUS_PER_SERVER
// NVSWITCHES SWITCHES LINKS GPU" and the NVSwitches first. All other nodes are hosts; their ranks
// ascend with their ids, and switches are numbered as they are listed.
bool ns3_graph_is(const char *text);
void ns3_graph_read(struct text_file *file, struct graph_params *params);

// A fat tree of htsim (`-topo`): "Nodes N", "Tiers 2 or 3", "Podsize N", and for each tier from 0
// "Tier T" with its ports and links. Switches are numbered tier by tier from the bottom.
bool htsim_graph_is(const char *text);
void htsim_graph_read(struct text_file *file, struct graph_params *params);

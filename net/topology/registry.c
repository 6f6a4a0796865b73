// SPDX-License-Identifier: MIT
// The catalogue of topology kinds.
#include <string.h>

#include "net/topology/graph_kind.h"
#include "net/topology/kinds.h"

const struct topology_kind *const topology_registry[] = {
    &topology_switch,    &topology_leaf_spine, &topology_fat_tree, &topology_rail,
    &topology_dragonfly, &topology_ring,       &topology_mesh,     &topology_fully_connected,
    &topology_dln,       &topology_circuit,    &topology_graph,    NULL,
};

const struct topology_kind *topology_find(const char *name)
{
    for (size_t i = 0; topology_registry[i]; i++)
        if (strcmp(topology_registry[i]->name, name) == 0)
            return topology_registry[i];
    return NULL;
}

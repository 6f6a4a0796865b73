// SPDX-License-Identifier: MIT
// The topology kinds, for the registry.
#pragma once

#include "net/topology/topology.h"

#define SWITCH_MAX_PORTS 4095 // an event's key has 12 bits for the port of a node

extern const struct topology_kind topology_switch, topology_leaf_spine, topology_fat_tree,
    topology_rail, topology_dragonfly, topology_ring, topology_mesh, topology_fully_connected,
    topology_dln, topology_circuit;

_Static_assert(TOPOLOGY_MAX_LINKS >= 3, "dragonfly has three kinds of link");

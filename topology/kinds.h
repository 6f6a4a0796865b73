// SPDX-License-Identifier: MIT
// The topology kinds, for the registry.
#pragma once

#include "topology/topology.h"

extern const struct topology_kind topology_switch, topology_leaf_spine, topology_fat_tree;

_Static_assert(TOPOLOGY_MAX_LINKS >= 2, "leaf_spine has two kinds of link");

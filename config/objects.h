// SPDX-License-Identifier: MIT
// The objects that other files name: those that a dimension overrides, and the topology.
#pragma once

#include "config/object.h"

extern const struct object topology_object, switch_object, transport_object, cc_object;

// SPDX-License-Identifier: MIT
// The objects that other files refer to: those that a dimension can override, and the topology.
#pragma once

#include "config/object.h"

extern const struct object topology_object, switch_object, transport_object, cc_object;

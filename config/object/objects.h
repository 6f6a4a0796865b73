// SPDX-License-Identifier: MIT
// The objects that other files refer to: those that a dimension can override, parts of them that
// have a file of their own, and the topology.
#pragma once

#include "config/text/object.h"

// The most letters of a scenario's name. The name becomes that of a folder and a part of file
// names, which file systems limit to 255 bytes.
#define NAME_MAX_LETTERS 200

extern const struct object topology_object, switch_object, nic_object, transport_object, cc_object,
    queue_limit_object;

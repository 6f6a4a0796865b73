// SPDX-License-Identifier: MIT
// Descriptions of the JSON objects of a scenario that more than one file needs: objects that a
// dimension may override (`switch`, `transport`, ...), objects within these, and the topology.
#pragma once

#include "engine/text/object.h"

// The most letters of a scenario's name. The name becomes that of a folder and a part of file
// names, which file systems limit to 255 bytes.
#define NAME_MAX_LETTERS 200

extern const struct object topology_object, switch_object, nic_object, transport_object, cc_object,
    queue_limit_object;

struct place;
struct reader;

// Compare what jobs need with the memory of a GPU (object_memory.c); all objects have been read.
void memory_check(struct reader *r, const struct place *root);

// SPDX-License-Identifier: MIT
// Bytes that the ranks of a group send in a phase: the sum over its program, kept for the next that is
// alike.
#pragma once

#include "collective/schedule.h"

#define VOLUMES_KEPT 64

struct volume { // of a phase with the bytes of its vector
    struct coll_phase phase;
    uint64_t bytes;
};

// `kept`: [VOLUMES_KEPT], zeroed at first.
uint64_t volume_of(const struct coll_schedule *s, const struct coll_phase *phase,
                   const struct coll_shape *shape, struct volume *kept);

// SPDX-License-Identifier: MIT
// System files of ASTRA-sim 2, JSON objects: collectives, and the speed of computation and memory.
#pragma once

#include "collective/algorithm/schedule.h"
#include "engine/text/read.h"

struct astra2_system {
    struct coll_schedule whole;   // for collectives of all ranks
    bool single[COLL_OPS];        // one algorithm is listed for the operation
    const char *custom[COLL_OPS]; // prefix of the traces that run it, or NULL; borrowed
    bool roofline;
    bool rendezvous;               // messages wait for their receivers
    double peak_ops, memory_bytes; // per second
};

// [op] the key with that prefix, a list of one; NULL = there is none.
extern const char *const astra2_custom_keys[COLL_OPS];

// Read the object at `place` into *s, whose dimensions in `whole` the caller has set. One warning
// names the keys that have no effect.
void astra2_system_read(struct reader *r, const struct place *place, struct astra2_system *s);

// Remove the keys that have no effect.
void astra2_system_strip(json_t *system);

// Prefixes of traces are relative to folder `dir`: make them relative to the folder of `file`.
void astra2_system_move(json_t *system, const char *dir, const char *file);

// The schedule of a group of `n` ranks, which are fewer than the system has: one logical ring.
struct coll_schedule astra2_group_schedule(const struct astra2_system *s, uint32_t n);

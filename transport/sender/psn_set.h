// SPDX-License-Identifier: MIT
// A set of packet numbers above a moving base, for packets that have arrived (or been acknowledged)
// out of order.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/parcel.h"

// A ring with one bit per packet number, which grows to the widest span so far. Zeroed = empty.
struct psn_set {
    uint64_t *words;
    size_t n_words; // a power of two, or 0
    uint64_t n;     // number of members
    uint64_t end;   // larger than all members
};

void psn_set_free(struct psn_set *set);
void psn_set_clear(struct psn_set *set);
// Hand a set to another process; the reader's one must be zeroed.
void psn_set_hand_over(struct parcel *p, struct psn_set *set);

// Add `psn`. All members must be at or after `base`. Returns false if `psn` was a member.
bool psn_set_add(struct psn_set *set, uint64_t base, uint64_t psn);

// Remove `psn`, which must not be before the base. Returns false if it was not a member.
bool psn_set_remove(struct psn_set *set, uint64_t psn);

// Returns the smallest member. The set must not be empty; all members are at or after `base`.
uint64_t psn_set_first(const struct psn_set *set, uint64_t base);

// Returns 64 bits: bit i is set if `from` + i is a member. `from` is not before the base.
uint64_t psn_set_bits(const struct psn_set *set, uint64_t from);

// Returns true if `psn`, which must not be before the base, is a member.
static inline bool psn_set_has(const struct psn_set *set, uint64_t psn)
{
    return set->n > 0 && psn < set->end &&
           set->words[psn / 64 & (set->n_words - 1)] >> psn % 64 & 1;
}

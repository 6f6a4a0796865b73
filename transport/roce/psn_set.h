// SPDX-License-Identifier: MIT
// A set of packet numbers above a moving base: what has arrived (or been acknowledged) out of order.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bits in a ring by packet number; grows to the widest span seen. Zeroed = empty.
struct psn_set {
    uint64_t *words;
    size_t n_words; // a power of two, or 0
    uint64_t n;     // members
    uint64_t end;   // all are before it
};

void psn_set_free(struct psn_set *set);
void psn_set_clear(struct psn_set *set);

// Add `psn`; every member lies in [base, base + span). False where it was there.
bool psn_set_add(struct psn_set *set, uint64_t base, uint64_t psn);

// Take `psn`, which is not before the base, out; false where it was not there.
bool psn_set_remove(struct psn_set *set, uint64_t psn);

// Is `psn`, which is not before the base, a member?
static inline bool psn_set_has(const struct psn_set *set, uint64_t psn)
{
    return set->n > 0 && psn < set->end &&
           set->words[psn / 64 & (set->n_words - 1)] >> psn % 64 & 1;
}

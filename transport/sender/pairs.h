// SPDX-License-Identifier: MIT
// The flows of each (source, destination, job, channel). Not used for every packet.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pair {
    uint32_t src, dst;
    uint32_t flow; // its flow; if connections are fresh, the first idle flow
    uint32_t turn; // several connections per pair: counter for the next one
    uint64_t key;  // its job and channel
};
_Static_assert(sizeof(struct pair) == 24, "one for each queue pair");

struct pair_table {
    struct pair *pairs; // [n]
    size_t n, cap_pairs;
    uint32_t *slots; // a hash table: 1 + index of a pair, 0 = free
    size_t cap;      // of slots, a power of two, or 0
};

// Returns the entry of the key, created with flow = UINT32_MAX if it does not exist. Valid until
// the next call. `job` has 16 bits (JOBS_MAX), `channel` 48.
struct pair *pairs_get(struct pair_table *t, uint32_t src, uint32_t dst, uint32_t job,
                       uint64_t channel);
// Returns the entry of the key, or NULL.
const struct pair *pairs_find(const struct pair_table *t, uint32_t src, uint32_t dst, uint32_t job,
                              uint64_t channel);
// Add an entry whose key the table does not have.
void pairs_copy(struct pair_table *t, const struct pair *pair);
void pairs_free(struct pair_table *t);

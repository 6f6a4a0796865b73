// SPDX-License-Identifier: MIT
// A hash table of the flows of each (source, destination, job, channel). Not used for every packet.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pair {
    uint32_t src, dst, job;
    uint64_t channel;
    uint32_t flow; // its flow; if connections are fresh, the first idle flow
    uint32_t turn; // several connections per pair: counter for the next one
};

struct pair_table {
    struct pair *slots;
    uint8_t *used;
    size_t cap, n; // cap is a power of two
};

// Returns the entry of the key, created with flow = UINT32_MAX if it does not exist. Valid until
// the next call.
struct pair *pairs_get(struct pair_table *t, uint32_t src, uint32_t dst, uint32_t job,
                       uint64_t channel);
void pairs_free(struct pair_table *t);

// SPDX-License-Identifier: MIT
// Which flows a (source, destination, job, channel) has: a hash table off the data path.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pair {
    uint32_t src, dst, job, channel;
    uint32_t flow; // its flow; where connections are fresh: the first of the idle ones
    uint32_t turn; // several connections a pair: which is next
};

struct pair_table {
    struct pair *slots;
    uint8_t *used;
    size_t cap, n; // cap is a power of two
};

// The entry of the key, made (flow = UINT32_MAX) when there is none. Valid until the next call.
struct pair *pairs_get(struct pair_table *t, uint32_t src, uint32_t dst, uint32_t job,
                       uint32_t channel);
void pairs_free(struct pair_table *t);

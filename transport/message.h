// SPDX-License-Identifier: MIT
// Messages of senders that are not wholly acknowledged.
#pragma once

#include <stddef.h>

#include "engine/units.h"

#define MESSAGE_NIL UINT32_MAX

enum message_status { MESSAGE_RUNNING, MESSAGE_DONE, MESSAGE_FAILED };

struct message {
    /* config */
    uint64_t first_seq, n_seq;  // sequence numbers
    uint64_t start_byte, bytes; // of the flow's payload
    uint64_t token;             // of the client
    /* counters */
    uint64_t packets, retransmitted;
    uint32_t cnps, timeouts;
    /* state */
    uint32_t next;  // in its flow, or in the free list
    uint8_t status; // enum message_status
};

// Slab of messages by index; freed ones are used again.
struct message_pool {
    struct message *slots;
    size_t cap;
    uint32_t n, free_head;
};

void message_pool_init(struct message_pool *pool);
void message_pool_free(struct message_pool *pool);
uint32_t message_alloc(struct message_pool *pool); // zeroed; pointers into slots may move
void message_free(struct message_pool *pool, uint32_t index);

static inline uint64_t message_end_seq(const struct message *m) { return m->first_seq + m->n_seq; }

// Offset in the flow of the first payload byte of `seq` (first_seq..end).
static inline uint64_t message_offset(const struct message *m, uint64_t seq, uint32_t seq_bytes)
{
    uint64_t offset = (seq - m->first_seq) * seq_bytes;
    return m->start_byte + (offset < m->bytes ? offset : m->bytes);
}

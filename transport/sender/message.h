// SPDX-License-Identifier: MIT
// Messages of senders, until they are completely acknowledged.
#pragma once

#include <stddef.h>

#include "engine/base/units.h"

#define MESSAGE_NIL UINT32_MAX

enum message_status { MESSAGE_RUNNING, MESSAGE_DONE, MESSAGE_FAILED };

struct message {
    /* config */
    uint64_t first_seq, n_seq;  // range of sequence numbers
    uint64_t start_byte, bytes; // offset in the flow's payload, and length
    uint64_t token;             // token that callbacks of the client get
    /* counters */
    uint32_t packets, retransmitted;
    uint32_t cnps, timeouts;
    /* state */
    uint32_t next;  // next message of the same flow, or of the free list
    uint8_t status; // enum message_status
};

_Static_assert(sizeof(struct message) == 64, "a message is as large as a cache line");

// Pool of messages by index; freed messages are reused.
struct message_pool {
    struct message *slots;
    size_t cap;
    uint32_t n, free_head;
};

void message_pool_init(struct message_pool *pool);
void message_pool_free(struct message_pool *pool);
uint32_t message_alloc(struct message_pool *pool); // zeroed; may move `slots`
void message_free(struct message_pool *pool, uint32_t index);

static inline uint64_t message_end_seq(const struct message *m) { return m->first_seq + m->n_seq; }

// Returns the offset in the flow's payload of the first byte of `seq`, which is in [first_seq,
// message_end_seq].
static inline uint64_t message_offset(const struct message *m, uint64_t seq, uint32_t seq_bytes)
{
    uint64_t offset = (seq - m->first_seq) * seq_bytes;
    return m->start_byte + (offset < m->bytes ? offset : m->bytes);
}

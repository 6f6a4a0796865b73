// SPDX-License-Identifier: MIT
// Messages in flight and the records of finished ones.
#pragma once

#include "engine/units.h"

#define MESSAGE_NIL UINT32_MAX

enum message_status { MESSAGE_RUNNING, MESSAGE_DONE, MESSAGE_FAILED };

struct message {
    /* config */
    uint64_t first_psn, n_pkts; // of its queue pair
    uint64_t start_byte, bytes; // of the queue pair's stream
    uint64_t packets;           // counter, beside what each packet reads
    uint32_t next;              // in its queue pair, or in the free list
    uint32_t qp;
    uint64_t token, id; // id: order of posting, over all
    uint32_t job, src, dst, dim;
    ps_t posted_ps;
    /* state */
    ps_t delivered_ps, done_ps; // PS_NEVER = not yet
    uint8_t status;             // enum message_status
    /* counters */
    uint32_t cnps, timeouts;
    uint64_t retransmitted;
};

// Slab of messages by index; freed ones are used again.
struct message_pool {
    struct message *slots;
    size_t cap;
    uint32_t n, free_head;
};

void message_pool_init(struct message_pool *pool);
void message_pool_free(struct message_pool *pool);
uint32_t message_take(struct message_pool *pool); // zeroed; pointers into slots may move
void message_give(struct message_pool *pool, uint32_t index);

static inline uint64_t message_end_psn(const struct message *m) { return m->first_psn + m->n_pkts; }

// Offset in the stream of the first byte of packet `psn` (first_psn..end).
static inline uint64_t message_offset(const struct message *m, uint64_t psn, uint64_t mtu_bytes)
{
    uint64_t offset = (psn - m->first_psn) * mtu_bytes;
    return m->start_byte + (offset < m->bytes ? offset : m->bytes);
}

// SPDX-License-Identifier: MIT
// Packet meta-data: the fields that only the two ends of a flow and captures read, in a pool beside
// the packets. Switches access it only to add telemetry. The sender of a data packet allocates a
// slot, the receiver's ACK reuses it, and it is freed where the data packet or the ACK ends. PFC
// frames have slot 0, which always stays zero.
//
// The fields named "tcp" are those of packets of TCP connections: data, and packets without payload
// in both directions; those named "uec" of packets of Ultra Ethernet.
#pragma once

#include <stdbool.h>

#include "collwire/int_hop.h"
#include "net/note.h"

struct packet_meta {
    ps_t sent_ps; // data: start of its transmission; ack: start of the acknowledged packet's
                  // transmission
    union {
        uint64_t token; // data: token of its message, from struct transfer_request
        struct {
            uint32_t msn;      // ack: number of messages that the receiver has completed
            uint32_t sack_seq; // nak of selective repeat: sequence number of the packet that
                               // arrived out of order
        };
        uint64_t window_bytes; // tcp, from the receiver: advertised window
        uint64_t sack_bits;    // uec, ack: packets that have arrived, from one on (transport/uec)
        uint32_t next;         // free slot: next free slot
    };
    uint32_t seq; // sequence number, low 32 bits. Data: its own. Ack: all packets before it have
                  // arrived. Nak: first missing packet. CNP: sequence number of the marked packet.
    union {
        uint32_t message_bytes;  // data with PACKET_FIRST: length of the message, saturated
        uint32_t clock_ms;       // tcp: data: timestamp echoed; ack: its own timestamp
        uint32_t place;          // uec, data: number of the packet in its message
        uint32_t received_bytes; // uec, ack: low 32 bits of the payload received so far
    };
    union {
        uint16_t payload_bytes; // data: payload without padding
        uint16_t acked;         // uec, ack: low bits of the number of the packet that caused it
    };
    bool int_enabled; // switches append INT records
    uint8_t int_hops; // INT records so far
    union {
        uint8_t pint;    // PINT digest of the path so far
        uint8_t penalty; // uec, ack: destination flow control, bit 7: restore
    };
    uint8_t n_sacks; // SACK blocks that the packet carries (meta_sacks()). tcp: of its header;
                     // uec, data: one, see transport/uec/send.c
    union {
        struct {
            uint8_t tcp_control; // tcp: control bits of the header beside ACK and ECE
            uint8_t connection;  // tcp: low bits of the connection's number, to recognise packets
                                 // of an earlier connection of the flow
        };
        uint16_t entropy; // entropy by which the sender sprays packets, returned by ACKs and NAKs
    };
};

// Payload that has arrived out of order, from the low 32 bits of its first byte's number to those
// of the byte after the last (RFC 2018).
struct sack_block {
    uint32_t start, end;
};
#define META_SACKS 4 // blocks that a packet has room for

// Waiting times of a packet in queues of switches, by output port. Kept for the packets that end a
// message (PACKET_LAST) and for retransmissions (PACKET_RETX).
#define META_WAIT_NIC (1u << 31)   // in `port`: in the receiving NIC behind the port
#define META_WAIT_STACK (1u << 30) // in `port`: in the stack of the host behind the port
#define META_WAIT_PORT(port) ((port) & ~(META_WAIT_NIC | META_WAIT_STACK))
#define META_WAITS 6 // later waits of a packet are added to the last
struct meta_waits {
    uint32_t n;
    // Retransmission: the message's wait for the timer since its last packet was first sent.
    ps_t timeout_ps;
    uint32_t port[META_WAITS];
    ps_t wait_ps[META_WAITS];
};

_Static_assert(sizeof(struct packet_meta) == 32, "struct packet_meta is half a cache line");

struct meta_pool {
    struct packet_meta *slots;    // never moves
    struct int_hop *hops;         // [slot * per_slot]; NULL until INT is first enabled for a packet
    struct sack_block *sacks;     // [slot * META_SACKS]; NULL until a packet first carries some
    struct meta_waits *waits;     // [slot]; NULL until a packet has waits
    struct packet_note *notes;    // [slot]; NULL unless notes are kept
    bool keeps_notes, keeps_hops; // set before the first packet; hops: INT is in use
    uint32_t per_slot;            // INT records that a packet has room for; set before INT is first
                                  // enabled
    uint32_t free_head;           // 0 = none, because slot 0 is reserved
    uint32_t n_slots, n_used, cap_slots, n_hop_slots, n_sack_slots, n_wait_slots;
    uint32_t n_note_slots;
    size_t reserved_bytes;
    struct meta_share
        *share; // of the pools of several shards; NULL = the pool has slots of its own
};

void meta_pool_init(struct meta_pool *pool);
// Initialise `n` pools with the settings of another one (`per_slot`, `keeps_notes`, `keeps_hops`).
// If there are several, their slots are one array, and a slot may be freed to another pool than
// that which allocated it: packets keep their slots where they cross from one shard to another.
void meta_pools_share(const struct meta_pool *pool, struct meta_pool **pools, uint32_t n);
// Returns true if less than a sixteenth of the slots is free.
bool meta_pool_low(const struct meta_pool *pool);
void meta_pool_free(struct meta_pool *pool);
void meta_pool_grow(struct meta_pool *pool);
void meta_pool_grow_hops(struct meta_pool *pool);
void meta_pool_grow_sacks(struct meta_pool *pool);
void meta_pool_grow_waits(struct meta_pool *pool);

// Make the note of a slot empty.
void meta_clear_note(struct meta_pool *pool, uint32_t slot);

// Note that a packet has waited at a port.
void meta_add_wait(struct meta_pool *pool, uint32_t slot, uint32_t port, ps_t wait_ps);

// Allocate a slot. Its fields are not initialised.
static inline uint32_t meta_alloc(struct meta_pool *pool)
{
    if (pool->free_head == 0)
        meta_pool_grow(pool);
    uint32_t slot = pool->free_head;
    pool->free_head = pool->slots[slot].next;
    pool->n_used++;
    if (pool->keeps_notes)
        meta_clear_note(pool, slot);
    return slot;
}

static inline void meta_free(struct meta_pool *pool, uint32_t slot)
{
    pool->slots[slot].next = pool->free_head;
    pool->free_head = slot;
    pool->n_used--;
}

static inline struct packet_meta *meta_at(const struct meta_pool *pool, uint32_t slot)
{
    return &pool->slots[slot];
}

// Prefetch a packet's meta-data and the memory of its first INT records. Must be inlined: compilers
// remove calls of a function that only prefetches, because it has no side effect.
#define META_PREFETCH_HOPS 6
__attribute__((always_inline)) static inline void meta_prefetch(const struct meta_pool *pool,
                                                                uint32_t slot)
{
    __builtin_prefetch(meta_at(pool, slot), 1);
    if (!pool->hops)
        return;
    const struct int_hop *hops = &pool->hops[(size_t)slot * pool->per_slot];
    for (uint32_t h = 0; h < META_PREFETCH_HOPS; h += 2)
        __builtin_prefetch(hops + h, 1);
}

// Let switches on the path append INT records to the packet.
static inline void meta_enable_int(struct meta_pool *pool, uint32_t slot)
{
    if (slot >= pool->n_hop_slots)
        meta_pool_grow_hops(pool);
    pool->slots[slot].int_enabled = true;
}

// Returns the memory of a packet's SACK blocks, for writing. It may move when another packet's are
// written for the first time.
static inline struct sack_block *meta_sacks(struct meta_pool *pool, uint32_t slot)
{
    if (slot >= pool->n_sack_slots)
        meta_pool_grow_sacks(pool);
    return &pool->sacks[(size_t)slot * META_SACKS];
}

// Begin to keep the waits of a packet.
static inline void meta_keep_waits(struct meta_pool *pool, uint32_t slot)
{
    if (slot >= pool->n_wait_slots)
        meta_pool_grow_waits(pool);
    pool->waits[slot].n = 0;
    pool->waits[slot].timeout_ps = 0;
}

// Times of an ACK that the receiver has held back.
struct meta_held {
    ps_t owed_ps; // the oldest data in order arrived that no earlier ACK covers
    ps_t made_ps; // the ACK was made; 0 = it was not held
    bool timer;   // because the receiver's timer had expired
};

// Keep or read the times of an ACK with PACKET_HELD; they take the place of waits, which ACKs do
// not have.
static inline void meta_keep_held(struct meta_pool *pool, uint32_t slot, struct meta_held held)
{
    meta_keep_waits(pool, slot);
    pool->waits[slot].wait_ps[0] = held.owed_ps;
    pool->waits[slot].wait_ps[1] = held.made_ps;
    pool->waits[slot].timeout_ps = held.timer;
}
static inline struct meta_held meta_held(const struct meta_pool *pool, uint32_t slot)
{
    const struct meta_waits *w = &pool->waits[slot];
    return (struct meta_held){w->wait_ps[0], w->wait_ps[1], w->timeout_ps != 0};
}

// Returns the note of a packet that has a slot, or NULL if notes are not kept.
static inline struct packet_note *meta_note(const struct meta_pool *pool, uint32_t slot)
{
    return pool->keeps_notes && slot != 0 ? &pool->notes[slot] : NULL;
}

// Record the time at which an ACK or a report was made. Captures need it to tell apart packets with
// equal sequence numbers.
static inline void meta_note_made(const struct meta_pool *pool, uint32_t slot, ps_t now)
{
    struct packet_note *note = meta_note(pool, slot);
    if (!note)
        return;
    note->set |= NOTE_MADE;
    note->made_ps = now;
}

// Returns the INT records of a packet, or NULL if INT is off for it.
static inline struct int_hop *meta_hops(const struct meta_pool *pool, uint32_t slot)
{
    return pool->slots[slot].int_enabled ? &pool->hops[(size_t)slot * pool->per_slot] : NULL;
}

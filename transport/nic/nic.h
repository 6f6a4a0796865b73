// SPDX-License-Identifier: MIT
// Arbitration of a NIC port among the senders of one class: round robin per packet over the senders
// that may send, each within its own pace and window. The port pulls packets; only ACKs and CNPs
// are queued in the NIC. Several classes at a port share it by weight (nic_share.c), and PFC pauses
// each class alone.
#pragma once

#include "transport/sender/sender.h"

struct nic {
    struct sender *ready_head, *ready_tail; // list of senders that may send now, in turn
    struct sender **paced; // heap of senders that wait for their pace, ordered by (next_send_ps,
                           // name of the flow)
    uint32_t n_paced, cap_paced;
    /* PFC of the class */
    ps_t paused_since_ps, paused_total_ps;
    /* several classes on the port */
    int32_t credit_bytes; // negative = it has exceeded its share by part of a packet
    uint32_t quantum_bytes;
    uint8_t turn; // in the first class of a port: index of the class whose turn it is
    bool paused;
    bool needs_credit; // the class is stopped by a lack of credit, not by PFC
    /* second cache line */
    alignas(64) uint32_t n_parked, cap_parked;
    struct sender *
        *parked; // senders whose retransmission timers the pause has stopped; an entry whose
                 // timer is no longer parked is void
};
_Static_assert(offsetof(struct nic, n_parked) == 64,
               "what is accessed for every packet is a cache line");

// Note that the pause has stopped the retransmission timer of a sender.
void nic_park(struct nic *nic, struct sender *s);

void nic_free(struct nic *nic);

// Time in which the class was not paused: the clock of its retransmission timers.
static inline ps_t nic_active_ps(const struct nic *nic, ps_t now)
{
    return (nic->paused ? nic->paused_since_ps : now) - nic->paused_total_ps;
}

// Enter a sender that may send and is not entered.
void nic_add(struct nic *nic, struct sender *s, ps_t now);

// Restore the heap after a change of next_send_ps of a paced sender.
void nic_repace(struct nic *nic, struct sender *s);

// Remove a sender that is ready or paced. The time is linear in the number of ready senders, so
// only for rare events.
void nic_remove(struct nic *nic, struct sender *s);

// Remove and return the next sender that may send at `now`, or NULL if there is none.
struct sender *nic_pop(struct nic *nic, ps_t now);

// Returns the earliest time at which nic_pop may return a sender: <= now, later, or PS_NEVER.
ps_t nic_next_ps(struct nic *nic, ps_t now);

// Returns which of the `n` classes of a port may send at `now`, or NULL if none can. The caller
// subtracts the bytes sent from its credit.
struct nic *nic_share_turn(struct nic *classes, uint32_t n, ps_t now);

// Returns the earliest time at which any of the classes may send.
ps_t nic_share_next_ps(struct nic *classes, uint32_t n, ps_t now);

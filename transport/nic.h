// SPDX-License-Identifier: MIT
// A NIC port's arbitration for one class: round robin per packet over the senders that may send, each
// under its own pace and window. The port pulls; nothing waits in the NIC but ACKs. Several classes on
// a port share it by weight (nic_share.c), and PFC stops each alone.
#pragma once

#include "transport/sender.h"

struct nic {
    struct sender *ready_head, *ready_tail; // list of senders that are due, in turn
    struct sender **paced; // heap by (next_send_ps, flow's name) of senders that are not
    uint32_t n_paced, cap_paced;
    /* PFC of the class */
    ps_t paused_since_ps, paused_total_ps;
    uint32_t n_parked; // retransmission timers stopped by the pause
    /* several classes on the port */
    int32_t credit_bytes; // negative = it has sent more than its share by part of a packet
    uint32_t quantum_bytes;
    uint8_t turn; // of the first class of a port: whose turn it is
    bool paused;
};
_Static_assert(sizeof(struct nic) == 64, "struct nic is a cache line");

void nic_free(struct nic *nic);

// Time during which the class could send: the clock of retransmission timers.
static inline ps_t nic_active_ps(const struct nic *nic, ps_t now)
{
    return (nic->paused ? nic->paused_since_ps : now) - nic->paused_total_ps;
}

// Enter a sender that may send and is idle.
void nic_add(struct nic *nic, struct sender *s, ps_t now);

// Its next_send_ps changed while it is paced.
void nic_repace(struct nic *nic, struct sender *s);

// Remove a sender that is ready or paced. Linear in the senders that are ready; for rare events.
void nic_remove(struct nic *nic, struct sender *s);

// Next sender in turn that may send at `now`, removed; NULL when there is none.
struct sender *nic_take(struct nic *nic, ps_t now);

// When nic_take may succeed: <= now, later, or PS_NEVER.
ps_t nic_next_ps(struct nic *nic, ps_t now);

// The one of `n` classes of a port whose turn it is to send at `now`, NULL when none can. The caller subtracts
// what it sends from its credit.
struct nic *nic_share_turn(struct nic *classes, uint32_t n, ps_t now);

// When any of them may send.
ps_t nic_share_next_ps(struct nic *classes, uint32_t n, ps_t now);

// SPDX-License-Identifier: MIT
// A NIC port's arbitration for one class: round robin per packet over queue pairs that may send, each
// under its own pace and window. The port pulls; nothing waits in the NIC but ACKs. Several classes on
// a port share it by weight (nic_share.c), and PFC stops each alone.
#pragma once

#include "transport/qp.h"

struct nic {
    uint32_t ready_head, ready_tail; // ring of senders that are due, in turn
    uint32_t *paced;                 // heap by (next_send_ps, index) of senders that are not
    uint32_t n_paced;
    uint32_t turn; // sharing: of the first class of a port, whose turn it is
    size_t cap_paced;
    /* PFC of the class */
    bool paused;
    int32_t credit_bytes; // sharing: negative = it has sent more than its share by part of a packet
    ps_t paused_since_ps, paused_total_ps;
    uint32_t n_parked;      // retransmission timers stopped by the pause
    uint32_t quantum_bytes; // sharing
};
_Static_assert(sizeof(struct nic) == 64, "struct nic is a cache line");

// Access to the senders by index.
struct qp_array {
    struct qp **qps; // stable addresses
    uint32_t n;
    size_t cap;
};

static inline struct qp *qp_at(const struct qp_array *a, uint32_t i) { return a->qps[i]; }

void nic_init(struct nic *nic);
void nic_free(struct nic *nic);

// Time during which the class could send: the clock of retransmission timers.
static inline ps_t nic_active_ps(const struct nic *nic, ps_t now)
{
    return (nic->paused ? nic->paused_since_ps : now) - nic->paused_total_ps;
}

static inline bool qp_window_open(const struct qp_sender *s)
{
    uint64_t inflight = s->nxt_bytes - s->una_bytes;
    return inflight < qp_cc(s)->cwnd_bytes && inflight < s->cap_bytes;
}

static inline bool qp_may_send(const struct qp_sender *s)
{
    // With no ACK to come (the window has shrunk under what is in flight) one packet goes to ask.
    return !s->failed && (s->retx_due || (s->snd_nxt < s->tail_psn &&
                                          (qp_window_open(s) || s->asked_psn <= s->snd_una)));
}

// Enter a sender that may send and is idle.
void nic_add(struct nic *nic, const struct qp_array *qps, uint32_t index, ps_t now);

// Its next_send_ps changed while it is paced.
void nic_repace(struct nic *nic, const struct qp_array *qps, uint32_t index);

// Takes a sender out that is ready or paced. Linear in the senders that are ready; for rare events.
void nic_remove(struct nic *nic, const struct qp_array *qps, uint32_t index);

// Next sender in turn that may send at `now`, taken out; QP_NIL when there is none.
uint32_t nic_take(struct nic *nic, const struct qp_array *qps, ps_t now);

// When nic_take may succeed: <= now, later, or PS_NEVER.
ps_t nic_next_ps(struct nic *nic, const struct qp_array *qps, ps_t now);

// The one of `n` classes of a port whose turn it is to send at `now`, NULL when none can. What it sends
// is to be taken off its credit.
struct nic *nic_share_turn(struct nic *classes, uint32_t n, const struct qp_array *qps, ps_t now);

// When any of them may send.
ps_t nic_share_next_ps(struct nic *classes, uint32_t n, const struct qp_array *qps, ps_t now);

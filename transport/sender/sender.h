// SPDX-License-Identifier: MIT
// The sender of a flow, with all parts that do not depend on the transport: messages to send,
// window, pacing, the policy, and a retransmission timer whose clock stops while PFC pauses the
// flow's class at the NIC.
//
// Sequence numbers are defined by the transport (RoCE counts packets); the window counts payload
// bytes. Further state of a transport is in sender_cold.own.
#pragma once

#include "engine/timer.h"
#include "net/transfer.h"
#include "transport/sender/message.h"
#include "transport/sender/sender_time.h"
#include "transport/transport.h"

#define FLOW_NIL UINT32_MAX

// The place of a sender in its NIC.
enum sender_place { SENDER_IDLE, SENDER_READY, SENDER_PACED };
enum rto_state { RTO_OFF, RTO_ARMED, RTO_PARKED }; // parked: stopped while PFC pauses the NIC

struct nic;

// Fields that only some senders need, allocated on demand.
struct sender_rare {
    struct sim_timer cc_timer; // of the policy
    ps_t ready_ps;             // arrival of the last doorbell at the NIC (nic_spec.doorbell_ps)
    struct sender_time_mark mark;
    struct sender_cuts cuts;
    struct sim_timer restart; // the next step of its rate after a loss (slow_restart.c)
    ps_t restart_step_ps;
};

// The fields that are not accessed for every packet.
struct sender_cold {
    uint32_t channel;
    uint32_t newest;    // newest message that is not completely acknowledged
    uint32_t path_turn; // selects one of the equal-cost ports to the destination
    uint32_t next_idle; // fresh connections: next idle flow of the pair
    uint32_t cc_timer;  // id of rare->cc_timer
    uint32_t timeouts;
    uint32_t time_path;    // critical path that began the busy period (sender_time.h); 0 = idle
    uint8_t stripe;        // part of split messages that it carries (1, 2, ...); 0 = whole messages
    uint8_t resends;       // enum note_resend: reason of its last retransmission
    bool moved : 1;        // its own port has led nowhere, and it uses another one
    bool rechoose : 1;     // routes have changed: choose the port again when nothing is in flight
    bool cut_off : 1;      // no port led to the destination when the port was chosen
    bool marked : 1;       // rare->mark is of this busy period
    ps_t idle_since_ps;    // time when its last message was acknowledged
    uint64_t cap_bytes;    // limit on payload in flight, in addition to the policy's window
    uint64_t pace_cap_bps; // limit on the pace, in addition to the policy's rate
    uint64_t resent_bytes; // wire bytes of retransmissions in the busy period
    void *own;             // state of the transport; NULL = none
    struct sender_rare *rare; // NULL = none has been needed
};

struct sender {
    /* state: accessed for every packet, in order of cache lines */
    alignas(64) uint64_t una;      // sequence number of the oldest unacknowledged packet
    uint64_t nxt, max, tail;       // next to send, highest sent + 1, end of posted messages
    uint64_t una_bytes, nxt_bytes; // payload offsets of una and nxt
    uint64_t window_bytes;         // limit on payload in flight: the policy's window or cap_bytes
    uint64_t ackreq_end;           // an ACK for all sequence numbers before it has been requested
    ps_t next_send_ps;             // pacing: earliest time of the next packet
    ps_t last_start_ps;            // start of the last transmission
    uint64_t pace_q;               // ps per wire byte << PACE_SHIFT; 0 = unpaced
    ps_t rto_due_ps;               // deadline on the clock that stops while PFC pauses the NIC
    struct sender *ready_next;     // next sender in the NIC's ready list
    struct nic *nic;               // scheduler of its traffic class at its NIC port
    uint32_t port;                 // its NIC port
    uint32_t heap_at;              // index in the NIC's heap of paced senders
    uint32_t sending, oldest;      // messages: that of nxt, and the first that is not completely
                                   // acknowledged
    /* config and state */
    const struct transport_dim *dim;
    struct cc *cc;
    uint32_t flow; // handle of the flow
    uint32_t entropy;
    uint32_t dst_node; // destination node of its packets
    uint32_t last_wire_bytes;
    uint32_t until_ackreq; // packets until the next one that requests an ACK
    uint16_t retries;
    uint8_t place;     // enum sender_place
    uint8_t rto_state; // enum rto_state
    unsigned cls : 3;
    bool failed : 1;
    bool busy : 1; // an event of the sender is being handled: nothing may be pulled from it yet
    bool special_due : 1;   // a packet that the window does not limit is due (RoCE: a lost one)
    bool cc_needs_acks : 1; // the policy acts on ACKs
    bool path_due : 1;      // change of path: nothing is sent while packets are in flight
    bool repaced : 1;       // next_send_ps has changed since its port has been kicked
    bool displaced : 1;     // it was removed from its NIC's list only because it was busy
    bool rung : 1;          // rare->ready_ps has been set
    uint32_t path;          // struct cc, path
    uint64_t pace_rate_bps; // rate for which pace_q was computed
    uint64_t cwnd_bytes;    // the policy's window when it was last applied
    struct sim_timer rto;
    struct sender_time *time; // its own while it has messages, else hosts->no_time, which is void
    struct sender_cold cold;
};

// A policy of at most 64 bytes beside struct cc follows on two lines.
_Static_assert(sizeof(struct sender) == 320, "struct sender has five cache lines");

// Returns the policy's description of the path.
static inline const struct cc_env *sender_env(const struct sender *s) { return s->cc->env; }

// sender_rare() returns the rare fields for reading, zeros if there are none; sender_rare_make()
// allocates them for writing.
extern const struct sender_rare sender_no_rare;
static inline const struct sender_rare *sender_rare(const struct sender *s)
{
    return s->cold.rare ? s->cold.rare : &sender_no_rare;
}
struct sender_rare *sender_rare_make(struct sender *s);

// Returns when the last doorbell arrived at the NIC, 0 if there was none. This is read for each
// paced packet: the bit `rung` saves a cache miss on `rare`, which few senders need.
static inline ps_t sender_ready_ps(const struct sender *s)
{
    return s->rung ? s->cold.rare->ready_ps : 0;
}

static inline bool sender_window_open(const struct sender *s)
{
    return s->nxt_bytes - s->una_bytes < s->window_bytes;
}

// Not to be called while an event of the sender is being handled.
static inline bool sender_may_send(const struct sender *s)
{
    // If no ACK is outstanding (the window has shrunk below the bytes in flight), one packet may be
    // sent to request one.
    return !s->failed && (s->special_due ||
                          (s->nxt < s->tail && (sender_window_open(s) || s->ackreq_end <= s->una)));
}

static inline struct hosts *sender_hosts(const struct sender *s) { return s->dim->hosts; }

// Append a message. The sender's port must have caught up.
void sender_post(struct sender *s, const struct transfer_request *request, ps_t now);

// Reset the policy to its initial state.
void sender_restart(struct sender *s, ps_t now);

// Apply the rate, the window and the timers that a hook of the policy has set.
void sender_apply_cc(struct sender *s, ps_t now);

// Set a limit on the pace, in addition to the policy's rate (bit/s of wire bytes).
void sender_cap_pace(struct sender *s, uint64_t cap_bps);

// Packets of the sender have been lost: let its pace fall to `share` of what it is, and climb in
// equal steps to the rate of its port, which it would reach from nothing after `climb_ps`. A loss
// meanwhile begins again. To be called while an event of the sender is being handled.
void sender_slow_restart(struct sender *s, double share, ps_t climb_ps, ps_t now);

// Enter the sender at its NIC if it may send, and let its port start packets that are due.
void sender_wake(struct sender *s, ps_t now);

// Handle the acknowledgement of all sequence numbers before `seq`: move the window, then end the
// completed messages, whose callbacks may post further ones. Returns the number of bytes newly
// acknowledged.
uint64_t sender_acknowledge(struct sender *s, uint64_t seq, ps_t now);

// Call the policy's on_ack for an ACK packet that acknowledges `acked` bytes.
void sender_notify_ack(struct sender *s, const struct packet *p, uint64_t acked, ps_t now);
// Report an event other than an ACK to the policy. Returns false if the policy has no hook for
// signals, so that its rate and window are unchanged.
// `again`: see struct cc_signal.
bool sender_signal(struct sender *s, enum cc_signal_kind kind, bool again, ps_t now);

// Set the retransmission timer to expire after `rto_ps`, not counting time in which PFC pauses the
// NIC.
void sender_rto_restart(struct sender *s, ps_t rto_ps, ps_t now);
void sender_rto_stop(struct sender *s);
// Count a retransmission timeout of the oldest message.
void sender_count_timeout(struct sender *s);

// Count a timeout without progress; returns the number of earlier ones. Progress ends the count.
uint32_t sender_retry(struct sender *s);
void sender_end_retries(struct sender *s);
static inline void sender_progress(struct sender *s)
{
    if (s->retries > 0)
        sender_end_retries(s);
}

// Fail all its messages, and every message posted later.
void sender_fail(struct sender *s, ps_t now);

// End the handling of an event that sender_begin() (transport/host.h) has begun: packets that are
// due are sent.
void sender_end(struct sender *s, ps_t now);

/* Between the files of this folder */
void sender_rto_resumed(struct sender *s, ps_t now); // PFC resumes the NIC; the timer is parked
void sender_sent(struct sender *s, uint32_t wire_bytes, ps_t now); // called when a transmission has
                                                                   // started
void sender_init_timers(struct sender *s);
void sender_stop_policy(struct sender *s); // its timers are off

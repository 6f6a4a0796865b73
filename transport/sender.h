// SPDX-License-Identifier: MIT
// A flow's sender: what every transport's sender has. Messages to send, the window, the pace, the policy, and a
// retransmission timer whose clock stands while PFC pauses the NIC for the flow's class.
//
// Sequence numbers are the transport's (RoCE counts packets); the window counts payload bytes. What else a
// transport keeps for a sender hangs from its cold part.
#pragma once

#include "engine/timer.h"
#include "net/transfer.h"
#include "transport/message.h"
#include "transport/transport.h"

#define FLOW_NIL UINT32_MAX

// Where the NIC keeps a sender.
enum sender_place { SENDER_IDLE, SENDER_READY, SENDER_PACED };
enum rto_state {
    RTO_OFF,
    RTO_ARMED,
    RTO_PARKED
}; // parked: its time is up, but PFC has paused the NIC

struct nic;
struct transport_path;

// What is not touched for every packet.
struct sender_cold {
    uint32_t src, dst; // ranks
    uint32_t src_node; // whose ports it uses
    uint32_t job, channel;
    uint32_t newest;    // message not wholly acknowledged
    uint32_t path_turn; // which of the equal ports to the destination it takes
    uint32_t stripe;    // part of cut messages that it carries, 1..; 0 = whole ones
    uint32_t next_idle; // fresh connections: idle flows of the pair
    bool cut_off;       // no port led to the destination when its port was chosen
    struct cc_env env;
    ps_t idle_since_ps; // when the last message was acknowledged
    uint64_t cap_bytes; // of payload in flight, beside the policy's window
    void *own;          // of the transport; NULL = nothing
    /* counters */
    uint64_t cnps, timeouts;
};

struct sender {
    /* state: touched for every packet, line by line */
    alignas(
        64) uint64_t una; // sequence numbers: oldest unacknowledged, next, highest sent + 1, end of
    uint64_t nxt, max, tail;       // what is posted
    uint64_t una_bytes, nxt_bytes; // payload offsets of una and nxt
    uint64_t window_bytes;         // of payload in flight: the policy's, or less
    uint64_t ackreq_end;       // what is before it will be acknowledged without a further request
    ps_t next_send_ps;         // pacing: not before
    ps_t last_start_ps;        // of the last transmission
    uint64_t pace_q;           // ps per wire byte << PACE_SHIFT; 0 = unpaced
    ps_t rto_due_ps;           // in the NIC's unpaused time
    struct sender *ready_next; // in the NIC's ready list
    struct nic *nic;           // the class's part of its NIC port
    uint32_t port;             // its NIC port
    uint32_t heap_at;          // in the NIC's heap of paced senders
    uint32_t sending, oldest;  // messages: of nxt; the first not wholly acknowledged
    /* config and state */
    const struct transport_dim *dim;
    struct cc *cc;
    uint32_t flow; // handle
    uint32_t entropy;
    uint32_t dst_node; // that its packets go to
    uint32_t last_wire_bytes;
    uint32_t until_ackreq; // packets to go until one requests an ACK
    uint16_t retries;
    uint8_t place;     // enum sender_place
    uint8_t rto_state; // enum rto_state
    unsigned cls : 3;
    bool failed : 1;
    bool retx_due : 1;      // a lost packet is to be sent again
    bool wants_acks : 1;    // by the policy
    uint64_t pace_rate_bps; // that pace_q is of
    uint64_t cwnd_bytes;    // the policy's window when it was last looked at
    struct sim_timer rto;
    struct sim_timer cc_timer;
    struct sender_cold *cold;
};

static inline bool sender_window_open(const struct sender *s)
{
    return s->nxt_bytes - s->una_bytes < s->window_bytes;
}

static inline bool sender_may_send(const struct sender *s)
{
    // With no ACK to come (the window has shrunk below what is in flight), one packet goes to request one.
    return !s->failed && (s->retx_due ||
                          (s->nxt < s->tail && (sender_window_open(s) || s->ackreq_end <= s->una)));
}

static inline struct hosts *sender_hosts(const struct sender *s) { return s->dim->hosts; }

// Append a message. The sender's port is settled.
void sender_post(struct sender *s, const struct transfer_request *request, ps_t now);

// Begin with the policy's initial state.
void sender_restart(struct sender *s, ps_t now);

// After a hook of the policy: takes over its rate, window and timers.
void sender_apply_cc(struct sender *s, ps_t now);

// The sender may have become able to send: enter it at the NIC.
void sender_wake(struct sender *s, ps_t now);

// Everything before `seq` has arrived: move the window, then end the messages that are complete (their
// callbacks may post). Returns the bytes newly acknowledged.
uint64_t sender_acknowledge(struct sender *s, uint64_t seq, ps_t now);

// Call the policy's on_ack for an ACK packet that acknowledges `acked` bytes.
void sender_notify_ack(struct sender *s, const struct packet *p, uint64_t acked, ps_t now);
// Report an event other than an ACK. False where the policy has no hook for signals, and so cannot have moved.
bool sender_signal(struct sender *s, enum cc_signal_kind kind, ps_t now);

// Expire `rto_ps` of unpaused time from now.
void sender_rto_restart(struct sender *s, ps_t rto_ps, ps_t now);
void sender_rto_stop(struct sender *s);

// Give up all its messages.
void sender_fail(struct sender *s, ps_t now);

/* Between the files of this folder */
void sender_rto_resumed(struct sender *s,
                        ps_t now); // PFC has resumed its NIC, and the timer is parked
void sender_sent(struct sender *s, uint32_t wire_bytes, ps_t now); // a transmission has started
void sender_init_timers(struct sender *s);
void sender_choose_port(struct sender *s, const struct transport_path *path);

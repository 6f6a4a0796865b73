// SPDX-License-Identifier: MIT
// A queue pair: the sender's and the receiver's state of one direction of a reliable connection.
#pragma once

#include "cc/cc.h"
#include "engine/timer.h"
#include "transport/message.h"
#include "transport/psn_set.h"

#define QP_NIL UINT32_MAX

// Where the NIC keeps a sender.
enum qp_place { QP_IDLE, QP_READY, QP_PACED };
enum rto_state { RTO_OFF, RTO_ARMED, RTO_PARKED }; // parked: expired on the wall, stopped by PFC

struct qp_sender {
    /* state: touched for every packet, line by line */
    alignas(64) uint64_t snd_una; // packets: oldest unacknowledged, next, highest sent + 1, end of
    uint64_t snd_nxt, snd_max, tail_psn; // what is posted
    uint64_t asked_psn;                  // packets before it have asked for an ACK
    uint64_t una_bytes, nxt_bytes;       // payload offsets of snd_una and snd_nxt
    ps_t next_send_ps;                   // pacing: not before
    uint32_t sending, oldest;            // messages: of snd_nxt; the first not wholly acknowledged
    uint32_t nic;                        // the class's part of its NIC port
    uint32_t port;                       // its NIC port
    uint32_t ready_next, heap_at;
    uint32_t until_ackreq; // packets to go until one asks for an ACK
    uint32_t last_wire_bytes;
    ps_t last_start_ps; // of the last transmission
    uint64_t pace_q;    // ps per wire byte << PACE_SHIFT; 0 = unpaced
    ps_t rto_due_ps;    // in the NIC's unpaused time
    uint16_t retries;
    uint8_t place; // enum qp_place
    uint8_t rto_state;
    bool failed;
    bool retx_due;            // selective repeat: a lost packet is to be sent again
    uint64_t cap_bytes;       // of payload in flight, beside the policy's window
    uint64_t cwnd_seen_bytes; // the window when the policy was last looked at
    struct sim_timer rto;
    uint64_t pace_rate_bps; // that pace_q is of
    struct sim_timer cc_timer;
    struct cc_room cc;
    /* cold */
    uint32_t newest; // message not wholly acknowledged
    uint32_t turn;   // which of the equal ports to the destination it takes
    uint32_t stripe; // part of cut messages that it carries, 1..; 0 = whole ones
    bool cut_off;    // no port led there when its port was chosen
    struct cc_env env;
    ps_t idle_since_ps; // when the last message was acknowledged
    /* selective repeat (selective.c) */
    struct psn_set sacked; // arrived out of order
    uint64_t lost_end;     // what is before it and not among them is lost
    uint64_t retx_next;    // what is before it has been sent again
    uint64_t recover_psn;  // in recovery until it is acknowledged, 0 = not
    ps_t rto_low_ps, rto_high_ps;
    /* counters */
    uint64_t cnps, timeouts;
};
_Static_assert(offsetof(struct qp_sender, cc) == 256, "the policy begins a cache line");

static inline struct cc *qp_cc(const struct qp_sender *s) { return cc_in(&s->cc); }

// A window of the notification point: it lasts the CNP interval from a CNP on, and remembers the
// first queue pair that was marked in it, which is sent the next CNP at its end.
struct np_window {
    ps_t end_ps;       // 0 = none has opened yet
    struct qp *marked; // NULL = none
    struct sim_timer timer;
};

struct qp_receiver {
    /* state: touched for every packet, one line */
    alignas(64) uint64_t expected_psn;
    struct psn_set early; // selective repeat: arrived beyond expected_psn
    uint32_t receiving;   // message of expected_psn, MESSAGE_NIL = none posted
    uint32_t msn;         // messages completed
    uint32_t np_port;     // where its CNPs leave
    bool nak_sent, ce_since_ack;
    bool unacked; // a packet has come in order since the last ACK
    bool failed;  // as the sender
    /* cold */
    struct np_window *np; // its own, or that of its sender's address; NULL = that of the port
    struct np_window own_np;
};

struct roce;

struct qp {
    struct roce *roce;
    uint32_t index;              // of this queue pair: its flow
    uint32_t src, dst;           // ranks
    uint32_t src_node, dst_node; // whose ports they use
    uint32_t dim, job, channel;
    uint32_t cls;            // class of its data
    uint32_t next_same_pair; // per_message: idle queue pairs of the pair
    const struct cc_ops *cc_ops;
    bool wants_acks, wants_cnps;
    bool splits_acks; // an ACK goes at once when CE changes, so that it covers only equal packets
    struct qp_receiver rcv;
    struct qp_sender snd;
};
_Static_assert(offsetof(struct qp, rcv) == 64, "what both ends read is one line");

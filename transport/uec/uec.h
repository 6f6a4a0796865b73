// SPDX-License-Identifier: MIT
// Ultra Ethernet transport: reliable, unordered delivery of messages (RUD) in packets that take
// many paths.
//
// Every packet has a number of its connection and is placed where it belongs when it arrives, so
// order does not matter; a message is delivered when all its packets have arrived. ACKs carry the
// first number that is missing, a bitmap of later ones, and the payload received so far. A packet
// that a switch has trimmed is reported at once (NACK) and sent again before all others. Every
// packet has its own retransmission timeout, which begins when it is sent.
//
// Not modelled: opening and closing of connections (PDCs), ordered delivery (ROD), semantic
// responses, encryption, and PSN wrap.
//
// Sources: UEC 1.0 as far as public texts and uet-htsim (commit 40ccb05) describe it; docs/uec.md
// lists the rules and what is not public.
#pragma once

#include "transport/host.h"
#include "transport/sender/spray.h"
#include "transport/uec/flight.h"
#include "transport/uec/uec_spec.h"

#define UEC_PSN_RANGE 16384   // packets from the oldest that is not acknowledged
#define UEC_QUANTUM_BYTES 256 // unit of credits

/* ---- sender ---- */

// The credits of a sender (RCCC); all in wire bytes. Unused (zero) where the policy grants none.
struct uec_credits {
    bool on;
    bool speculative; // the receiver has reported nothing yet
    bool counted;     // it counts as a flow that is ready at its port
    int64_t left;     // may be negative by part of a packet
    uint32_t port;    // port at which it is counted
    uint32_t pulled;  // number of the last grant, in quanta
    struct cc_credits limits;
};

struct uec_sender {
    uint64_t addresses;       // address_hash() of its packets
    uint64_t in_flight_bytes; // payload sent and neither received nor known to be lost
    uint64_t received_bytes;  // payload that the receiver has reported
    uint16_t port_base;       // UDP source port of entropy 0
    bool single_path;
    ps_t first_rto_ps, rto_ps; // before and after the first round trips
    ps_t high_rtt_ps;          // decaying maximum of the RTT samples; 0 = none yet
    uint64_t first_end;        // packets from it on were sent after the first report
    bool adapts, settled; // the timeout follows the samples; a packet of them has been reported
    uint64_t asked_end;   // the newest request for an ACK covers the packets before this number
    struct uec_credits credits;
    struct spray spray;
    struct uec_flight flight;
};

static inline struct uec_sender *uec_of(const struct sender *s)
{
    return (struct uec_sender *)(void *)((char *)(uintptr_t)s + sizeof *s);
}

// The timeout of a packet in flight. With dynamic thresholds a queue may become much longer than
// its target, as in the first round trips of an incast, and packets are not lost for that: the
// timeout is twice the RTT where that is longer, and a long one until a packet has been reported
// that was sent after the first report. (The RTT of a flow's very first packet does not include the
// windows of all others.)
static inline ps_t uec_rto_ps(const struct uec_sender *u)
{
    if (!u->adapts)
        return u->rto_ps;
    if (!u->settled)
        return u->first_rto_ps;
    return u->rto_ps > 2 * u->high_rtt_ps ? u->rto_ps : 2 * u->high_rtt_ps;
}

/* ---- receiver ---- */

// A message that has arrived in part.
struct uec_partial {
    uint64_t first_psn, token;
    uint64_t n_psn; // 0 = its last packet has not arrived
    uint64_t arrived, bytes;
};

// Requests and grants of a flow at its receiver (RCCC), in quanta. Flows that wait for a grant and
// flows that do not are lists of the receiving port.
struct uec_pull {
    uint32_t target, granted; // highest number requested; number of the last grant
    struct uec_receiver *next;
    uint32_t port; // port whose list it is in
    uint8_t list;  // enum uec_pull_list
    uint16_t turn; // entropy of the next grant
};
enum uec_pull_list { PULL_NONE, PULL_ACTIVE, PULL_IDLE };

struct uec_receiver {
    struct receiver base;
    uint32_t src_node, port;
    uint64_t addresses; // address_hash() of ACKs
    uint64_t expected;  // first packet that has not arrived
    struct psn_set early;
    uint64_t received_bytes;
    uint32_t since_ack_bytes; // wire bytes accepted since the last ACK
    bool begun;               // a packet has arrived
    bool ack_asked;           // a packet that arrived early has requested an ACK
    uint64_t asked_end;       // an ACK of all packets before it has been requested
    bool credits;
    uint16_t port_base, n_entropies;
    struct uec_partial *partial;
    size_t n_partial, cap_partial;
    struct uec_pull pull;
    struct cc_credits limits; // zero until they are first needed
};

/* ---- between the files of this folder ---- */

// True if a packet of kind data only requests an ACK, without payload. Messages of the control
// class (grants) have a payload.
static inline bool uec_is_request(const struct packet *p, const struct packet_meta *meta)
{
    return p->cls == NET_CLASS_CONTROL && meta->payload_bytes == 0;
}

// A packet of the control class without kind and flags. `path`: packet.entropy.
static inline struct packet uec_control(uint32_t flow, uint32_t dst, uint32_t path, uint32_t slot,
                                        struct packet_sizes size, ps_t now)
{
    return (struct packet){.flow = flow,
                           .dst = dst,
                           .entropy = path,
                           .meta = slot,
                           .frame_bytes = (uint16_t)size.frame,
                           .wire_bytes = (uint16_t)size.wire,
                           .ingress = PACKET_OWN,
                           .cls = NET_CLASS_CONTROL,
                           .arrives_ps = now};
}

// Send a request for an ACK if the window is below the bytes in flight and none of the packets in
// flight has requested an ACK, because the sender would otherwise get no report. The ACK is sent
// when these packets have arrived.
void uec_ask_if_blocked(struct sender *s, ps_t now);

// Send a packet from the receiver to its sender. Its path follows from the entropy in its
// meta-data.
void uec_send_report(const struct uec_receiver *r, enum packet_kind kind, uint32_t slot,
                     struct packet_sizes size, uint8_t flags, ps_t now);

// The packet that bit 0 of an ACK's bitmap stands for: the first of the 64 that end with the packet
// `psn` that caused the ACK, or the first after `cumulative`, the first that is missing. (uet-htsim
// begins with `psn` if that packet was marked or requested the ACK. Packets between then stay
// unknown, and their timers expire.)
static inline uint64_t uec_bitmap_base(uint64_t psn, uint64_t cumulative)
{
    return psn > cumulative + 64 && psn - cumulative < UEC_PSN_RANGE ? psn - 63 : cumulative + 1;
}

void uec_prepare(struct transport_dim *dim);
void uec_name_connection(struct sender *s, uint32_t count);
void uec_open_sender(struct sender *s, const struct transport_path *path);
ps_t uec_rto_of(const struct transport_dim *dim, const struct transport_path *path, ps_t *least);
size_t uec_autos(const struct transport_dim *dim, const struct transport_path *path,
                 struct transport_auto *out);
void uec_close_sender(struct sender *s);
void uec_on_failed(struct sender *s, ps_t now);
void uec_open_receiver(struct receiver *r);
void uec_close_receiver(struct receiver *r);
void uec_close_dim(struct transport_dim *dim);
uint64_t uec_received_bytes(const struct receiver *r, const struct message *m);
void uec_hand_over_receiver(struct parcel *p, struct receiver *r);
ps_t uec_shortest_timer_ps(const struct transport_spec *t, ps_t base_rtt_ps);

// Sending: decides whether a packet may be sent now and sets the fields that the NIC reads. Call
// after every change of window, credits or flight.
void uec_update(struct sender *s);
void uec_on_window(struct sender *s, ps_t now);
void uec_on_post(struct sender *s, ps_t now);
void uec_fill(struct sender *s, struct packet *p, ps_t now);
// Send a control packet (no payload, control class). It makes the receiver send an ACK and, with
// RCCC, reports how many credits the sender could use.
void uec_send_request(struct sender *s, ps_t now);
// Send such a control packet by a path that is not in use, if a probe is due.
void uec_probe(struct sender *s, ps_t now);
// Returns the payload of a packet in flight.
uint32_t uec_payload_of(const struct sender *s, uint64_t psn);

void uec_on_feedback(struct sender *s, struct packet *p, ps_t now);
void uec_on_timeout(struct sender *s, ps_t now);
void uec_on_path_lost(struct sender *s, ps_t now);

void uec_on_data(struct receiver *r, uint32_t port, struct packet *p, ps_t now);
void uec_on_trimmed(struct receiver *r, uint32_t port, struct packet *p, ps_t now);

// Credits at the sender.
void uec_credits_open(struct sender *s);
void uec_credits_spend(struct sender *s, uint32_t wire_bytes);
void uec_credits_reported(struct sender *s); // the receiver has reported something
void uec_credits_granted(struct sender *s, uint32_t pull);
uint32_t uec_pull_target(struct sender *s);
void uec_credits_count(struct sender *s); // it may send now, or may no longer
static inline bool uec_credits_open_gate(const struct uec_sender *u)
{
    return !u->credits.on || u->credits.left > 0;
}

// A packet has arrived at the receiver with a pull target: the total credit that its sender has
// requested so far. With `asked`, credit is granted even if the target has not grown, because the
// packet was trimmed or is itself a request.
void uec_pull_asked(struct uec_receiver *r, uint32_t target, bool asked, ps_t now);
void uec_open_dim(struct transport_dim *dim);
void uec_divide_dim(struct transport_dim *part, const struct transport_dim *whole);
// Returns the number of flows that wait for a port alone.
uint32_t *uec_waiting_at(struct transport_dim *dim, uint32_t port);

// Returns the dimension without const, for changes of its counters and shared state.
static inline struct transport_dim *uec_dim(const struct transport_dim *dim)
{
    return &dim->hosts->dims[dim - dim->hosts->dims];
}

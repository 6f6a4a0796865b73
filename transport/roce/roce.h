// SPDX-License-Identifier: MIT
// RoCEv2 reliable connections.
//
// RDMA WRITE messages, one PSN per packet, ACKs on request of the sender, one NAK per gap,
// go-back-N or selective repeat, and the notification point of DCQCN. Not modelled: memory
// registration, responder resources, end-to-end credits, and the split of a WRITE at 2 GB.
#pragma once

#include "transport/host.h"
#include "transport/roce/roce_spec.h"
#include "transport/sender/psn_set.h"
#include "transport/sender/spray.h"

/* ---- sender ---- */

// Selective repeat (selective.c): sender_cold.own, which is NULL with other recovery settings.
struct roce_selective {
    struct psn_set sacked; // packets that have arrived out of order
    uint64_t lost_end;     // packets before it that are neither acknowledged nor in `sacked` are
                           // lost
    uint64_t retx_next;    // lost packets before it have been retransmitted
    uint64_t recover_psn;  // recovery ends when it is acknowledged; 0 = not in recovery
    ps_t rto_low_ps, rto_high_ps;
    struct psn_set trimmed; // packets that arrived without their payload, to be sent again
    struct psn_set resent;  // trimmed packets that have been retransmitted, until acknowledged
    uint64_t trim_next;     // no member of `trimmed` is before it
    struct spray spray;     // with transport.spray
};

static inline struct roce_selective *roce_selective_of(const struct sender *s)
{
    return s->cold.own;
}

/* ---- receiver ---- */

struct roce_receiver;

// A window of the notification point. It lasts for the CNP interval after a CNP. The first flow
// marked in it gets the next CNP, at the end of the window.
struct np_window {
    ps_t end_ps;                  // 0 = no window has been opened yet
    struct roce_receiver *marked; // first receiver marked in the window; NULL = none
    uint32_t marked_psn;
    struct note_mark mark; // of that packet, where packets have notes
    struct sim_timer timer;
};

// Packets that have arrived after the expected one: with selective repeat, they are kept, and with
// nak_repeat the time counts.
struct roce_early {
    ps_t nak_ps; // when the last NAK was sent
    struct psn_set psns;
    struct early_message { // last packets of messages, in order
        uint64_t psn, token;
    } * ends;
    size_t n_ends, cap_ends;
    uint64_t
        asked_end; // after the last packet that came early and requested an ACK; 0 = none waits
};

struct roce_receiver {
    struct receiver base;
    uint32_t msn; // number of completed messages
    uint64_t expected_psn;
    struct np_window *np;     // its own window, or one shared by address; NULL = no CNPs, the
                              // window of the port (port_scope), or none yet (own_window)
    struct roce_early *early; // NULL until a packet arrives out of order
    uint32_t src_node;        // destination of ACKs and CNPs
    uint32_t entropy;         // packet.entropy of ACKs and CNPs
    uint32_t port;            // output port of ACKs and CNPs
    unsigned ack_cls : 3;
    bool nak_sent : 1;
    bool ce_since_ack : 1;
    bool unacked : 1;     // a packet has arrived in order since the last ACK
    bool splits_acks : 1; // a change of CE is acknowledged at once, so that an ACK covers only
                          // packets with the same CE
    bool own_window : 1;  // its own, opened by the first packet marked
    bool port_scope : 1;  // the window belongs to the port at which data arrives
};
_Static_assert(sizeof(struct roce_receiver) <= 64, "a receiver is a cache line");

/* ---- between the files of this folder ---- */

void roce_prepare(struct transport_dim *dim);
ps_t roce_shortest_timer_ps(const struct transport_spec *t, ps_t base_rtt_ps);
size_t roce_check(const struct transport_spec *t, const struct transport_network *network,
                  struct transport_finding *out);
void roce_name_connection(struct sender *s, uint32_t count);
void roce_change_path(struct sender *s);
bool roce_quiet(const struct sender *s);
uint64_t roce_cut(struct sender *s, uint64_t token);
// Bits of the UDP source port that stand for the number of a path.
static inline uint16_t roce_path_bits(uint32_t path) { return path & 1023; }
void roce_open_sender(struct sender *s, const struct transport_path *path);
void roce_close_sender(struct sender *s);
void roce_on_failed(struct sender *s, ps_t now);
void roce_open_receiver(struct receiver *r);
void roce_close_receiver(struct receiver *r);
uint64_t roce_received_bytes(const struct receiver *r, const struct message *m);
void roce_hand_over_receiver(struct parcel *p, struct receiver *r);

void roce_fill(struct sender *s, struct packet *p, ps_t now);
void roce_on_feedback(struct sender *s, struct packet *p, ps_t now);
void roce_on_timeout(struct sender *s, ps_t now);
void roce_on_data(struct receiver *r, uint32_t port, struct packet *p, ps_t now);

void roce_selective_open(struct sender *s, ps_t queueing_ps);
size_t roce_autos(const struct transport_dim *dim, const struct transport_path *path,
                  struct transport_auto *out);
ps_t roce_selective_rto_ps(const struct sender *s);
// Handles an ACK or NAK after una has moved from `una`. Returns true if recovery starts with it.
bool roce_selective_ack(struct sender *s, const struct packet *p, uint64_t una);
// Handles the report that packet `psn` has arrived without its payload. Returns true if recovery
// starts with it.
bool roce_selective_trimmed(struct sender *s, uint64_t psn);
void roce_selective_timeout(struct sender *s);
uint64_t roce_selective_next(struct sender *s); // returns the packet to retransmit; retx_due must
                                                // be set

void roce_on_trimmed(struct receiver *r, uint32_t port, struct packet *p, ps_t now);

void roce_notify_open(struct roce_receiver *r);
void roce_notify_restart(struct roce_receiver *r); // called when a fresh connection starts
void roce_notify_open_dim(struct transport_dim *dim);
void roce_notify_divide_dim(struct transport_dim *part, const struct transport_dim *whole);
void roce_notify_close_dim(struct transport_dim *dim);
void roce_notify_close(struct roce_receiver *r);
// Handles the arrival of packet `psn` with a CE mark.
void roce_notify_mark(struct roce_receiver *r, const struct packet *marked, uint32_t psn, ps_t now);
// Handles the NAK of packet `psn`, with which some NICs send a CNP.
void roce_notify_nak(struct roce_receiver *r, uint32_t psn, ps_t now);

static inline uint32_t roce_ack_class(const struct roce_spec *spec, uint32_t cls)
{
    return spec->ack_class == ACK_CLASS_DATA ? cls : NET_CLASS_CONTROL;
}

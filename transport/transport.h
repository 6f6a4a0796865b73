// SPDX-License-Identifier: MIT
// The contract of a transport, and the catalogue of transports.
//
// A transport is a sender and a receiver for each flow. They live on different ranks and share nothing but the
// flow's handle: what one knows of the other came in a packet, or stands in the flow's description
// (net/flow_id.h). The host (transport/host.h) owns the NICs, opens flows, delivers packets to senders and
// receivers, and lets the NIC pull from senders; sender.h has what every sender needs: messages, window,
// pacing, the congestion control policy and the retransmission timer.
#pragma once

#include "cc/cc.h"
#include "engine/slab.h"
#include "net/packet.h"
#include "transport/transport_spec.h"
#include "wire/frame.h"

struct hosts;
struct sender;
struct receiver;
struct message;

// What holds in one dimension of the network.
struct transport_dim {
    /* filled by the builder of the network */
    const struct transport_ops *ops;
    struct hosts *hosts;
    struct transport_spec spec;
    const struct cc_ops *cc;
    const void *cc_params;
    bool int_records;     // switches append INT records to data
    bool hash_connection; // switches hash the destination's connection number too
    ps_t global_rtt_ps;   // the largest base RTT of all pairs, where the policy needs it; else 0
    /* filled by ops->prepare from spec */
    uint32_t mtu_bytes;             // payload of a full packet
    uint32_t seq_bytes;             // payload that one sequence number stands for
    uint32_t packets_per_ack;       // at most
    uint32_t connections_per_pair;  // a pair's messages take them in turn
    bool fresh_connections;         // every message has a connection of its own
    bool retransmits;               // lost packets are sent again
    bool echoes_marks;              // marks come back on ACKs, not in packets of their own
    bool uses_control_class;        // some of its packets are in NET_CLASS_CONTROL
    struct packet_sizes full;       // of a packet of mtu_bytes inside a message
    struct packet_sizes first, ack; // of one that begins a message; of an ACK
    void *shared; // state that the flows of the dimension share; the transport's own
    /* memory of its flows */
    struct slab senders, receivers;
};

// What a transport's settings may not fit.
struct transport_network {
    bool reorders; // switches may deliver packets of a flow out of order
    bool lossless; // PFC is on
};
#define TRANSPORT_WARNINGS 4
struct transport_warning {
    const char *key, *text;
};

struct transport_ops {
    const char *name, *doc, *source;
    /* settings: a struct of spec_bytes at transport_spec.own */
    const struct param *params;
    size_t n_params, spec_bytes;
    // Values left "auto" become those that the policy's preset expects. NULL = there are none.
    void (*complete)(struct transport_spec *t, const struct cc_preset *preset);
    // Warnings about settings that do not fit the network, at most TRANSPORT_WARNINGS; their number. May be NULL.
    size_t (*warnings)(const struct transport_spec *t, const struct transport_network *network,
                       struct transport_warning *out);
    /* network */
    void (*prepare)(struct transport_dim *dim);
    // Of a data packet with `payload` bytes; `first` of its message.
    struct packet_sizes (*data_sizes)(const struct transport_spec *t, uint32_t payload, bool first);
    // A lower bound of its timers that start with the transmission of a packet, on a path of at least
    // base_rtt_ps.
    ps_t (*shortest_timer_ps)(const struct transport_spec *t, ps_t base_rtt_ps);
    const struct frame_ops *frames;
    /* flows: a receiver's memory, which begins with struct receiver */
    size_t receiver_bytes;
    // Names the connection of a flow in its description and sets s->entropy; `count` is the number of
    // connections that its source has named before. After open_sender, and before each message where
    // connections are fresh.
    void (*name_connection)(struct sender *s, uint32_t count);
    void (*open_sender)(struct sender *s, ps_t queueing_ps);
    void (*close_sender)(struct sender *s); // before s->cold->own is freed; may be NULL
    // The next packet of a sender that may send.
    void (*fill)(struct sender *s, struct packet *p, ps_t now);
    // A packet other than data has arrived for the sender.
    void (*on_feedback)(struct sender *s, struct packet *p, ps_t now);
    // The retransmission timer has expired; the sender has not failed.
    void (*on_timeout)(struct sender *s, ps_t now);
    void (*on_failed)(struct sender *s); // may be NULL
    void (*open_receiver)(struct receiver *r);
    void (*close_receiver)(struct receiver *r); // may be NULL
    void (*on_data)(struct receiver *r, uint32_t port, struct packet *p, ps_t now);
    void (*close_dim)(struct transport_dim *dim); // frees dim->shared; may be NULL
    // Sequence number before which everything has arrived in order, for reports.
    uint64_t (*received_seq)(const struct receiver *r);
};

// All transports in the order of the catalogue; NULL-terminated. The first is the default.
extern const struct transport_ops *const transport_registry[];

const struct transport_ops *transport_find(const char *name);

// transport_ops.complete, where the transport has one.
void transport_complete(struct transport_spec *t, const struct cc_preset *preset);

// SPDX-License-Identifier: MIT
// The contract of a transport, and the catalogue of transports.
//
// A transport implements a sender and a receiver for each flow. They belong to different ranks and
// share only the flow's handle: all they know of each other comes from packets and from the flow's
// description (net/flow_id.h). The host (transport/host.h) owns the NICs, opens flows, delivers
// packets to senders and receivers, and lets the NIC pull packets from senders.
// transport/sender/sender.h implements what every sender needs: messages, window, pacing, the calls
// of the congestion control policy, and the retransmission timer.
#pragma once

#include "cc/cc.h"
#include "engine/base/slab.h"
#include "engine/parcel.h"
#include "net/packet.h"
#include "net/wire/frame.h"
#include "transport/counters.h"
#include "transport/nic/nic_spec.h"
#include "transport/transport_spec.h"

struct hosts;
struct sender;
struct receiver;
struct message;
struct transport_path;
struct transport_dim;

// Settings and derived values of the transport in one dimension of the network.
struct transport_dim {
    /* filled by the builder of the network */
    const struct transport_ops *ops;
    struct hosts *hosts;
    struct transport_spec spec;
    const struct nic_spec *const
        *nic_of; // [rank or aggregator] NULL = ideal, as all are without it
    const struct cc_ops *cc;
    const void *cc_params;
    bool trimmed;         // switches may trim its packets
    bool int_records;     // switches append INT records to data
    bool sprays;          // the sender chooses the path of each packet (set by ops->prepare)
    bool hash_connection; // switches hash the destination's connection number too
    bool numbers_paths;   // the entropy of a sprayed packet is the number of its path (UEC)
    ps_t global_rtt_ps;   // largest base RTT of all pairs of ranks if the policy needs it, else 0
    /* filled by ops->prepare from spec */
    uint32_t mtu_bytes;             // payload of a full packet
    uint32_t seq_bytes;             // payload bytes covered by one sequence number
    uint32_t packets_per_ack;       // upper limit
    uint32_t connections_per_pair;  // the messages of a pair use its connections in turn
    uint32_t parts_per_message;     // connections over which each message is split; 0 = 1
    uint32_t initial_window_bytes;  // struct cc_env
    bool fresh_connections;         // every message uses a new connection
    bool retransmits;               // lost packets are retransmitted
    bool fails_at_once;             // at the first retransmission timeout
    bool in_order;                  // receivers discard packets that arrive out of order
    bool echoes_marks;              // marks reach the policy by ACKs alone; otherwise by
                                    // notification packets too
    uint32_t empty_bytes;           // payload that stands for a message without bytes
    bool uses_control_class;        // some of its packets use NET_CLASS_CONTROL
    struct packet_sizes full;       // sizes of a packet of mtu_bytes inside a message
    struct packet_sizes first, ack; // sizes of the first packet of a message, and of an ACK
    void *shared; // state that the flows of the dimension share; owned by the transport
    struct transport_counters counters;
    /* memory of its flows */
    struct slab senders, receivers;
};

// Properties of the network that may make a setting unsuitable.
struct transport_network {
    bool reorders; // switches may reorder the packets of a flow
    bool lossless; // PFC is on
    bool trims;    // switches trim its packets
};
// The value that a setting left "auto" has on a path.
#define TRANSPORT_AUTOS 8
struct transport_auto {
    const char *key;
    char text[64];
};
#define TRANSPORT_FINDINGS 8
struct transport_finding {
    const char *key, *text;
    bool error; // else a warning
};

// An object among the settings of a transport; offsets as in transport_ops.params.
struct transport_group {
    const char *key, *doc;
    const struct param *params;
    size_t n_params;
};

struct transport_ops {
    const char *name, *doc, *source;
    unsigned provides;          // bits of enum cc_needs: a policy that needs more cannot run
    const char *default_cc;     // name of the policy of scenarios that give none
    const char *default_preset; // its preset; NULL = the first
    unsigned data_class;        // class of the data of jobs that give none
    bool by_host;               // cores of the host handle its packets (transport/nic/stack.h)
    /* settings: a struct of spec_bytes at transport_spec.own */
    const struct param *params;
    size_t n_params, spec_bytes;
    const struct transport_group *groups;
    size_t n_groups;
    // Replaces settings left "auto" by the values that the policy's preset expects, and by those of
    // the NIC; its settings stay "auto" where that is NULL. NULL = the transport has no such
    // settings.
    void (*complete)(struct transport_spec *t, const struct cc_preset *preset,
                     const struct nic_preset *nic);
    // Writes faults of the settings, and mismatches with the network, to `out` and returns their
    // number, at most TRANSPORT_FINDINGS. May be NULL.
    size_t (*check)(const struct transport_spec *t, const struct transport_network *network,
                    struct transport_finding *out);
    /* network */
    void (*prepare)(struct transport_dim *dim);
    // Returns the sizes of a data packet with `payload` bytes. `first`: it is the first of its
    // message.
    struct packet_sizes (*data_sizes)(const struct transport_spec *t, uint32_t payload, bool first);
    // Returns a lower limit of all timers that start with the transmission of a packet, on a path
    // with a base RTT of at least base_rtt_ps.
    ps_t (*shortest_timer_ps)(const struct transport_spec *t, ps_t base_rtt_ps);
    const struct frame_ops *frames;
    /* flows: sizes of a receiver's struct, which begins with struct receiver, and of the
       transport's state after struct sender; 0 = none */
    size_t receiver_bytes, sender_bytes;
    // Assigns the connection numbers of a flow in its description and sets s->entropy. `count` is
    // the number of connections that the source rank has named before. Called after open_sender,
    // and before each message if connections are fresh.
    void (*name_connection)(struct sender *s, uint32_t count);
    void (*open_sender)(struct sender *s, const struct transport_path *path);
    // Returns the retransmission timeout of a flow on the path before its first RTT sample, and
    // sets *least to the one after it where the RTT is short; NULL = a setting defines it.
    ps_t (*rto_ps)(const struct transport_dim *dim, const struct transport_path *path, ps_t *least);
    // Writes the values on the path of the settings that are "auto" and matter, and returns their
    // number, at most TRANSPORT_AUTOS. May be NULL.
    size_t (*autos)(const struct transport_dim *dim, const struct transport_path *path,
                    struct transport_auto *out);
    // Returns the most payload bytes that a receiver on the path lets be in flight. NULL = no
    // limit.
    uint64_t (*receive_window)(const struct transport_dim *dim, const struct transport_path *path);
    void (*close_sender)(struct sender *s); // called before s->cold.own is freed; may be NULL
    // Writes the next packet of a sender that may send to *p.
    void (*fill)(struct sender *s, struct packet *p, ps_t now);
    // Handles a packet other than data that arrives for the sender. It is called, as on_timeout and
    // on_path_lost are, between sender_begin() and sender_end(), which enters the sender at its
    // NIC.
    void (*on_feedback)(struct sender *s, struct packet *p, ps_t now);
    // Handles a retransmission timeout of a sender that has not failed.
    void (*on_timeout)(struct sender *s, ps_t now);
    // All packets in flight were lost on a failed link: send them again. NULL = on_timeout() does
    // this.
    void (*on_path_lost)(struct sender *s, ps_t now);
    void (*on_failed)(struct sender *s, ps_t now); // may be NULL
    // Number s->path has changed, and nothing is in flight: later packets take another path. NULL =
    // the transport cannot do that.
    void (*change_path)(struct sender *s);
    // The policy's window has changed (s->cwnd_bytes): set s->window_bytes. NULL = the smaller one
    // of the policy's window and s->cold.cap_bytes.
    void (*on_window)(struct sender *s, ps_t now);
    // Returns true if a message that is posted now, alone on its path, leaves packet behind packet
    // at the rate of the sender's port. The sender has nothing to send. NULL = never.
    bool (*quiet)(const struct sender *s);
    // Let the message that a sender is sending, the last one of its connection, end with the next
    // packet, and call it `token`. Returns the payload bytes that are left, which the caller sends
    // in another way; 0 = it cannot: packets have been lost, or more than a flight of `quiet` is
    // under way. NULL = never.
    uint64_t (*cut)(struct sender *s, uint64_t token);
    // Returns for how many retransmission timeouts the flow has sent nothing. NULL = the transport
    // does not restart slowly after idle time.
    uint32_t (*idle_rtos)(const struct sender *s, ps_t now);
    // The thread of the sender has written so many bytes of its messages (transport/nic/stack.h).
    // Called as on_timeout is. NULL = it has no such thread.
    void (*on_written)(struct sender *s, uint64_t bytes, ps_t now);
    // A message has been posted, and may not be sent yet. May be NULL.
    void (*on_post)(struct sender *s, ps_t now);
    void (*open_receiver)(struct receiver *r);
    void (*close_receiver)(struct receiver *r); // may be NULL
    void (*on_data)(struct receiver *r, uint32_t port, struct packet *p, ps_t now);
    // Handles a data packet that has lost its payload in a switch. NULL = switches must not trim
    // the transport's packets.
    void (*on_trimmed)(struct receiver *r, uint32_t port, struct packet *p, ps_t now);
    // State of a sender for time series, beside that of its policy: `observe` writes the values
    // that the NULL-terminated list `observed` names, at most 8. Both may be NULL.
    const char *const *observed;
    void (*observe)(const struct sender *s, double *out);
    // Makes dim->shared, once the network's ports are set. May be NULL.
    void (*open_dim)(struct transport_dim *dim);
    // Replaces dim->shared in a shard by a copy of the shard's own. NULL if nothing is shared.
    void (*divide_dim)(struct transport_dim *shard, const struct transport_dim *whole);
    void (*close_dim)(struct transport_dim *dim); // frees dim->shared; may be NULL
    // Returns the bytes of a message that have been received in order, for reports.
    uint64_t (*received_bytes)(const struct receiver *r, const struct message *m);
    // Hands what received_bytes() reads of a receiver to another process (engine/parcel.h). The
    // reader's receiver is zeroed, but for struct receiver; close_receiver() frees it too.
    void (*hand_over_receiver)(struct parcel *p, struct receiver *r);
};

// All transports in the order of the catalogue, NULL-terminated. The first one is the default.
extern const struct transport_ops *const transport_registry[];

// Returns true if the transport provides all that the policy needs.
static inline bool transport_runs(const struct transport_ops *ops, const struct cc_ops *cc)
{
    return (cc->needs & ~ops->provides) == 0;
}

// Call transport_ops.complete if the transport has it.
void transport_complete(struct transport_spec *t, const struct cc_preset *preset,
                        const struct nic_preset *nic);

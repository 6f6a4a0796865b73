// SPDX-License-Identifier: MIT
// Connections, their messages, and the ports that they use.
#pragma once

#include "engine/base/slab.h"
#include "engine/timer.h"
#include "sim/hybrid/hybrid.h"
#include "sim/ideal/train.h"
#include "transport/host.h"

#define NO_CONNECTION UINT32_MAX
#define HYBRID_HOPS 8 // of a way, at most; messages on longer ones are packets

// The ACKs of a connection's quiet data on a port: a share of the time between two instants.
struct ack_stream {
    ps_t from_ps, until_ps;
    float share;
    uint32_t flow;
};
#define ACK_STREAMS 3 // of a port, the last ones

// What uses a port. A connection owns it until free_ps, by quiet data.
struct port_use {
    ps_t free_ps;
    uint32_t owner;    // handle of the flow; NO_CONNECTION = none yet
    uint32_t n_packet; // connections that have messages in packets
    struct ack_stream acks[ACK_STREAMS];
};

// A message in closed form, from its post to its last ACK.
struct quiet_message {
    struct sim_timer there, back;
    struct hybrid *hybrid;
    struct quiet_message *next; // behind it on its connection, or free
    struct transfer_request request;
    struct train train;
    struct ideal_wire wire;
    uint32_t flow;
    bool delivered;
    bool is_rest;               // of a message whose packets come before it (rest.c)
    double late_ps;             // by ACKs of others: the most of late_at
    float late_at[HYBRID_HOPS]; // [hop] time of these ACKs on it
    ps_t answered_ps;           // from the arrival of the last byte to that of its ACK
    /* of its critical path: the busy period of its sender */
    uint32_t path;
    ps_t begin_ps;         // of the busy period
    ps_t mark_ps;          // when the message before it had been sent; 0 = it is the first
    uint64_t before_bytes; // wire bytes sent before it in the busy period
};

// The newest long message of a connection that is packets, and the parts of one that has been cut:
// its packets end, and the rest is quiet (rest.c).
struct long_message {
    struct sim_timer look; // whether the rest may be quiet
    struct hybrid *hybrid;
    uint32_t flow;
    bool looking;
    struct transfer_request request;
    enum not_quiet why; // it is packets
    /* parts of a message before its rest */
    bool cut, delivered;           // it has parts; the last packet of the last one has arrived
    uint64_t token;                // of the message
    struct message_end sum;        // of the parts that have ended
    struct sender_account account; // at the last packet of the last one
};

// A connection with its way there and back.
struct quiet_connection {
    bool known;
    bool never;             // its packets may take several paths, or another node forwards them
    enum not_quiet special; // a port of its ways needs packets; IS_QUIET = none does
    bool returned;          // the rest of its last message in packets is quiet, and what follows
    uint32_t n_packet;      // its messages that are packets
    struct long_message *long_message; // NULL = none yet
    struct way {
        uint32_t ports[HYBRID_HOPS];
        struct train_hop hops[HYBRID_HOPS];
        uint32_t n;
    } out, in;                   // of its packets, and of their ACKs
    double free_ps[HYBRID_HOPS]; // [hop of out] when it has sent the quiet messages
    double slowest_ps;           // time of a byte on the slowest hop
    struct quiet_message *oldest, *newest;
    ps_t back_ps; // when the last ACK of the last one that has arrived is back
    /* the busy period: quiet messages one behind the other */
    ps_t busy_ps;
    uint64_t busy_bytes;
    /* the message whose first part was quiet */
    uint64_t split_token, split_bytes;
    uint32_t split_packets; // 0 = there is none
    struct ideal_wire split_wire;
    double split_begin_ps;
};

struct hybrid {
    struct fabric *fabric;
    struct path_book *path_book;
    enum not_quiet off; // why every message is packets; IS_QUIET = they may be quiet
    ps_t check_ps[HYBRID_WINDOWS_MOST], check_length_ps; // windows of hybrid_check(), ascending
    uint32_t n_checks, check;                            // and the first that has not ended
    struct host_client client;                           // the ledger's
    struct host_observer observer;                       // likewise
    struct port_use *ports;                              // [port]
    struct quiet_connection **connections;               // [flow]
    size_t cap;
    uint32_t n_never[SPEC_MAX_DIMS]; // connections without a single way that have packets
    struct slab messages;
    struct quiet_message *free;
    uint64_t n_quiet;                                      // messages
    uint64_t quiet_bytes, packet_bytes[NOT_QUIET_REASONS]; // payload
};

static inline struct network *hybrid_net(const struct hybrid *h) { return &h->fabric->net; }
static inline struct hosts *hybrid_hosts(const struct hybrid *h) { return &h->fabric->hosts; }

// The connection of a flow.
struct quiet_connection *hybrid_connection(struct hybrid *h, uint32_t flow);
// Find the ways of a connection; sets `never` where there is not one.
void connection_walk(const struct hybrid *h, struct quiet_connection *c, const struct sender *s);

// True if quiet data of another connection than `flow` have yet to leave by the port.
static inline bool port_has_other(const struct port_use *use, uint32_t flow, ps_t now)
{
    return use->owner != NO_CONNECTION && use->owner != flow && use->free_ps > now;
}

// The routes have changed: connections with another way than before become packets on it.
void hybrid_rerouted(void *ctx, ps_t now); // ctx: the hybrid

// Why a message is not quiet. A connection that has returned may have one in packets.
enum not_quiet why_not_quiet(struct hybrid *h, const struct quiet_connection *c,
                             const struct sender *s, const struct transfer_request *r, ps_t now);

// A message has been posted as packets: let its rest be quiet when nobody meets it any more.
void rest_look(struct hybrid *h, const struct sender *s, struct quiet_connection *c,
               const struct transfer_request *request, enum not_quiet why, ps_t now);
// Add the parts of a message to its end, or to its state at the end of the run.
void rest_add(struct hybrid *h, struct quiet_connection *c, struct message_end *end);
// Stand between the hosts and the ledger, for the ends of parts.
void rest_attach(struct hybrid *h);

// Messages in packets of a connection: the last one has ended, or takes another way.
void packets_end(struct hybrid *h, uint32_t dim, const struct quiet_connection *c);
// Count the first part of a message that was quiet before the rest became packets, and add it to
// *sum.
void split_end(struct hybrid *h, struct quiet_connection *c, const struct sender *s,
               struct message_end *sum, bool running);

// Let the quiet messages of a connection become packets, as far as they have not been sent, since a
// message of `by` is posted, which may be the same connection.
struct newcomer {
    const struct quiet_connection *connection;
    uint64_t bytes; // payload
};
void connection_wake(struct hybrid *h, uint32_t flow, const struct newcomer *by, ps_t now);

// Post a message of a sender as packets.
void hybrid_packets(struct hybrid *h, struct sender *s, const struct transfer_request *request,
                    enum not_quiet why, ps_t now);

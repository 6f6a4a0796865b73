// SPDX-License-Identifier: MIT
// The hosts: ranks as endpoints of the packet network; implements net/transfer.h over any transport.
//
// A host opens flows, keeps their senders in the NIC of their port (transport/nic.h), passes data packets to
// receivers and all others to senders. A flow's handle is its index in the tables below; it is an address only,
// no result depends on it. A flow is named by (source rank, number of the flows that this rank has opened).
#pragma once

#include "net/network.h"
#include "transport/nic.h"
#include "transport/sender.h"

struct receiver {
    const struct transport_dim *dim;
    uint32_t flow; // handle
};

struct transport_path {
    uint32_t src_node, dst_node; // whose ports the ranks use: their own, unless they share a NIC
    const uint16_t *ports; // of the sending rank, counted from its first: equal ones; borrowed
    uint32_t n_ports;      // 0 = the ranks share a NIC
    uint16_t shared_port;  // counted alike: where they share a NIC, the port by which they meet
    bool cut_off; // no port leads there now: the path is that of the network without failures
    ps_t base_rtt_ps;
    uint64_t line_bps;
    uint32_t hops;
    ps_t queueing_ps; // in which every switch of it drains its whole buffer
};

// Where flows of the packet network lead.
struct host_paths {
    // The dimension that joins two ranks; there is one.
    uint32_t (*joining_dim)(void *ctx, uint32_t src, uint32_t dst);
    // The path of part `stripe` of cut messages (1..), or of whole ones (0).
    struct transport_path (*path)(void *ctx, uint32_t src, uint32_t dst, uint32_t dim,
                                  uint32_t stripe);
    void *ctx;
};

struct host_observer {
    // Done or failed, before it is freed.
    void (*message_ended)(void *ctx, const struct sender *s, const struct message *m, ps_t now);
    void *ctx;
};

// Sums over all flows; integers, so their order is indifferent.
struct host_counters {
    uint64_t delivered_bytes, posted_bytes;
    uint64_t cnps_sent, echoed_marks, naks, timeouts, retransmitted;
    uint64_t cc_cuts; // times a policy lowered a rate or a window
};

struct pair_table; // transport/pairs.h

struct hosts {
    /* config */
    struct network *net;
    struct transport_dim *dims;
    uint32_t n_dims;
    struct host_paths paths;
    struct transfer_client client;
    struct host_observer observer;
    /* state */
    struct sender **senders;     // [flow]
    struct receiver **receivers; // [flow], NULL until its first packet has arrived
    struct flow_ids flows;       // [flow]
    size_t cap_flows;
    struct nic *nics; // [global port of ranks * data classes in use + class's index]
    uint32_t n_nics;
    uint32_t *n_opened; // [rank] flows that it has opened
    uint32_t *n_named;  // [rank] connections that it has named
    struct pair_table *pairs;
    struct message_pool messages;
    uint64_t n_running; // messages
    uint32_t n_rto_armed;
    ps_t last_delivery_ps;
    struct host_counters counters;
};

// Attach to a network whose ports are set. The caller fills dims (but for what ops->prepare fills, which
// hosts_prepare has done), paths, client and observer first.
void hosts_init(struct hosts *hosts, struct network *net);
void hosts_free(struct hosts *hosts);

// The dimensions' derived values, known before there is a network.
void hosts_prepare(struct hosts *hosts);

// Post a message (`hosts` is the struct hosts): transfer.post.
void hosts_post(void *hosts, const struct transfer_request *request, ps_t now);

// Handles of all flows in the order of their names, (source rank, number); the index into it is the number that a
// flow has in results. To be freed.
uint32_t *hosts_flows_in_order(const struct hosts *hosts);

// Payload bytes of a message that have arrived in order.
uint64_t hosts_delivered_bytes(const struct hosts *hosts, const struct sender *s,
                               const struct message *m);

// Bytes of memory that a flow in a dimension takes.
size_t hosts_flow_bytes(const struct transport_dim *dim);

// Payload has arrived for the first time.
static inline void hosts_progress(struct hosts *hosts, uint32_t bytes, ps_t now)
{
    hosts->counters.delivered_bytes += bytes;
    hosts->last_delivery_ps = now;
}

static inline struct message *hosts_message(const struct hosts *hosts, uint32_t slot)
{
    return &hosts->messages.slots[slot];
}

// Before anything looks at or changes a sender: its NIC port replays what it has sent by now.
static inline void sender_settle(const struct sender *s, ps_t now)
{
    port_settle(sender_hosts(s)->net, s->port, now);
}

// The 64-bit sequence number whose low bits are `seq`, nearest to `near`.
static inline uint64_t seq_restore(uint32_t seq, uint64_t near)
{
    return near + (uint64_t)(int64_t)(int32_t)(seq - (uint32_t)near);
}

/* Between the files of this folder */
struct sender *hosts_connection_for(struct hosts *hosts, const struct transfer_request *request,
                                    ps_t now);
void hosts_connection_idle(struct hosts *hosts, struct sender *s); // all its messages have ended
struct receiver *hosts_open_receiver(struct hosts *hosts, uint32_t flow);
void hosts_try_other_port(struct hosts *hosts, struct sender *s);

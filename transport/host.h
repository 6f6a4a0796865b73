// SPDX-License-Identifier: MIT
// The hosts: ranks as endpoints of the packet network. They implement net/transfer.h over any
// transport.
//
// A host opens flows, enters their senders at the NIC of their port (transport/nic/nic.h), passes
// data packets to receivers and all other packets to senders. A flow's handle is its index in the
// tables below. Handles depend on the order of opening, so no result may depend on them; a flow's
// name is (source rank, number of flows that this rank opened before).
#pragma once

#include "engine/base/rng.h"
#include "net/network.h"
#include "transport/nic/nic.h"
#include "transport/sender/sender.h"

struct receiver {
    const struct transport_dim *dim;
    uint32_t flow; // handle
};

struct transport_path {
    uint32_t src_node, dst_node; // nodes whose ports the ranks use: their own, unless they share a
                                 // NIC
    const uint16_t *ports; // equal-cost ports of the sending rank, counted from its first port;
                           // borrowed
    uint32_t n_ports;      // 0 = the ranks share a NIC
    uint16_t shared_port;  // also counted from the first port: the port of a NIC that both ranks
                           // share
    bool cut_off; // no port leads to the destination now; the path is that of the network without
                  // failures
    ps_t base_rtt_ps;
    uint64_t line_bps;
    uint32_t hops;
    ps_t queueing_ps; // time in which every switch on the path drains a full buffer
    // the drain time of all queues at their target length: the fixed limit if they have one, else
    // the length at which every packet is marked, else a full buffer
    ps_t target_ps;
    bool limited; // queues have a fixed limit
};

// Returns the description of a path for policies.
struct cc_env transport_path_env(const struct hosts *hosts, const struct transport_dim *dim,
                                 const struct transport_path *path);

// The paths of flows in the packet network.
struct host_paths {
    // Returns the dimension that a message takes, or UINT32_MAX if none joins its ends.
    uint32_t (*joining_dim)(void *ctx, const struct transfer_request *request);
    // Returns the path of part `stripe` (1, 2, ...) of split messages, or of whole messages (0),
    // for packets of transport number `transport`.
    struct transport_path (*path)(void *ctx, uint32_t src, uint32_t dst, uint32_t dim,
                                  uint32_t transport, uint32_t stripe);
    // Whether packets of a flow with this entropy, sent by a port of the network, arrive at the
    // port of the receiver that belongs to it, where parts of a message have ports of their own;
    // true where any port will do, or their way is not known.
    bool (*arrives)(void *ctx, const struct flow_id *id, uint32_t port, uint32_t entropy);
    void *ctx;
};

// The client of the hosts: struct transfer_client without the size of the message, which the
// receiver does not have.
struct host_client {
    void (*delivered)(void *ctx, uint64_t token, ps_t now);
    void (*entered)(void *ctx, uint64_t token, ps_t now); // may be NULL
    void (*sent)(void *ctx, uint64_t token, ps_t now);
    void (*failed)(void *ctx, uint64_t token, ps_t now);
    void *ctx;
    // Client and observer may be called at the same time for nodes of different shards; else such
    // calls wait for each other.
    bool by_rank;
};

// A message that has ended, or is cut off.
struct message_end {
    struct message message;
    uint64_t delivered_bytes; // unless it is done
    uint32_t flow;
    uint16_t dim;
    uint8_t transport;
};

// A function that is NULL is not called; `busy`, `last_packet` and `idle` go together.
struct host_observer {
    // A message is posted to a flow that has nothing to send. Returns the path that ends now, not
    // 0.
    uint32_t (*busy)(void *ctx, uint32_t flow, ps_t now);
    // The last packet of the message starts for the first time.
    void (*last_packet)(void *ctx, uint64_t token, const struct sender_account *account, ps_t now);
    // The flow has no more packets to send, so its path is no longer needed.
    void (*idle)(void *ctx, uint32_t flow, uint32_t path);
    // A data packet of the message is about to start: describe the message in its note.
    void (*note)(void *ctx, uint64_t token, struct packet_note *note);
    // The retransmission timer of the sender has expired.
    void (*timed_out)(void *ctx, const struct sender *s, ps_t now);
    // Returns how long a message has waited for the timer since its last packet was first sent.
    ps_t (*timeout_ps)(void *ctx, uint64_t token);
    // Called when a message is done or has failed, before it is freed.
    void (*message_ended)(void *ctx, const struct message_end *end, ps_t now);
    void *ctx;
};

// Times of the data packet that is arriving, for the callbacks of messages that it completes.
struct arriving {
    bool timed;              // the fields below are set
    ps_t sent_ps;            // start of its transmission
    struct meta_waits waits; // a copy, since its acknowledgement takes over the packet's meta-data
};

// Takes messages in place of their senders, where the network computes their times: returns true if
// it has taken the message, or posted it by itself (sender_post()). The routes have changed:
// rerouted.
struct host_quiet {
    bool (*take)(void *ctx, struct sender *s, const struct transfer_request *request, ps_t now);
    void (*rerouted)(void *ctx, ps_t now);
    void *ctx;
};

struct adapters;   // transport/nic/adapter.h
struct stack;      // transport/nic/stack.h
struct cc_envs;    // transport/sender/envs.h
struct pair_table; // transport/sender/pairs.h

// 10 GB of address space; only used pages take memory. Where address space is limited (ulimit -v)
// there is room for fewer at first.
#define HOSTS_FLOWS_MAX (UINT32_C(1) << 27)

struct hosts {
    /* config */
    struct network *net;
    struct transport_dim *dims; // [dimension * n_transports + transport]
    uint32_t n_dims;            // entries of dims
    uint32_t n_transports;      // in each dimension
    struct host_paths paths;
    struct host_client client;
    struct host_observer observer;
    struct host_quiet quiet;   // take NULL = every message is packets
    struct adapters *adapters; // NULL = all NICs are ideal
    struct stack *stack;       // NULL = messages cost no time of cores
    struct cc_watch *cc_watch; // of policies from plugins
    /* state */
    struct arriving arriving;
    struct meta_held acking;     // of the ACK that is being handled
    struct sender **senders;     // [flow]; this array and the next two never move
    struct receiver **receivers; // [flow]; NULL until the first packet of the flow arrives
    struct flow_ids flows;       // [flow]
    size_t reserved_bytes[3];    // of these arrays
    struct hosts *whole; // owner of the count flows.n: itself, or of a shard the hosts of all
    struct nic *nics; // [port of a rank * nics_per_port + index of the class]; the data classes in
                      // use, then the control class if it is pulled
    uint32_t n_nics, nics_per_port;
    bool pulls_control; // messages may use the control class
    uint32_t *n_opened; // [rank] flows that it has opened
    uint32_t *n_named;  // [rank] connections that it has named
    struct pair_table *pairs;
    struct cc_envs *envs;
    struct message_pool messages;
    struct slab times;           // accounts of senders that have messages (sender_time.h)
    struct sender_time *no_time; // dummy for senders without messages: its values are void
    uint64_t n_running;          // messages that have neither ended nor failed
    uint32_t n_rto_armed;
    uint32_t n_retrying;  // senders whose last retransmission timeout was not followed by progress
    uint32_t large_bytes; // bytes of a transport's state beside senders and receivers; 0 = little
    ps_t last_delivery_ps;
    struct host_counters counters;
};

// Attach to a network whose ports are set. The caller must first fill dims, paths, client and
// observer, and call hosts_prepare().
void hosts_init(struct hosts *hosts, struct network *net);
void hosts_free(struct hosts *hosts);

// Compute the derived values of all dimensions (ops->prepare). Needs no network.
void hosts_prepare(struct hosts *hosts);

// Post a message; the function transfer.post. `hosts` is a struct hosts.
void hosts_post(void *hosts, const struct transfer_request *request, ps_t now);

// Returns the handles of all flows, ordered by name (source rank, number). The index into the array
// is the flow's number in results. The caller frees the array.
uint32_t *hosts_flows_in_order(const struct hosts *hosts);

// Returns the payload bytes of a message that have arrived in order.
static inline uint64_t hosts_delivered_bytes(const struct hosts *hosts, const struct sender *s,
                                             const struct message *m)
{
    const struct receiver *r = hosts->receivers[s->flow];
    return r ? r->dim->ops->received_bytes(r, m) : 0;
}

// Returns the bytes of memory that a flow of a dimension needs while it has messages.
size_t hosts_flow_bytes(const struct transport_dim *dim);

struct message_end sender_message_end(const struct sender *s, const struct message *m);

// Count payload that has arrived for the first time.
static inline void hosts_progress(struct hosts *hosts, uint32_t bytes, ps_t now)
{
    hosts->counters.delivered_bytes += bytes;
    hosts->last_delivery_ps = now;
}

// The NIC of a class at a port of a rank.
static inline struct nic *hosts_nic(const struct hosts *hosts, uint32_t port, unsigned cls)
{
    uint32_t at = cls == NET_CLASS_CONTROL
                      ? hosts->net->n_data
                      : (uint32_t)hosts->net->slot_of_class[cls] - hosts->net->data_slot;
    return &hosts->nics[port * hosts->nics_per_port + at];
}

// The transport with this number in a dimension of the network.
static inline struct transport_dim *hosts_dim(const struct hosts *hosts, uint32_t dim,
                                              uint32_t transport)
{
    return &hosts->dims[dim * hosts->n_transports + transport];
}

// The description of a sender's flow.
static inline const struct flow_id *sender_id(const struct sender *s)
{
    return &sender_hosts(s)->flows.ids[s->flow];
}

static inline struct message *hosts_message(const struct hosts *hosts, uint32_t slot)
{
    return &hosts->messages.slots[slot];
}

// Let the NIC port of a sender compute the packets that it has sent until now. Call before reading
// or changing a sender.
static inline void sender_catch_up(const struct sender *s, ps_t now)
{
    port_catch_up(sender_hosts(s)->net, s->port, now);
}

// Begin to handle an event of the sender: an ACK or another report, or a timeout. Until
// sender_end() its state is between two consistent ones (sequence numbers have advanced, but the
// lists of lost packets have not), and callbacks for messages that end may let the port send;
// nothing is pulled from the sender meanwhile. Neither function nests. The sender's port must have
// caught up.
static inline void sender_begin(struct sender *s)
{
    SIM_ASSERT(sender_hosts(s)->net->engine, s->dst_node, !s->busy);
    s->busy = true;
}

// Handle a packet that the receiver has sent.
static inline void sender_feedback(struct sender *s, struct packet *p, ps_t now)
{
    sender_catch_up(s, now);
    sender_begin(s);
    s->dim->ops->on_feedback(s, p, now);
    sender_end(s, now);
}

// The part of header_entropy() that depends on the addresses src and dst only.
static inline uint64_t address_hash(uint32_t src, uint32_t dst)
{
    return hash_mix((uint64_t)src << 32 | dst);
}

// header_entropy() for a pair of addresses whose hash is known.
static inline uint32_t path_entropy(uint64_t addresses, uint32_t ports, uint32_t connection)
{
    return (uint32_t)hash_mix(addresses + ports + ((uint64_t)connection << 16));
}

// Returns the hash of header fields with which switches choose among equal-cost paths. `connection`
// is 0 unless switches hash connection numbers too.
static inline uint32_t header_entropy(uint32_t src, uint32_t dst, uint32_t ports,
                                      uint32_t connection)
{
    return path_entropy(address_hash(src, dst), ports, connection);
}

// Returns the 64-bit sequence number nearest to `near` whose low 32 bits are `seq`.
static inline uint64_t seq_restore(uint32_t seq, uint64_t near)
{
    return near + (uint64_t)(int64_t)(int32_t)(seq - (uint32_t)near);
}

// To be called before and after calls of the client or the observer.
static inline void hosts_begin_call(const struct hosts *hosts)
{
    if (!hosts->client.by_rank)
        engine_lock(hosts->net->engine);
}
static inline void hosts_end_call(const struct hosts *hosts)
{
    if (!hosts->client.by_rank)
        engine_unlock(hosts->net->engine);
}

// Call the client: a message has been delivered.
static inline void hosts_deliver(const struct hosts *hosts, uint64_t token, ps_t now)
{
    hosts_begin_call(hosts);
    hosts->client.delivered(hosts->client.ctx, token, now);
    hosts_end_call(hosts);
}

// The hosts of a network in shards (net/crossing.h): [shard] with the shard's network, its
// messages, the memory of its flows and its counters, and all else shared.
struct hosts *hosts_shard(struct hosts *hosts);
// Add the counters of the shards to those of all hosts; call when the run has ended.
void hosts_unite(struct hosts *hosts, const struct hosts *shards);
// Free the hosts of `n` shards, after those of the whole.
void hosts_shards_free(struct hosts *shards, uint32_t n);

// Returns the sender that would carry this request; NULL if none is open yet or several may.
const struct sender *hosts_only_connection(const struct hosts *hosts,
                                           const struct transfer_request *r);

/* Between the files of this folder */
void hosts_flows_init(struct hosts *hosts);
void hosts_flows_free(struct hosts *hosts);
// Makes the next flow: a sender of a transport in a dimension that has no description yet.
struct sender *hosts_new_sender(struct hosts *hosts, uint32_t dim, uint32_t transport);
struct sender *hosts_connection_for(struct hosts *hosts, const struct transfer_request *request,
                                    ps_t now);
void hosts_connection_idle(struct hosts *hosts, struct sender *s); // called when all messages of
                                                                   // the sender have ended
struct receiver *hosts_open_receiver(struct hosts *hosts, uint32_t flow);
// Returns the sender of the other direction of a flow's pair, in an event of the flow's
// destination; opens it if that has not been done.
struct sender *hosts_opposite(struct hosts *hosts, uint32_t flow);
void hosts_try_other_port(struct hosts *hosts, struct sender *s, ps_t now);

// The routes of the network have changed. Senders whose port no longer leads to the destination
// take another port and resend their packets in flight, as after a retransmission timeout; all
// other senders choose a port again when they have nothing in flight.
void hosts_reroute(struct hosts *hosts, ps_t now);

// SPDX-License-Identifier: MIT
// Ports, links and the way of a packet over one hop, the same for switches and NICs.
//
// A port holds one queue per class in use and one for PFC frames. PFC frames and control go first, by
// strict priority; data classes share what is left by weight (net/drr.h). A link holds the packets in
// flight in order; only its head is a pending event. What a node does with packets is in its
// node_ops: a switch or a NIC. A rank that forwards for others shares its ports between both: what
// it forwards is queued, what it sends itself is pulled, and where both wait the port takes a data
// packet of the one and of the other in turn.
#pragma once

#include "engine/engine.h"
#include "engine/timer.h"
#include "net/fault.h"
#include "net/fifo.h"
#include "net/meta.h"
#include "net/node.h"
#include "net/ring.h"
#include "net/tap.h"

#define NET_CLASSES 8
#define NET_MAX_SLOTS (NET_CLASSES + 1)
#define NET_PFC_SLOT 0 // MAC control frames go before every class and are never paused
#define NET_PFC_FRAME_BYTES 64

#define NET_CLASS_DATA 3   // of data where nothing else is said
#define NET_DATA_CLASSES 6 // 0..5 carry data, 7 is left to the network's own protocols
#define NET_CLASS_CONTROL 6
#define NET_QUANTUM_BYTES 16384 // of a class that nobody gave a weight: above any frame

enum port_flag {
    PORT_PULLS = 1, // a NIC: asks its node for a packet when its queues are empty
    PORT_TAPPED = 2,
    PORT_EXPLICIT = 4, // its departures are events
    PORT_FAULTY = 8,   // its link has an entry in faults
    PORT_ROUTES = 16,  // of a rank that forwards: pulls in turn with its queue
};

// What ports have in common: a kind of link. There are few, so they stay in the cache.
struct link {
    struct byte_time byte_time;
    ps_t delay_ps;
};

struct queue {
    struct fifo fifo;
    uint64_t bytes;                        // frame bytes held
    uint32_t quantum_bytes, deficit_bytes; // its share among data classes, of wire bytes
};
_Static_assert(sizeof(struct queue) == 32, "struct queue is half a cache line");

// One output port and the link that leaves it, in two lines: a packet that finds it idle touches the
// first alone, one that waits the second too (the pair comes in together).
struct port {
    /* hot state */
    ps_t busy_until_ps;
    ps_t wake_ps; // next departure, PS_NEVER = none; not settled yet where it is past
    struct ring flight;
    uint64_t tx_bytes, tx_packets; // counters: wire bytes
    /* hot config */
    uint32_t node, peer_node;
    unsigned peer_local : 12;
    unsigned flags : 5; // enum port_flag
    unsigned link : 15; // index of its struct link
    uint16_t waiting;   // state: slots with packets
    uint16_t paused;    // state: slots that PFC has stopped
    /* state where packets wait */
    struct queue queue;    // of the first data class
    uint64_t queued_bytes; // of all classes, frame bytes; PFC frames are not counted
    uint64_t max_queued_bytes;
    double wait_byte_ps; // sum of frame bytes * time waited
    uint64_t carry;      // sub-picosecond remainder of this busy period
};
_Static_assert(sizeof(struct port) == 128 && offsetof(struct port, queue) == 64,
               "struct port is two cache lines");

// The rest of a port, rarely touched.
struct port_cold {
    uint32_t peer; // port at the other end (its own output)
    uint16_t local;
    bool pinned;   // explicit for ever
    bool own_turn; // PORT_ROUTES: a pulled packet goes before a queued one; its node sets it
    unsigned turn; // of the data classes: the slot that sends now
    struct drops dropped, lost; // packets that wanted to leave by it; that were on its link
};

// PFC as the receiver of pauses sees it, per port and class; cold.
struct pause {
    ps_t until_ps;   // expiry of the class's pause
    ps_t since_ps;   // began, while paused
    ps_t total_ps;   // time paused so far, without the current pause
    uint64_t pauses; // times it went from running to paused
};

struct port_pfc {
    struct pause cls[NET_CLASSES];
    struct sim_timer expiry;
    ps_t response_ps;             // a received frame takes effect this much later
    struct fifo pending;          // frames whose response time runs
    uint64_t tx_pause, tx_resume; // PFC frames sent by this port, refreshes included
    uint64_t rx_frames;
    uint8_t deaf; // classes whose pauses are not obeyed
};

struct network;

struct network {
    struct engine *engine;
    struct node_ops ops[NET_NODE_KINDS];
    uint8_t *kinds;         // [node] enum net_node_kind
    struct ring_pool rings; // what is in flight
    struct fifo_pool pool;  // what waits
    struct meta_pool meta;
    struct port *ports;     // aligned to pairs of cache lines
    struct port_cold *cold; // [port]
    struct link *links;
    uint32_t n_links;
    size_t cap_links;
    struct queue *queues; // [port * n_slots + slot], but for the first data class's
    struct port_pfc *pfc; // [port]
    struct fault *faults; // [port] of the link that leaves it, NULL where there are none
    uint32_t *first_port; // [node], one more at the end
    uint32_t n_ranks, n_nodes, n_ports, n_slots;
    uint8_t slot_of_class[NET_CLASSES]; // NET_NO_SLOT = class not in use
    uint8_t class_of_slot[NET_MAX_SLOTS];
    uint32_t n_data, data_slot; // data classes in use; slots from data_slot on are theirs
    uint32_t shared_slots;      // bit set of them where there are several, else 0
    bool arbitrates;            // there are several, or ports that route
    uint32_t pfc_wire_bytes;
    struct tap tap;
    uint32_t hinted_port; // where the next event's packet leaves, as its node has told
    uint64_t packet_hops;
    struct drops drops[DROP_REASONS];
};
#define NET_NO_SLOT 0xff

// Empty network of `n_nodes` nodes; ports follow through network_add_port in order of (node, local).
// `classes` is the bit set of classes in use.
void network_init(struct network *net, struct engine *engine, uint32_t n_ranks, uint32_t n_nodes,
                  uint32_t n_ports, uint8_t classes);
void network_free(struct network *net);

// Registers the handlers of events; network_init calls it.
void network_handle_events(struct network *net);

// Is less than a sixteenth left of a pool that packets live in?
bool network_pools_low(const struct network *net);

// Memory hints, which pay where much is in use at a time; off where nobody says. Before the first event.
void network_set_hints(struct network *net, bool on);

struct port_config {
    uint32_t node, local, peer, peer_local, peer_node;
    uint64_t rate_bps;
    ps_t delay_ps;
};
void network_set_port(struct network *net, uint32_t port, const struct port_config *config);

// Wire bytes that a data class may send each turn while others wait.
void network_set_quantum(struct network *net, uint32_t port, unsigned cls, uint32_t bytes);

// Send a packet by a port: it starts at once when the port is free, or waits in its class's queue.
void port_enqueue(struct network *net, uint32_t port, struct packet *p, ps_t now);

// Calls net->tap for every packet that the port starts.
void network_tap_port(struct network *net, uint32_t port);

// A PFC frame that arrives by the port takes effect `response_ps` later (IEEE 802.1Qbb).
void network_set_pfc_response(struct network *net, uint32_t port, ps_t response_ps);

// What a port has sent and held until `now`.
struct port_stats {
    uint64_t tx_bytes, tx_packets;        // wire bytes
    uint64_t max_queued_bytes;            // frame bytes
    uint64_t pause_frames, resume_frames; // PFC frames sent
    struct drops drops;                   // on its link included
    double busy_ps;                       // time of its transmissions
    double queued_byte_ps;                // integral of the bytes queued over time
};
struct port_stats port_stats(const struct network *net, uint32_t port, ps_t now);

// Frees the memory of packets, for a network that will not run any more; their contents are gone.
void network_free_packets(struct network *net);

// Departures are not events where they need not be: what a port does between events is replayed by
// port_settle, in order and at its own times, before anything looks at or changes the port. The
// callers are: enqueue, a change of its pauses, the delivery of its link's head (so the next arrival
// is armed in time), whoever reads queues or buffers, and on NICs whatever touches a sender. Where
// the instant of a departure matters to others (a switch with an ingress in XOFF) its ports are
// explicit. With network_set_plain all are, for ever: the oracle of this path.
void port_settle_past(struct network *net, uint32_t port, ps_t now);
static inline void port_settle(struct network *net, uint32_t port, ps_t now)
{
    const struct port *p = &net->ports[port];
    if (p->wake_ps <= now && !(p->flags & PORT_EXPLICIT))
        port_settle_past(net, port, now);
}
void network_settle(struct network *net, ps_t now); // every port
uint64_t network_held(const struct network *net);   // packets in queues, in flight and in NICs' PFC
void port_set_explicit(struct network *net, uint32_t port, bool is_explicit, ps_t now);
void port_pin_explicit(struct network *net, uint32_t port); // for ever; before the first event
void network_set_plain(struct network *net);                // all of them

// Routes have changed: what hints have decided for packets on links holds no longer.
void network_undecide(struct network *net);

// Would a packet for the slot start at once if it were enqueued now? The port must be settled.
static inline bool port_is_idle(const struct port *port, unsigned slot, ps_t now)
{
    return port->busy_until_ps <= now && !(port->waiting & ~port->paused) &&
           !(port->paused >> slot & 1);
}

// Start a packet on a port that is idle for its class: it is never held, and depart is not called.
void port_start(struct network *net, uint32_t port, struct packet *p, ps_t now);

// Put a packet into the queue of a slot of a settled port that is not idle for it. Returns it there.
struct packet *port_hold(struct network *net, uint32_t port, unsigned slot, const struct packet *p,
                         ps_t now);

static inline const struct link *port_link(const struct network *net, uint32_t port)
{
    return &net->links[net->ports[port].link];
}

// Something may have become sendable on the port: start it, or see to it that a departure is
// pending. `busy_until` of the future is respected.
void port_kick(struct network *net, uint32_t port, ps_t now);

// Take the first packet of a class's queue out without sending it; false when there is none. The port is
// settled, and depart is not called.
bool port_drop_head(struct network *net, uint32_t port, unsigned slot, struct packet *p, ps_t now);

// Pauses of a class are not obeyed from now on (a running one ends), or are again.
void port_ignore_pauses(struct network *net, uint32_t port, unsigned cls, bool ignore, ps_t now);

// Send a PFC frame from a port: stop (quanta > 0) or restart (0) the classes of the vector.
void port_send_pfc(struct network *net, uint32_t port, uint8_t classes, uint16_t quanta, ps_t now);

// A PFC frame has arrived at `port`'s node by that port (net/pause.c).
void port_receive_pfc(struct network *net, uint32_t port, const struct packet *p, ps_t now);
void port_apply_pending_pfc(struct network *net, uint32_t port, ps_t now);
void pause_expired(struct engine *engine, struct sim_timer *timer, int revents);

// Time that a class of the port has been paused until `now`.
ps_t port_paused_ps(const struct network *net, uint32_t port, unsigned cls, ps_t now);

// A packet ends here: its meta-data is freed.
static inline void packet_end(struct network *net, struct packet *p)
{
    if (p->meta) {
        meta_free(&net->meta, p->meta);
        p->meta = 0;
    }
}

// A packet that wanted to leave by the port is dropped: it is counted, and ends.
void network_drop(struct network *net, uint32_t port, struct packet *p, enum drop_reason reason);
// The same for one that was on its link.
void network_lose(struct network *net, uint32_t port, struct packet *p, enum drop_reason reason);

// The fault of the link that leaves a port, made without effect when first asked for.
struct fault *network_fault(struct network *net, uint32_t port);

static inline struct queue *port_queue(const struct network *net, uint32_t port, unsigned slot)
{
    return slot == net->data_slot ? &net->ports[port].queue
                                  : &net->queues[(size_t)port * net->n_slots + slot];
}
static inline uint32_t node_port(const struct network *net, uint32_t node, uint32_t local)
{
    return net->first_port[node] + local;
}
static inline bool node_is_rank(const struct network *net, uint32_t node)
{
    return node < net->n_ranks;
}
static inline bool port_class_paused(const struct network *net, uint32_t port, unsigned cls)
{
    return net->ports[port].paused >> net->slot_of_class[cls] & 1;
}
// Index of a data class in use at a port, for tables [n_ports * n_data].
static inline uint32_t port_data_index(const struct network *net, uint32_t port, unsigned cls)
{
    return port * net->n_data + net->slot_of_class[cls] - net->data_slot;
}
static inline const struct node_ops *node_ops_of(const struct network *net, uint32_t node)
{
    return &net->ops[net->kinds[node]];
}

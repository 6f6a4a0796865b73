// SPDX-License-Identifier: MIT
// Ports, links and the handling of a packet over one hop, the same for switches and NICs.
//
// A port has one queue for each class in use, and one for PFC frames. A queue's index at its port
// is called its slot. PFC frames and the control class have strict priority; data classes share the
// remaining bandwidth by weight (net/drr.h). A link holds its packets in flight in order, and only
// the first of them is a pending event. The node_ops of a node (switch, rank or router) define what
// it does with packets. A rank that forwards for others (a router) shares its ports between transit
// packets, which are queued, and its own packets, which are pulled. When both wait, the port
// alternates between them, one data packet each.
#pragma once

#include "engine/engine.h"
#include "engine/timer.h"
#include "net/fault.h"
#include "net/fifo.h"
#include "net/meta.h"
#include "net/node_kind.h"
#include "net/packet_ring.h"
#include "net/tap.h"

#define NET_CLASSES 8
#define NET_MAX_SLOTS (NET_CLASSES + 1)
#define NET_ALL_SLOTS ((1u << NET_MAX_SLOTS) - 1) // bit set
// slot of PFC frames (MAC control), which precede every class and are never paused
#define NET_PFC_SLOT 0
#define NET_PFC_FRAME_BYTES 64

#define NET_CLASS_DATA 3   // class of data by default
#define NET_DATA_CLASSES 6 // classes 0 to 5 carry data; class 7 is reserved for network protocols
#define NET_CLASS_CONTROL 6
#define NET_QUANTUM_BYTES 16384 // default quantum of a class: larger than any frame

enum port_flag {
    PORT_PULLS = 1,   // calls pull() of its node for a packet when its queues are empty
    PORT_SPECIAL = 2, // its transmissions need more than the usual steps: port_cold.special
    PORT_DEPARTURE_EVENTS = 4, // its departures are scheduled as events
    PORT_FAULTY = 8,           // its link has an entry in `faults`
    PORT_ROUTES = 16,          // port of a router: alternates between queued and pulled packets
    PORT_CROSSES = 32,         // its link leaves its tile: it catches up at the end of a window
    PORT_DUE = 64,             // listed for the catch-up at the end of a window (net/crossing.h)
};

// Further steps that a transmission needs.
enum port_special {
    SPECIAL_TAPPED = 1,   // calls net->tap for each packet that it starts
    SPECIAL_EARLY = 2,    // the far end forwards by cut-through: link.header_bytes
    SPECIAL_CREDITS = 4,  // needs credit of the far end (net/credit_balance.h)
    SPECIAL_RETRY = 8,    // the link resends packets that a fault loses (fault_retry)
    SPECIAL_CROSSES = 16, // the far end belongs to another shard (net/crossing.h)
};

// A cut-through switch decides after this many wire bytes of a packet: preamble, Ethernet, IPv4 and
// UDP headers, and the transport's.
#define NET_CUT_THROUGH_BYTES 64

#define NET_NODE_BITS 25 // of a port's peer; events have 22 bits for a node (engine/event_queue.h)
#define NET_MAX_LINKS (1u << 20) // kinds of links: a port has 20 bits for their index

// Properties shared by all ports with the same kind of link. There are few kinds, so they stay in
// the cache, unless every NIC has a clock of its own.
struct link {
    struct byte_time byte_time;
    ps_t delay_ps;         // includes the latency of the switch behind the link
    uint32_t header_bytes; // a packet arrives as soon as so many of its bytes have; 0 = all
};

// Wire bytes of a packet after which it arrives; header_bytes as in struct link.
static inline uint32_t arriving_bytes(uint32_t header_bytes, uint32_t wire_bytes)
{
    return header_bytes > 0 && header_bytes < wire_bytes ? header_bytes : wire_bytes;
}

// Time from the start of a packet's transmission to its arrival.
static inline ps_t link_flight_ps(const struct link *link, uint32_t wire_bytes)
{
    return link->delay_ps +
           byte_time_span(&link->byte_time, arriving_bytes(link->header_bytes, wire_bytes));
}

struct queue {
    struct fifo fifo;
    uint64_t bytes;                        // frame bytes in the queue
    uint32_t quantum_bytes, deficit_bytes; // share among the data classes, in wire bytes
};
_Static_assert(sizeof(struct queue) == 32, "struct queue is half a cache line");

// One output port and the link behind it, in two cache lines. A packet that finds the port idle
// accesses only the first line; a packet that waits also accesses the second, which the CPU fetches
// along with the first.
struct port {
    /* hot state */
    ps_t busy_until_ps;
    ps_t wake_ps; // next departure; PS_NEVER = none. If it is past, the port must catch up.
    struct ring flight;
    uint64_t tx_bytes, tx_packets; // counters, in wire bytes
    /* hot config */
    uint32_t node;
    unsigned peer_node : NET_NODE_BITS;
    unsigned flags : 7; // enum port_flag
    unsigned peer_local : 12;
    unsigned link : 20; // index of its struct link
    // State, a bit per slot (queue of a class): `waiting`, the slot holds packets; `paused`, PFC
    // has paused it. Whole words, since they are read for every packet and a bit-field is slower.
    uint16_t waiting, paused;
    /* state where packets wait */
    struct queue queue;    // queue of the first data class
    uint64_t queued_bytes; // frame bytes of all classes, without PFC frames
    uint64_t max_queued_bytes;
    uint64_t wait_byte_ps; // sum of frame bytes * waiting time, modulo 2^64: port_cold.wait_wraps
    uint64_t carry;        // sub-picosecond remainder of the current busy period
};
_Static_assert(sizeof(struct port) == 128 && offsetof(struct port, queue) == 64,
               "struct port is two cache lines");

// The fields of a port that are rarely accessed.
struct port_cold {
    uint32_t peer; // port at the other end of the link
    uint16_t local;
    bool pinned;            // departures are always events
    unsigned first_link;    // index of its struct link at the beginning
    uint64_t earlier_bytes; // wire bytes sent at earlier rates of the link,
    double earlier_ps;      // and the time that they took
    uint8_t special;        // bit set of enum port_special
    bool own_turn;          // PORT_ROUTES: a pulled packet precedes a queued one; set by the node
    unsigned turn;          // slot of the data class whose turn it is
    double
        control_yield;   // wire bytes of data that follow one of the control class where both wait;
                         // 0 = strict priority
    double control_debt; // wire bytes of data that are due before the control class sends again
    struct drops dropped, lost; // packets that should have left by the port; packets lost on its
                                // link
    uint64_t wait_wraps;        // high 64 bits of port.wait_byte_ps
};

// Source of a pause of the far end of a link. A router and the NIC of its rank share ports: a class
// is resumed when neither holds it.
enum pfc_source { PFC_SWITCH, PFC_NIC, PFC_SOURCES };

// State of received PFC pauses for one class of a port; rarely accessed.
struct pause {
    ps_t until_ps;   // time of expiry
    ps_t since_ps;   // start of the current pause
    ps_t total_ps;   // time paused so far, without the current pause
    ps_t ended_ps;   // end of the last pause
    uint64_t pauses; // number of changes from running to paused
};

struct port_pfc {
    struct pause cls[NET_CLASSES];
    struct sim_timer expiry;
    ps_t response_ps;             // delay from the arrival of a PFC frame to its effect
    struct fifo pending;          // PFC frames that have arrived but not yet taken effect
    uint64_t tx_pause, tx_resume; // PFC frames sent by this port, refreshes included
    uint64_t rx_frames;
    uint16_t stopped;    // bit set of slots that PFC has paused; port.paused also has those of a
                         // dark port
    bool dark;           // no packet may start: the port's optical circuit has no light
    uint8_t pfc_ignored; // bit set of classes that ignore pauses
    uint8_t held[PFC_SOURCES]; // classes with an XOFF from this port and no XON yet
};

struct network;

struct network {
    struct engine *engine;
    struct node_ops ops[NET_NODE_KINDS];
    uint8_t *kinds;         // [node] enum net_node_kind
    struct ring_pool rings; // packets in flight
    struct fifo_pool pool;  // packets in queues
    struct meta_pool meta;
    struct port *ports;     // aligned to pairs of cache lines
    struct port_cold *cold; // [port]
    struct link *links;
    uint32_t n_links; // above NET_MAX_LINKS the network must not be used
    size_t cap_links;
    uint32_t *link_table; // hash table over `links`: index + 1, 0 = free; a power of two of entries
    size_t cap_table;
    struct queue *queues; // [port * n_slots + slot]; the first data class uses port.queue instead
    struct port_pfc *pfc; // [port]
    struct credit_port *credits; // [port]; NULL = no port has credits (net/credit_balance.h)
    struct fault *faults; // [port]; faults of the link behind the port; NULL = no faults at all
    uint32_t *first_port; // [node] index of the node's first port; one more entry at the end
    uint32_t n_ranks, n_nodes, n_ports, n_slots; // n_ranks: endpoints, aggregators included
    uint8_t slot_of_class[NET_CLASSES];          // NET_NO_SLOT = class not in use
    uint8_t class_of_slot[NET_MAX_SLOTS];
    uint32_t n_data, data_slot; // number of data classes in use; their slots start at data_slot
    uint32_t shared_slots;      // bit set of the data slots if there are several, else 0
    bool arbitrates; // there are several data classes, ports of routers, or a limited control class
    uint32_t pfc_wire_bytes;
    struct tap tap;
    struct network_shards *shards; // net/crossing.h; NULL = the simulation has one shard
    uint32_t shard;                // number of this network's shard
    uint32_t hinted_port;          // output port of the packet of the next event, as returned by
                                   // node_ops.hint
    uint64_t packet_hops;
    struct drops drops[DROP_REASONS];
};
#define NET_NO_SLOT 0xff

// Initialise a network of `n_nodes` nodes and no links. network_set_port must follow for every
// port, in order of (node, local). `classes` is the bit set of classes in use.
void network_init(struct network *net, struct engine *engine, uint32_t n_ranks, uint32_t n_nodes,
                  uint32_t n_ports, uint8_t classes);
void network_free(struct network *net);

// Register the network's event handlers; called by network_init.
void network_handle_events(struct network *net);

// Returns true if less than a sixteenth of one of the packet pools is left.
bool network_pools_low(const struct network *net);

// Turn software prefetch on or off (default). It pays only if the working set exceeds the cache.
// Call before the first event.
void network_set_hints(struct network *net, bool on);

struct port_config {
    uint32_t node, local, peer, peer_local, peer_node;
    uint64_t rate_bps;
    ps_t delay_ps;
    uint32_t header_bytes; // as in struct link
};
void network_set_port(struct network *net, uint32_t port, const struct port_config *config);

// Change the rate of a port, and the bytes after which a packet arrives at the far end (struct
// link), for packets that start from now on. Departures of the port must be events
// (port_pin_departure_events).
void network_change_rate(struct network *net, uint32_t port, uint64_t rate_bps,
                         uint32_t header_bytes, ps_t now);

// Set the wire bytes that a data class may send per turn while other classes wait.
void network_set_quantum(struct network *net, uint32_t port, unsigned cls, uint32_t bytes);

// Limit the control class to a share (above 0) of the port's link while data waits; 1 = no limit.
// Call before the first event.
void network_set_control_share(struct network *net, uint32_t port, double share);

// Send a packet by a port. It starts at once if the port is idle for its class, else it waits in
// the queue of its class.
void port_enqueue(struct network *net, uint32_t port, struct packet *p, ps_t now);

// Let every transmission of a port take the steps of a bit of enum port_special.
static inline void network_make_special(struct network *net, uint32_t port, enum port_special what)
{
    net->ports[port].flags |= PORT_SPECIAL;
    net->cold[port].special |= (uint8_t)what;
}

// Call net->tap for every packet that the port starts.
void network_tap_port(struct network *net, uint32_t port);

// Set the delay from the arrival of a PFC frame by the port to its effect (IEEE 802.1Qbb).
void network_set_pfc_response(struct network *net, uint32_t port, ps_t response_ps);

// Statistics of a port up to a given time.
struct port_stats {
    uint64_t tx_bytes, tx_packets;        // wire bytes
    uint64_t max_queued_bytes;            // frame bytes
    uint64_t pause_frames, resume_frames; // PFC frames sent
    struct drops drops;                   // includes packets lost on its link
    double busy_ps;                       // total time of its transmissions
    double queued_byte_ps;                // integral of the queued bytes over time
};
struct port_stats port_stats(const struct network *net, uint32_t port, ps_t now);

// Free the memory of all packets. The run must have ended.
void network_free_packets(struct network *net);

// Departures are scheduled as events only where they must be. Otherwise a port's departures are
// computed later, in order and with their own times, when port_catch_up() lets the port catch up
// with the clock. It must be called before anything reads or changes the port: before enqueue,
// before a change of its pauses, before the delivery of its link's first packet (so that the next
// arrival is scheduled in time), before queues or buffers are read, and on a NIC before a sender
// changes. Departures are events where their exact time affects other nodes (a switch with an
// ingress in XOFF). With network_set_reference() all departures are events in the whole run; this
// reference engine must give the same results.
void port_replay_departures(struct network *net, uint32_t port, ps_t now);
static inline void port_catch_up(struct network *net, uint32_t port, ps_t now)
{
    const struct port *p = &net->ports[port];
    if (p->wake_ps <= now && !(p->flags & PORT_DEPARTURE_EVENTS))
        port_replay_departures(net, port, now);
}
// Let the port catch up when a packet arrives by its link. A port of another tile has caught up at
// the end of the window.
static inline void port_catch_up_behind(struct network *net, uint32_t port, ps_t now)
{
    const struct port *p = &net->ports[port];
    if (p->wake_ps <= now && !(p->flags & (PORT_DEPARTURE_EVENTS | PORT_CROSSES)))
        port_replay_departures(net, port, now);
}
void network_catch_up(struct network *net, ps_t now); // all ports

// Let a port catch up whose node may differ from the node of the present event. By the order of
// events, an event at `now` precedes the departures at `now` of nodes with larger numbers, so these
// are not computed yet. With `ranks_per_port` a rank has a node in each dimension, and an arrival
// at one of them may post a message at another.
void port_catch_up_before(struct network *net, uint32_t port, ps_t now);
void network_catch_up_before(struct network *net, ps_t now); // all ports

// Returns the number of packets in queues, in flight and waiting for the PFC response time.
uint64_t network_held(const struct network *net);

// Start or stop scheduling the departures of a port as events. Pinned: for the whole run; to be
// called before the first event.
void port_set_departure_events(struct network *net, uint32_t port, bool with_events, ps_t now);
void port_pin_departure_events(struct network *net, uint32_t port);
void network_set_reference(struct network *net); // all ports

// The first packet in flight behind a port becomes an event.
static inline void port_push_arrival(struct network *net, uint32_t index, ps_t arrives_ps)
{
    const struct port *port = &net->ports[index];
    engine_push_later(net->engine, arrives_ps,
                      event_key(port->peer_node, EVENT_ARRIVAL, port->peer_local, index));
}

// Discard the output ports that were chosen in advance for packets on links, after routes have
// changed.
void network_undecide(struct network *net);

// Returns true if a packet for the slot would start at once. The port must have caught up.
static inline bool port_is_idle(const struct port *port, unsigned slot, ps_t now)
{
    return port->busy_until_ps <= now && !(port->waiting & ~port->paused) &&
           !(port->paused >> slot & 1);
}

// Start a packet on a port that is idle for its class. It is not queued, and depart() is not
// called.
void port_start(struct network *net, uint32_t port, struct packet *p, ps_t now);

// Append a packet to the queue of a slot and return its place there. The port must have caught up
// and must not be idle for the slot.
struct packet *port_hold(struct network *net, uint32_t port, unsigned slot, const struct packet *p,
                         ps_t now);

static inline const struct link *port_link(const struct network *net, uint32_t port)
{
    return &net->links[net->ports[port].link];
}

// Returns the link as it was before any fault changed its rate.
static inline const struct link *port_first_link(const struct network *net, uint32_t port)
{
    return &net->links[net->cold[port].first_link];
}

// Call when a packet may have become ready to send: starts it if the port is free, else makes sure
// that a departure is pending.
void port_kick(struct network *net, uint32_t port, ps_t now);

// Remove the first packet of a slot's queue into *p without sending it. Returns false if there is
// none. The port must have caught up; depart() is not called.
bool port_drop_head(struct network *net, uint32_t port, unsigned slot, struct packet *p, ps_t now);

// Put *p into the place of the last packet of a slot's queue, which is moved to *last. The queue
// must not be empty, and the port must have caught up; depart() is not called.
void port_replace_last(struct network *net, uint32_t port, unsigned slot, const struct packet *p,
                       struct packet *last, ps_t now);

// Ignore pauses of a class from now on, which ends a current pause, or obey them again.
void port_ignore_pauses(struct network *net, uint32_t port, unsigned cls, bool ignore, ps_t now);

// Stop all transmissions of a port after the current packet, or let them go on: the port of a
// circuit without light. Packets wait as in a pause, which is not counted as one.
void port_set_dark(struct network *net, uint32_t port, bool dark, ps_t now);

// Cause of a PFC frame: its source and, for captures, the reason.
struct pfc_cause {
    enum pfc_source source;
    uint64_t held_bytes, limit_bytes; // of the ingress: held, and the limit; limit 0 = not known
    const struct packet *trigger;     // the packet that has just arrived; NULL = another reason
    bool renews;                      // the pause has begun before
};

// Send a PFC frame by a port for the classes of the bit set: XOFF with quanta > 0, XON with 0. With
// `cause` NULL it is sent regardless of the classes that switch and NIC hold.
void port_send_pfc(struct network *net, uint32_t port, uint8_t classes, uint16_t quanta,
                   const struct pfc_cause *cause, ps_t now);

// Handles a PFC frame that arrived by `port` (net/pause.c).
void port_receive_pfc(struct network *net, uint32_t port, struct packet *p, ps_t now);
void port_apply_pending_pfc(struct network *net, uint32_t port, ps_t now);
void pause_expired(struct engine *engine, struct sim_timer *timer, int revents);

// Stop a class of a port whose pauses PFC does not control, until port_resume_class(). The port
// must have caught up.
void port_stop_class(struct network *net, uint32_t port, unsigned cls, ps_t now);
void port_resume_class(struct network *net, uint32_t port, unsigned cls, ps_t now);

// Returns how long a class of the port has been paused until `now`.
ps_t port_paused_ps(const struct network *net, uint32_t port, unsigned cls, ps_t now);

// Free the meta-data of a packet that is no longer needed.
static inline void packet_end(struct network *net, struct packet *p)
{
    if (p->meta) {
        meta_free(&net->meta, p->meta);
        p->meta = 0;
    }
}

// Count and discard a packet that should have left by the port.
void network_drop(struct network *net, uint32_t port, struct packet *p, enum drop_reason reason,
                  struct drop_level level, ps_t now);
// Count and discard a packet that was on the link behind the port.
void network_lose(struct network *net, uint32_t port, struct packet *p, enum drop_reason reason,
                  ps_t now);

// Let the link behind a port resend packets that its fault loses. Call before the first event.
void network_set_retry(struct network *net, uint32_t port);

// Returns the fault of the link behind a port; the first call creates one without effect.
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
// Returns the index of a port and data class in tables of size [n_ports * n_data].
static inline uint32_t port_data_index(const struct network *net, uint32_t port, unsigned cls)
{
    return port * net->n_data + net->slot_of_class[cls] - net->data_slot;
}
static inline const struct node_ops *node_ops_of(const struct network *net, uint32_t node)
{
    return &net->ops[net->kinds[node]];
}

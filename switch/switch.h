// SPDX-License-Identifier: MIT
// The PFC switches of a network: table-driven forwarding, shared buffer, marking, XOFF and XON.
#pragma once

#include <stdalign.h>

#include "net/network.h"
#include "net/pfc_sender.h"
#include "switch/counters.h"
#include "switch/marking.h"
#include "switch/meter.h"
#include "switch/mmu.h"
#include "switch/routing.h"
#include "switch/telemetry.h"
#include "switch/trimming.h"
#include "switch/watchdog.h"

// Bits of switch_node.marking: marking beyond RED at departure.
enum switch_marking_bit {
    SWITCH_MARKS_PI = 1,         // by a PI controller
    SWITCH_MARKS_AT_ARRIVAL = 2, // by the queue when a packet is enqueued
    SWITCH_DROPS_NOT_ECT = 4,    // in lossy data classes, instead of marking
};

// The output port to each destination, built by net/topology/routes.h: a 16-bit entry per group of
// ranks, which is a port of the node, NEXT_SET | index of a set of equal-cost ports, NEXT_HERE (the
// rank's own port is in own[]), or NEXT_NONE. The tables are borrowed; sim/ fills them in.
#define NEXT_SET 0x8000u
#define NEXT_HERE 0xfffeu
#define NEXT_NONE 0xffffu
struct next_hops {
    const uint16_t *next;  // [group]
    const uint32_t *group; // [rank]
    const uint16_t *own;   // [rank]
    const struct next_hop_set {
        uint32_t first, count;
    } * sets; // sets and ports are never NULL
    const uint16_t *ports;
};

struct switch_port {
    struct switch_port_counters counters;
    struct rng rng; // for marking decisions
    struct pfc_sender pfc;
    struct tie {
        ps_t taken_ps;    // arrival of the last packet that its full queue has taken
        uint32_t refused; // since, of those that have arrived while it arrived
    } tie;
    uint64_t rate_bps;  // rate of its link, for INT
    double limit_share; // share of the lossy queues' limits that is left after a fault; 0 = all
    uint32_t xoff_cause,
        xoff_votes; // as an ingress: the output port that caused most of its XOFFs, and its votes
};

// A switch, or the router of a rank in a direct dimension, which owns the rank's ports of that
// dimension. The functions of a switch treat a router as one more node, numbered after the
// switches, whose ports start at first_port.
struct switch_node {
    /* forwarding: one cache line */
    alignas(64) struct next_hops routes;
    uint64_t hash_seed;
    uint64_t
        mark_from_bytes; // lowest kmin of its ports: a shorter queue is never marked at departure
    uint32_t node_port;  // first port of its node, from which next hops are counted
    uint32_t first_port; // first of its own ports
    /* read and counted for every packet, in the next line */
    struct switch_counters counters;
    uint8_t int_mode; // enum int_mode
    uint8_t marking;  // bit set of enum switch_marking_bit
    uint8_t lossless; // bit set of lossless classes
    uint8_t credits;  // lossless classes with credits instead of PFC
    bool draws_ties;  // else the first packet takes the room in a full queue
    uint16_t quanta;  // quanta of an XOFF
    struct mmu mmu;   // with slices: their common settings and all ingresses
    struct routing routing;
    struct trimming trimming;
    struct mmu *slices;  // slices of the buffer; NULL = one
    uint32_t n_slices;   // a port uses slice (port modulo n_slices)
    uint32_t cell_bytes; // a packet occupies whole cells of the buffer; 0 = its frame
    uint32_t n_ports;
    uint32_t row, dim;                            // row and dimension of its routes
    ps_t watchdog_detect_ps, watchdog_restore_ps; // PS_NEVER = no watchdog
    ps_t int_rtt_ps;                              // INT_PINT: averaging window of the utilization
};
_Static_assert(offsetof(struct switch_node, counters) == 64, "forwarding reads one line");

struct switches {
    struct network *net;
    struct switch_node *nodes; // [node - n_ranks] switches, then routers
    uint32_t n_switches, n_routers;
    uint32_t *router_at;        // [port of a rank]: index into nodes plus 1, 0 = none; NULL without
                                // routers
    struct switch_port *ports;  // [global port]; not used for ports of ranks without a router
    struct marking *markings;   // [port_data_index]: marking of each class's queue
    struct watchdog *watchdogs; // [port_data_index]; NULL if no switch has a watchdog
    uint32_t n_watchdogs_armed;
    struct trim_port *trims;         // [global port]; NULL if no switch trims
    struct link_quality **qualities; // [dimension] NULL = none measured there
    uint32_t n_qualities;
    struct pint_port *pints;   // [global port]; NULL if no switch uses INT_PINT
    struct meter *meters;      // NULL = none
    struct meter_at *meter_at; // [global port]; NULL = no meters
};

// Attach to a network whose ports are set. nodes[] and ports[] are zeroed, and the caller fills
// them.
void switches_init(struct switches *sw, struct network *net, uint32_t n_routers);
void switches_free(struct switches *sw);

// The switches of a network in shards (net/crossing.h): [shard] with the shard's network, and all
// else shared. Free the array after the switches, and call switches_unite() before.
struct switches *switches_shard(struct switches *sw);
// Add the counters of the shards to those of all switches.
void switches_unite(struct switches *sw, const struct switches *shards);

// Release the buffer of a packet that leaves a switch, and send an XON if that is due.
void switch_release(struct switches *sw, struct switch_node *s, const struct packet *p, ps_t now);

// Mark at arrival, and update the PI controller, for a packet of a data class that enters a queue
// with `held_bytes` of its class. Call only if s->marking is not 0.
void switch_mark_arrival(struct switches *sw, struct switch_node *s, uint32_t port,
                         struct packet *p, uint64_t held_bytes, ps_t now);

// Returns the local output port of packets to `dst` with this entropy, or SWITCH_WAYS if there is
// none, or if the choice depends on more than both.
#define SWITCH_WAYS UINT32_MAX
uint32_t switch_way(const struct switch_node *s, uint32_t dst, uint32_t entropy);

// Give nodes[index] its ports, which must all belong to one node. Call once for each switch and
// router.
void switch_attach(struct switches *sw, uint32_t index, uint32_t first_port, uint32_t n_ports);

// Turn every rank that has routers into a node of kind NET_ROUTER. NET_RANK's operations handle its
// own packets, NET_SWITCH's operations the packets in transit.
void routers_attach(struct switches *sw);

static inline struct switch_node *switch_of(const struct switches *sw, uint32_t node)
{
    return &sw->nodes[node - sw->net->n_ranks];
}

// Returns the switch or router that owns an output port, or NULL.
static inline struct switch_node *switch_of_port(const struct switches *sw, uint32_t port)
{
    uint32_t node = sw->net->ports[port].node;
    if (!node_is_rank(sw->net, node))
        return switch_of(sw, node);
    uint32_t at = sw->router_at ? sw->router_at[port] : 0;
    return at > 0 ? &sw->nodes[at - 1] : NULL;
}

static inline struct marking *switch_marking(const struct switches *sw, uint32_t port, unsigned cls)
{
    return &sw->markings[port_data_index(sw->net, port, cls)];
}

// Let the switches account for slices, cells and credits and pass meters, since some switch has
// them. Call before the first event.
void switches_extend(struct switches *sw);

// switch_mmu(): the buffer of packets that arrive by port `local`; switch_occupied(): bytes that a
// packet occupies there.
static inline struct mmu *switch_mmu(struct switch_node *s, uint32_t local)
{
    return s->slices ? &s->slices[local % s->n_slices] : &s->mmu;
}
static inline uint32_t switch_occupied(const struct switch_node *s, const struct packet *p)
{
    uint32_t cell = s->cell_bytes;
    return cell > 0 ? (p->frame_bytes + cell - 1) / cell * cell : p->frame_bytes;
}
// The slice with the highest peak of shared bytes, or the whole buffer; for reports.
static inline const struct mmu *switch_fullest(const struct switch_node *s)
{
    const struct mmu *most = s->slices ? &s->slices[0] : &s->mmu;
    for (uint32_t i = 1; s->slices && i < s->n_slices; i++)
        most = s->slices[i].max_shared_used > most->max_shared_used ? &s->slices[i] : most;
    return most;
}

// Returns the MMU's index of a class: the slot, without the slot of PFC frames.
static inline uint32_t mmu_class(const struct network *net, unsigned cls)
{
    return net->slot_of_class[cls] - 1u;
}

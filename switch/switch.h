// SPDX-License-Identifier: MIT
// PFC switches of a network: forwarding by table, shared buffer, marking, pause and resume.
#pragma once

#include <stdalign.h>

#include "net/network.h"
#include "switch/marking.h"
#include "switch/mmu.h"
#include "switch/routing.h"
#include "switch/telemetry.h"
#include "switch/watchdog.h"

// Output ports towards a destination, as topology/routes.h has them: 16 bits a group of ranks, a
// port of the node, NEXT_SET | index of a set of equal ones, NEXT_HERE (the rank's own port), or
// NEXT_NONE. Borrowed; filled in by sim/.
#define NEXT_SET 0x8000u
#define NEXT_HERE 0xfffeu
#define NEXT_NONE 0xffffu
struct next_hops {
    const uint16_t *next;        // [group]
    const uint16_t *group, *own; // [rank]
    const struct next_hop_set {
        uint32_t first, count;
    } * sets; // these two are never NULL
    const uint16_t *ports;
};

struct switch_port {
    uint64_t marked;
    struct rng rng;           // of the marks
    struct sim_timer refresh; // of the pauses this port has asked for
    uint8_t asked;            // classes that it has paused
    ps_t refresh_every_ps;
    uint64_t rate_bps; // of its link, for INT
    uint32_t blamed,
        blame; // as an ingress: the output most of its XOFFs were for, by majority vote
};

// A switch, or the router of a rank in a direct dimension: there the rank's ports of that dimension
// are its own. To the functions of a switch it is a node like the others, numbered behind them,
// whose ports count from first_port on.
struct switch_node {
    /* forwarding: one line */
    alignas(64) struct next_hops routes;
    uint64_t hash_seed;
    uint64_t mark_from_bytes; // the lowest kmin of its ports: no mark at a shorter queue
    uint32_t node_port;       // first port of its node: next hops count from it
    uint32_t first_port;      // its ports
    /* what every packet reads and counts beside it */
    uint64_t markable; // packets with ECT that left
    uint8_t int_mode;  // enum int_mode
    bool pi;           // some of its ports mark by PI
    uint8_t lossless;  // classes
    uint16_t quanta;   // of an XOFF
    struct mmu mmu;
    struct routing routing;
    uint32_t n_ports;
    uint32_t row, dim;                            // of the routes
    ps_t watchdog_detect_ps, watchdog_restore_ps; // PS_NEVER = no watchdog
    ps_t int_rtt_ps;                              // INT_PINT: the window of utilization
};
_Static_assert(offsetof(struct switch_node, markable) == 64, "forwarding reads one line");

struct switches {
    struct network *net;
    struct switch_node *nodes; // [node - n_ranks], then routers
    uint32_t n_switches, n_routers;
    uint32_t *router_at;       // [port of a rank]: index into nodes, 0 = none; NULL without routers
    struct switch_port *ports; // [global port]; those of ranks that do not route are unused
    struct marking *markings;  // [port_data_index]: of each class's queue
    struct watchdog *watchdogs; // [port_data_index], NULL where no switch has one
    uint32_t n_watchdogs_armed;
    struct pint_port *pints; // [global port], NULL where no switch has INT_PINT
};

// Attach to a network whose ports are set; nodes[] and ports[] are zeroed for the caller to fill.
void switches_init(struct switches *sw, struct network *net, uint32_t n_routers);
void switches_free(struct switches *sw);

// A packet leaves the buffer of a switch: XON where that lets its ingress go on.
void switch_release(struct switches *sw, struct switch_node *s, const struct packet *p, ps_t now);

// nodes[index] has these ports, all of one node. Once each.
void switch_attach(struct switches *sw, uint32_t index, uint32_t first_port, uint32_t n_ports);

// Make every rank with routers a node of kind NET_ROUTER. Its own packets are handled by the ops of
// NET_RANK, those in transit by the ops of NET_SWITCH.
void routers_attach(struct switches *sw);

static inline struct switch_node *switch_of(const struct switches *sw, uint32_t node)
{
    return &sw->nodes[node - sw->net->n_ranks];
}

// The switch or router that an output port belongs to, or NULL.
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

// MMU class index of a class: the slot without PFC's.
static inline uint32_t mmu_class(const struct network *net, unsigned cls)
{
    return net->slot_of_class[cls] - 1u;
}

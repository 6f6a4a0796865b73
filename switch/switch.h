// SPDX-License-Identifier: MIT
// PFC switches of a network: forwarding by table, shared buffer, marking, pause and resume.
#pragma once

#include "net/network.h"
#include "switch/marking.h"
#include "switch/mmu.h"
#include "switch/routing.h"
#include "switch/telemetry.h"
#include "switch/watchdog.h"

// Output ports towards a destination, as topology/routes.h has them: 16 bits a group of ranks, a local
// port, NEXT_SET | index of a set of equal ones, NEXT_HERE (the rank's own port), or NEXT_NONE.
// Borrowed; filled in by sim/.
#define NEXT_SET 0x8000u
#define NEXT_HERE 0xfffeu
#define NEXT_NONE 0xffffu
struct next_hops {
    const uint16_t *next;        // [group]
    const uint16_t *group, *own; // [rank]
    const struct next_hop_set {
        uint32_t first, count;
    } * sets;
    const uint16_t *ports;
};

struct switch_port {
    uint64_t marked;
    struct rng rng;           // of the marks
    struct sim_timer refresh; // of the pauses this port has asked for
    uint8_t asked;            // classes that it has paused
    ps_t refresh_every_ps;
    uint64_t dropped_packets, dropped_bytes; // that wanted to leave by this port
    uint64_t rate_bps;                       // of its link, for INT
};

struct switch_node {
    struct mmu mmu;
    struct next_hops routes;
    struct routing routing;
    uint64_t hash_seed;
    uint64_t mark_from_bytes; // the lowest kmin of its ports: no mark at a shorter queue
    uint64_t markable;        // packets with ECT that left
    uint16_t quanta;          // of an XOFF
    uint8_t lossless;         // classes
    bool pi;                  // some of its ports mark by PI
    ps_t watchdog_detect_ps, watchdog_restore_ps; // PS_NEVER = no watchdog
    uint8_t int_mode;                             // enum int_mode
    ps_t int_rtt_ps;                              // INT_PINT: the window of utilization
    /* counters */
    uint64_t drops_headroom, drops_lossy, drops_unroutable;
};

struct switches {
    struct network *net;
    struct switch_node *nodes;  // [node - n_ranks]
    struct switch_port *ports;  // [global port]; those of ranks are unused
    struct marking *markings;   // [port_data_index]: of each class's queue
    struct watchdog *watchdogs; // [port_data_index], NULL where no switch has one
    uint32_t n_watchdogs_armed;
    struct pint_port *pints; // [global port], NULL where no switch has INT_PINT
    const uint32_t *const
        *entropy; // [2][flow] ECMP hash of the 5-tuple: of data, of what comes back
};

// Attach to a network whose ports are set; nodes[] and ports[] are zeroed for the caller to fill.
void switches_init(struct switches *sw, struct network *net);
void switches_free(struct switches *sw);

// A packet leaves the buffer of a switch: XON where that lets its ingress go on.
void switch_release(struct switches *sw, uint32_t node, const struct packet *p, ps_t now);

static inline struct switch_node *switch_of(const struct switches *sw, uint32_t node)
{
    return &sw->nodes[node - sw->net->n_ranks];
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

// SPDX-License-Identifier: MIT
// The network adapter (NIC) of a rank in one dimension, if the key `nic` of the scenario gives it
// limits beyond those of its links. Ranks with an ideal NIC have no adapter, and none of this code
// runs.
//
// A NIC has a pipeline for each direction, which all its ports share. A packet occupies it for
//
//     miss + max(1 / message_rate, bus bytes / bus_rate)
//
// where `miss` is spent if the context of its queue pair is not in the cache. The bus is the NIC's
// way to the memory of its rank: one in each direction (full duplex), or one for both.
//
// Sending: a port's next packet is fetched while the last one is transmitted, so a port pulls when
// it is free and its fetch has ended. Each port has at most one fetch outstanding, and fetches are
// served in the order of their pulls, so ports that are backlogged share the pipeline equally.
//
// Receiving: packets that have arrived wait in a buffer, those of the control class before the
// others, and are handled by the transport when they leave the pipeline. Where a lossless class
// fills the buffer, the NIC pauses it at the ports by which it arrives (or returns no credit, with
// flow_control credit); packets of lossy classes are dropped. The control class has memory of its
// own, which is never full. (Guo et al., SIGCOMM 2016, section 4.4: slow receivers.)
//
// Left out: ACKs and CNPs that the NIC sends take no time in its pipeline; they are received like
// data without payload.
#pragma once

#include "engine/base/rng.h"
#include "net/network.h"
#include "net/pfc_sender.h"
#include "transport/nic/nic_spec.h"
#include <stdbool.h>
#include <stddef.h>

struct qp_cache {
    uint32_t *held; // [place] the context in this place
    size_t room;
    uint32_t n, limit; // places in use; all places
    struct rng rng;
};

// The place of each context in the cache of its NIC.
struct qp_places {
    uint32_t *at; // [context]
    size_t n;
};

// Number of the context of an end of a flow.
static inline uint32_t qp_context(uint32_t flow, bool receives) { return 2 * flow + receives; }

struct hosts;

enum { ADAPTER_SENDS, ADAPTER_RECEIVES, ADAPTER_DIRECTIONS };
enum { ADAPTER_CONTROL, ADAPTER_DATA, ADAPTER_QUEUES };

// Handed over between processes as a whole.
struct adapter_counters {
    uint64_t max_held_bytes, pauses;
    struct drops dropped;
    ps_t busy_ps[ADAPTER_DIRECTIONS], bus_busy_ps[ADAPTER_DIRECTIONS];
    ps_t missed_ps[ADAPTER_DIRECTIONS];
    uint64_t lookups[ADAPTER_DIRECTIONS], misses[ADAPTER_DIRECTIONS]; // of contexts
};

struct adapter {
    /* config */
    struct adapters *all;
    const struct nic_spec *spec;
    uint32_t dim, node, first_port, n_ports;
    uint8_t lossless, credits;      // bit sets of classes; credits: lossless ones with credits
    uint64_t xoff_bytes, xon_bytes; // of the buffer
    uint16_t quanta;                // of its pauses
    /* state */
    ps_t free_ps[ADAPTER_DIRECTIONS], bus_free_ps[ADAPTER_DIRECTIONS];
    struct fifo waiting[ADAPTER_QUEUES]; // packets that have arrived; `ingress`: local port
    uint8_t serves;                      // the queue whose head is in the pipeline
    bool busy;                           // a packet is in the receiving pipeline
    uint64_t held_bytes;                 // frames in the buffer
    struct sim_timer timer;              // the packet in the receiving pipeline leaves it
    struct qp_cache cache;
    struct adapter_counters counters;
};

struct adapter_port {
    struct adapter *adapter; // NULL = the NIC is ideal
    ps_t fetched_ps;         // time from which its next packet may start
    ps_t held_since_ps; // it has a packet to send and waits for the fetch; PS_NEVER = it does not
    ps_t held_ps;       // total of such waits
    uint64_t pauses;    // times the NIC paused a class there
    struct pfc_sender pfc;
};

struct adapters {
    struct hosts *hosts;
    struct node_ops nic; // the hosts' operations without adapters
    struct adapter *list;
    uint32_t n;
    struct adapter_port *ports; // [port of a rank]
    struct qp_places places;
};

// Configuration of an adapter in addition to the settings of its NIC.
struct adapter_config {
    const struct nic_spec *spec;
    uint32_t dim, node, first_port, n_ports;
    uint8_t lossless, credits;
    uint64_t headroom_bytes; // headroom that its lossless classes need together
    uint64_t xon_bytes;      // the pause ends when the buffer is this far below the threshold
    uint16_t quanta;
};

// Insert adapters between the network and the hosts, after hosts_init(); `n` of them follow.
void adapters_attach(struct hosts *hosts, uint32_t n);
// All ports of the adapter must belong to one node; they get departure events.
void adapter_add(struct hosts *hosts, const struct adapter_config *config);
void adapters_free(struct hosts *hosts);

// Give the hosts of a shard (hosts_shard()) adapters of their own over the same arrays, if there
// are any. `below` is the context of the operations without adapters. Returns the context of those
// with adapters, or `below`.
void *adapters_divide(struct hosts *shard, void *below);
void adapters_shard_free(struct hosts *shard);

// Returns the adapter of a port of a rank; NULL = an ideal NIC.
struct adapter *adapter_of_port(const struct hosts *hosts, uint32_t port);

// Returns for how long packets to send by the port have waited for the NIC itself, until `now`.
ps_t adapter_held_ps(const struct hosts *hosts, uint32_t port, ps_t now);

// Returns true if any NIC fetches or handles a packet at `now`.
bool adapters_busy(const struct hosts *hosts, ps_t now);

// Returns the rate of wire bytes at which the NIC of a port writes full packets to its rank: the
// port's share of its NIC, and of a half-duplex bus the half; UINT64_MAX = no limit.
uint64_t adapter_drain_bps(const struct hosts *hosts, uint32_t port, uint32_t wire_bytes,
                           uint32_t payload_bytes);

// SPDX-License-Identifier: MIT
// The settings of the network adapters (NICs) of one dimension, as a scenario gives them: limits in
// addition to those of their links.
#pragma once

#include "engine/base/param.h"

enum bus_duplex { BUS_FULL_DUPLEX, BUS_HALF_DUPLEX };

struct nic_preset;

struct nic_spec {
    const struct nic_preset *preset;
    const char *at;          // patterns of ranks, with commas between them; "" = all ranks
    uint64_t message_rate;   // packets per second in each direction; 0 = no limit
    uint64_t bus_rate_bps;   // of the bus to the host; 0 = no limit
    uint64_t crossings;      // of the bus by a payload: 1, or more where it is staged
    int bus_duplex;          // enum bus_duplex
    uint64_t burst_bytes;    // largest payload of a transaction on the bus
    uint64_t burst_overhead; // bytes that a transaction takes beside its payload
    uint64_t buffer_bytes;   // of packets that have arrived
    uint64_t qp_cache;       // contexts of queue pairs that fit in it; 0 = all
    ps_t qp_miss_ps;
    ps_t doorbell_ps, completion_ps;
};

// The kinds of NIC of a dimension: each rank has one of them, or an ideal one.
#define NIC_KINDS_MOST 4
struct nic_kinds {
    struct nic_spec list[NIC_KINDS_MOST];
    uint32_t more; // beyond the first
};

// A NIC as a set of values in place of the defaults of nic_params.
struct nic_value {
    const char *key, *value;
};
// What a NIC does about congestion and loss, for the keys of a transport that are left "auto"; 0 =
// not at all, or without limit.
struct nic_reactions {
    ps_t cnp_delay_ps, nak_repeat_ps, slow_restart_ps, rto_adaptive_ps;
    bool nak_cnp;
    uint64_t window_packets;
};
struct nic_preset {
    const char *name, *doc, *source;
    const struct nic_value *values; // ends with an empty key
    struct nic_reactions reactions;
    const char *unknown; // what no public text gives, with the range that is likely; NULL = nothing
};

extern const struct param nic_params[];
extern const size_t n_nic_params;
extern const struct nic_preset nic_presets[]; // the first is the default, the last has no name

// Set all settings to those of a preset.
void nic_spec_init(struct nic_spec *spec, const struct nic_preset *preset);

// Returns true if packets wait for the NIC: for its packet rate, its bus, or contexts of queue
// pairs.
static inline bool nic_spec_serves(const struct nic_spec *spec)
{
    return spec->message_rate > 0 || spec->bus_rate_bps > 0 ||
           (spec->qp_cache > 0 && spec->qp_miss_ps > 0);
}

// Bytes that a payload takes on the bus.
uint64_t nic_bus_bytes(const struct nic_spec *spec, uint32_t payload_bytes);

// Time for which a packet with this payload, whose context is in the cache, occupies one direction
// of the NIC.
ps_t nic_packet_ps(const struct nic_spec *spec, uint32_t payload_bytes);

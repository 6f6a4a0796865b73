// SPDX-License-Identifier: MIT
// In-band network telemetry: the record that a switch writes into a packet at the start of its
// transmission.
#pragma once

#include "engine/base/rng.h"
#include "net/network.h"

// Exact records, records with the resolution and wrapping of the HPCC prototype's 8 bytes, or
// PINT's one byte.
enum int_mode { INT_OFF, INT_EXACT, INT_HPCC64, INT_PINT };

// PINT state of a port.
struct pint_port {
    double util; // moving average of the normalised bytes in flight
    ps_t at_ps;
    uint64_t tx_bytes; // bytes that the port had sent at at_ps
    struct rng rng;    // for the random rounding
};

// Returns a record of the port's current state. `queue_bytes` excludes the packet itself.
static inline struct int_hop telemetry_exact(const struct network *net, uint32_t port,
                                             uint64_t rate_bps, uint64_t queue_bytes, ps_t now)
{
    return (struct int_hop){.t_ps = now,
                            .tx_bytes = net->ports[port].tx_bytes,
                            .rate_bps = rate_bps,
                            .queue_bytes = (uint32_t)queue_bytes,
                            .port = port & 0x7fffffffu};
}

// Returns the record as the 8-byte encoding of the prototype represents it.
struct int_hop telemetry_hpcc64(struct int_hop exact);

// Update a port's utilization to `now` (Ben Basat et al., SIGCOMM 2020, section 4.3, for HPCC): U =
// (T - dt)/T U + q dt / (B T^2) + bytes / (B T), for a queue of q bytes, a rate of B, the bytes
// sent in the time dt since the last update, and T = `rtt_ps`. If dt is longer than T, only T and
// the same share of the bytes count. Returns the digest of U, rounded at random so that its mean is
// right.
uint8_t telemetry_pint(struct pint_port *port, uint64_t tx_bytes, uint64_t rate_bps,
                       uint64_t queue_bytes, ps_t rtt_ps, ps_t now);

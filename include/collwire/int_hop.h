// SPDX-License-Identifier: MIT
// One hop of in-band network telemetry (INT), written by a switch when a transmission starts.
#pragma once

#include "collwire/types.h"

struct int_hop {
    ps_t t_ps;            // transmission start at the egress port
    uint64_t tx_bytes;    // wire bytes that the port sent before this packet
    uint64_t rate_bps;    // rate of the link
    uint32_t queue_bytes; // egress queue of the class at that instant, this packet excluded
    unsigned port : 31;   // identifies the port, so that the sender detects a change of path
    unsigned wraps : 1;   // t_ps and tx_bytes come from the 8-byte encoding and wrap around
};
_Static_assert(sizeof(struct int_hop) == 32, "two records a cache line");

// The 8-byte encoding of the HPCC prototype (Li et al., SIGCOMM 2019, figure 7): time in ns mod
// 2^24, bytes sent in units of 128 mod 2^20, queue in units of 80 up to 2^17 - 1.
#define INT_WRAP_PS ((ps_t)1000 << 24)
#define INT_WRAP_BYTES ((uint64_t)128 << 20)

// Time and bytes between two records of the same port.
static inline ps_t int_hop_time_since(const struct int_hop *now, const struct int_hop *before)
{
    ps_t dt = now->t_ps - before->t_ps;
    return now->wraps && dt < 0 ? dt + INT_WRAP_PS : dt;
}
static inline uint64_t int_hop_bytes_since(const struct int_hop *now, const struct int_hop *before)
{
    if (now->wraps && now->tx_bytes < before->tx_bytes)
        return now->tx_bytes + INT_WRAP_BYTES - before->tx_bytes;
    return now->tx_bytes - before->tx_bytes;
}

// PINT's digest (Ben Basat et al., SIGCOMM 2020): one byte for the largest utilization on the path,
// as a logarithm to the base 1.05. PINT_ONE encodes 1, so the range is 0.001 to 250.
#define PINT_NONE 0
#define PINT_MAX 255
#define PINT_ONE 142

// Returns the utilization that a digest from 1 to PINT_MAX encodes.
static inline double pint_value(unsigned digest)
{
    unsigned n = digest < PINT_ONE ? PINT_ONE - digest : digest - PINT_ONE;
    double power = 1;
    for (double base = 1.05; n > 0; n >>= 1, base *= base)
        if (n & 1)
            power *= base;
    return digest < PINT_ONE ? 1 / power : power;
}

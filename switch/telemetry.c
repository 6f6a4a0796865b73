// SPDX-License-Identifier: MIT
// INT records and PINT digests.
#include "switch/telemetry.h"

#define NS 1000
#define HPCC64_BYTES 128
#define HPCC64_QUEUE 80
#define HPCC64_QUEUE_MAX ((1u << 17) - 1)

struct int_hop telemetry_hpcc64(struct int_hop hop)
{
    uint32_t queue = hop.queue_bytes / HPCC64_QUEUE;
    hop.t_ps = hop.t_ps / NS * NS % INT_WRAP_PS;
    hop.tx_bytes = hop.tx_bytes / HPCC64_BYTES * HPCC64_BYTES % INT_WRAP_BYTES;
    hop.queue_bytes = (queue < HPCC64_QUEUE_MAX ? queue : HPCC64_QUEUE_MAX) * HPCC64_QUEUE;
    hop.wraps = 1;
    return hop;
}

// Rounds `util` to the digest below or above, at random, so that the mean is right.
static uint8_t digest_of(double util, struct rng *rng)
{
    unsigned low = 1, high = PINT_MAX; // value(low) <= util < value(high)
    if (util < pint_value(low))
        return PINT_NONE;
    if (util >= pint_value(high))
        return PINT_MAX;
    while (high - low > 1) {
        unsigned mid = (low + high) / 2;
        if (util < pint_value(mid))
            high = mid;
        else
            low = mid;
    }
    double below = pint_value(low), above = pint_value(high);
    return (uint8_t)(rng_unit(rng) * (above - below) < util - below ? high : low);
}

uint8_t telemetry_pint(struct pint_port *port, uint64_t tx_bytes, uint64_t rate_bps,
                       uint64_t queue_bytes, ps_t rtt_ps, ps_t now)
{
    double rtt = (double)rtt_ps, dt = (double)(now - port->at_ps);
    double line_bytes = (double)rate_bps / 8e12 * rtt, sent = (double)(tx_bytes - port->tx_bytes);
    if (dt > rtt) { // bytes sent before the last RTT do not count
        sent *= rtt / dt;
        dt = rtt;
    }
    port->util = (rtt - dt) / rtt * port->util + (double)queue_bytes / line_bytes * (dt / rtt) +
                 sent / line_bytes;
    port->at_ps = now;
    port->tx_bytes = tx_bytes;
    return digest_of(port->util, &port->rng);
}

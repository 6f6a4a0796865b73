// SPDX-License-Identifier: MIT
// The quality of output ports as switches with dynamic load balancing measure it, in bands: 0 is
// the best.
//
// At the end of each interval a port has used a share of what it can send in an interval, and its
// queue holds a share of that. The mean of both shares (each at most 1) is rounded down to a band.
// A switch uses the last measurement of its own ports. With remote state it also uses that of its
// neighbours' ports, which is older by the link's delay; a path through a neighbour is as good as
// the neighbour's best port towards the destination, and no better than the port to the neighbour.
// (Broadcom's DLB also smooths and weighs load and queue; its parameters are not public.)
#pragma once

#include "switch/routing.h"

struct switches;
struct switch_node;

struct link_quality {
    ps_t interval_ps;
    uint32_t n_bands, n_kept; // n_kept: number of kept measurements, for remote state
    int64_t measured;         // number of the last measurement, at measured * interval_ps
    uint8_t *bands;           // [measurement % n_kept * n_ports + port]
    uint64_t *tx_bytes;       // [port] at the last measurement
    uint64_t *shared;         // bands on their way to other processes; NULL = none yet
};

// `oldest_ps`: the largest delay of a link whose far end is evaluated.
struct link_quality *quality_new(uint32_t n_ports, ps_t interval_ps, uint32_t bands,
                                 ps_t oldest_ps);
void quality_free(struct link_quality *q);

// Measure the ports of all switches and routers of dimension `dim`.
void quality_measure(struct link_quality *q, const struct switches *sw, uint32_t dim, ps_t now);

// Returns the index of the best of `count` ports for a packet; ports of one quality take turns.
uint32_t quality_pick(const struct switches *sw, struct switch_node *s, const uint16_t *ports,
                      uint32_t count, const struct packet *p, ps_t now);

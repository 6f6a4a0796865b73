// SPDX-License-Identifier: MIT
// The sampler of time series (sample.c), shared with its end in several processes
// (sample_handover.c).
#pragma once

#include "sim/observe/sample.h"

#define OBSERVE_MAX CC_OBSERVED_MAX

struct sampler {
    struct fabric *fabric;
    struct sim_timer timer;
    struct series series;
    uint32_t *ports; // ports that are sampled
    size_t n_ports;
    size_t cap_samples;
    uint32_t n_sampled; // number of flows, of this process, that have lines
    bool closed;        // flows that are opened from now on have none
    struct sampler_sum sum;
    uint32_t *foreign; // flows of other processes that have lines, behind the others
    size_t n_foreign, cap_foreign;
};

// Add a line, whose key becomes that of the line, to be freed; `field` is copied.
struct series_line *sampler_line(struct sampler *s, enum series_kind kind, char *key,
                                 const char *field);

// Number of sampled values of a flow, those of its policy, then those of its transport, and their
// names.
size_t sampler_observed(const struct sender *s);
const char *sampler_observed_name(const struct sender *s, size_t i);

// Handle of a flow of this process by its number.
static inline uint32_t handle_of(const struct sampler *s, uint32_t i)
{
    return s->fabric->hosts.flows.first + i;
}

static inline uint32_t own_flows(const struct sampler *s)
{
    return s->fabric->hosts.flows.n - s->fabric->hosts.flows.first;
}

static inline const struct sender *sender_of(const struct sampler *s, uint32_t flow)
{
    return s->fabric->hosts.senders[flow];
}

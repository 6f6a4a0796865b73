// SPDX-License-Identifier: MIT
// Time series of queues and flows.
#pragma once

#include "engine/parcel.h"
#include "sim/fabric/fabric.h"

// Limit of values in a series. When it is reached, the lines of ports stay. Flows that open later
// get no lines, and existing lines of flows are dropped, the latest first, until they are no more
// than those of ports or SERIES_FLOW_LINES. If that is not enough, every other sample is dropped
// and the step between samples doubles.
#define SERIES_MAX_VALUES ((size_t)2000000)
#define SERIES_FLOW_LINES ((size_t)256)

struct sampler;

// Start sampling; adds an error for a place that matches no port. NULL = none requested.
struct sampler *sampler_start(struct fabric *fabric, struct err *err);
// Returns the series with its lines in the order of flows. To be called once.
struct series *sampler_series(struct sampler *sampler);
// One run in several processes: each samples its own ports and flows, at the same instants. `add`
// adds up a number over the processes, since the limit is that of all lines. It is called within an
// event of the common engine.
struct sampler_sum {
    void (*add)(void *ctx, uint64_t *number);
    void *ctx;
};
void sampler_set_sum(struct sampler *sampler, const struct sampler_sum *sum);
// Hand over the lines of the process's own ports and flows. The reader has already got the flows,
// from handle `first` on in their order; `sampler` may be NULL.
void sampler_hand_over(struct parcel *p, struct sampler *sampler, uint32_t first);
void sampler_free(struct sampler *sampler);

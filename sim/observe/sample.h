// SPDX-License-Identifier: MIT
// Time series of queues and flows.
#pragma once

#include "sim/fabric/fabric.h"

// Limit of values in a series: when it is reached, every other sample is dropped and the step
// between samples doubles.
#define SERIES_MAX_VALUES ((size_t)2000000)

struct sampler;

struct sampler *sampler_start(struct fabric *fabric); // NULL = none requested
// Returns the series with its lines in the order of flows. To be called once.
struct series *sampler_series(struct sampler *sampler);
void sampler_free(struct sampler *sampler);

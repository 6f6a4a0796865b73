// SPDX-License-Identifier: MIT
// Sums by kind, and ZeRO's shares of model states.
#include "workload/gpu_memory/footprint.h"

#include <math.h>
#include <stddef.h>

#define BYTES_MOST 1e17 // 100 PB

const char *const footprint_kind_names[] = {
    "weights", "gradients", "optimizer", "activations", "temporary", "communication", NULL};

uint64_t footprint_total(const struct footprint *f)
{
    uint64_t sum = 0;
    for (unsigned k = 0; k < FOOTPRINT_KINDS; k++)
        sum += f->bytes[k];
    return sum;
}

enum footprint_kind footprint_largest(const struct footprint *f)
{
    unsigned most = 0;
    for (unsigned k = 1; k < FOOTPRINT_KINDS; k++)
        most = f->bytes[k] > f->bytes[most] ? k : most;
    return (enum footprint_kind)most;
}

uint64_t footprint_bytes(double bytes)
{
    return bytes < BYTES_MOST ? (uint64_t)floor(bytes + 0.5) : (uint64_t)BYTES_MOST;
}

struct footprint footprint_states(double parameters, double replicas, unsigned zero,
                                  const struct state_bytes *bytes)
{
    double share = parameters / replicas;
    double weights = zero >= 3 ? share : parameters, gradients = zero >= 2 ? share : parameters,
           states = zero >= 1 ? share : parameters;
    return (struct footprint){
        .bytes = {[FOOTPRINT_WEIGHTS] = footprint_bytes(weights * (double)bytes->parameter),
                  [FOOTPRINT_GRADIENTS] = footprint_bytes(gradients * (double)bytes->gradient),
                  [FOOTPRINT_OPTIMIZER] = footprint_bytes(states * (double)bytes->optimizer)}};
}

void footprint_add(struct footprint *sum, const struct footprint *more)
{
    for (unsigned k = 0; k < FOOTPRINT_KINDS; k++)
        sum->bytes[k] += more->bytes[k];
}

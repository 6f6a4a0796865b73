// SPDX-License-Identifier: MIT
// The memory that a rank of a training job needs, by what it is for.
//
// What is counted, with formulas and sources, is in docs/memory.md. Not counted: fragmentation, the
// driver's context, the buffers of communication libraries, and the program's own memory; a
// scenario's `memory.reserve` stands for them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum footprint_kind {
    FOOTPRINT_WEIGHTS,
    FOOTPRINT_GRADIENTS,
    FOOTPRINT_OPTIMIZER,
    FOOTPRINT_ACTIVATIONS,
    FOOTPRINT_TEMPORARY,     // freed within a pass: recomputed activations, gathered parameters
    FOOTPRINT_COMMUNICATION, // buffers of messages and of collectives that are not in place
    FOOTPRINT_KINDS
};
extern const char *const footprint_kind_names[]; // NULL-terminated

struct footprint {
    uint64_t bytes[FOOTPRINT_KINDS];
};

uint64_t footprint_total(const struct footprint *f);

// The kind with the most bytes, the first of equal ones.
enum footprint_kind footprint_largest(const struct footprint *f);

// A number of bytes that was computed in floating point, as shapes of any size require: rounded, at
// most 1e17, so that sums of all kinds do not overflow.
uint64_t footprint_bytes(double bytes);

// Model states of one rank: weights, gradients and optimizer states of `parameters`, of which there
// are `replicas` copies. ZeRO shards over them the optimizer states (1), gradients too (2),
// parameters too (3). Source: Rajbhandari et al., SC 2020, section 5 and figure 1.
struct state_bytes {
    uint64_t parameter, gradient, optimizer; // of a parameter
};
struct footprint footprint_states(double parameters, double replicas, unsigned zero,
                                  const struct state_bytes *bytes);

void footprint_add(struct footprint *sum, const struct footprint *more);

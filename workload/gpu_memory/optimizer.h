// SPDX-License-Identifier: MIT
// Optimizers: what they keep for a parameter, and what an update moves through memory.
//
// Parameters below 4 bytes have a master copy of 4 bytes, which the update reads and writes
// (mixed-precision training, Micikevicius et al., ICLR 2018). Adam has two moments of 4 bytes each,
// so with 16-bit parameters it keeps 12 bytes (K = 12 in Rajbhandari et al., SC 2020, section 3.1),
// reads 16 (with a gradient of 4) and writes 14.
#pragma once

#include <stdint.h>

enum optimizer {
    OPTIMIZER_ADAM,
    OPTIMIZER_ADAM_8BIT, // two moments of one byte each: Dettmers et al., ICLR 2022
    OPTIMIZER_MOMENTUM,  // one moment of 4 bytes
    OPTIMIZER_SGD        // none
};
extern const char *const optimizer_names[]; // NULL-terminated

// Bytes by parameter of `parameter_bytes`: what the optimizer keeps, the master copy included, and
// what an update reads and writes.
uint64_t optimizer_state_bytes(enum optimizer optimizer, uint64_t parameter_bytes);
uint64_t optimizer_traffic_bytes(enum optimizer optimizer, uint64_t parameter_bytes);

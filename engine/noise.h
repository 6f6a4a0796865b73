// SPDX-License-Identifier: MIT
// Random delays of hosts. Draws use only integers and tables, so that they are equal on every
// machine.
#pragma once

#include "engine/base/units.h"

enum noise_shape { NOISE_CONSTANT, NOISE_UNIFORM, NOISE_EXPONENTIAL, NOISE_LOG_NORMAL };

struct noise_delay {
    ps_t mean_ps; // at most 1 s; 0 = none
    int shape;    // enum noise_shape
};

// Returns delay number `key` of a rank. It depends on the arguments alone, not on earlier draws.
ps_t noise_draw_ps(const struct noise_delay *delay, uint64_t seed, uint32_t rank, uint64_t key);

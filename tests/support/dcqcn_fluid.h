// SPDX-License-Identifier: MIT
// The fluid model of n DCQCN flows at one bottleneck (Zhu et al., CoNEXT 2016, section 3): its fixed
// point, and its motion with a delay in the loop.
#pragma once

struct dcqcn_fluid {
    unsigned flows;
    double line_bps, packet_bytes; // on the wire
    double kmin_bytes, kmax_bytes, pmax;
    double rai_bps;
    // Common to all: CNP window 50 us, alpha timer and rate timer 55 us, byte counter 10 MB, F 5, g 1/256.
};

// Mean queue at the fixed point, in bytes.
double dcqcn_fixed_point(const struct dcqcn_fluid *m);

// Mean queue of the last two thirds of `seconds`, begun near the fixed point, where notifications act
// `delay_s` after their mark.
double dcqcn_motion(const struct dcqcn_fluid *m, double delay_s, double seconds);

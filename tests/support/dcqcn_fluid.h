// SPDX-License-Identifier: MIT
// The fluid model of n DCQCN flows at one bottleneck (Zhu et al., CoNEXT 2016, section 3): its
// fixed point, and its time evolution with a feedback delay.
#pragma once

struct dcqcn_fluid {
    unsigned flows;
    double line_bps, packet_bytes; // wire bytes
    double kmin_bytes, kmax_bytes, pmax;
    double rai_bps;
    // Fixed: CNP window 50 us, alpha timer and rate timer 55 us, byte counter 10 MB, F 5, g 1/256.
};

// Returns the mean queue in bytes at the fixed point.
double dcqcn_fixed_point(const struct dcqcn_fluid *m);

// Returns the mean queue over the last two thirds of `seconds`, starting near the fixed point.
// Notifications take effect `delay_s` after the mark.
double dcqcn_motion(const struct dcqcn_fluid *m, double delay_s, double seconds);

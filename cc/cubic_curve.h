// SPDX-License-Identifier: MIT
// The growth of CUBIC in congestion avoidance: a cubic function of time and a Reno window beside
// it.
//
// Times are measured from the beginning of an epoch, the first ACK in congestion avoidance after a
// reduction (RFC 9438, section 4.2): W(t) = C (t - K)^3 + W_max with K = cbrt((W_max - cwnd) / C),
// in segments and seconds. The flow grows towards W one RTT ahead. The Reno window W_est grows by
// alpha = 3 (1 - beta) / (1 + beta) segments per round trip (section 4.3); CUBIC is not slower.
//
// There are two forms of the same equations.
//   rfc9438  in real numbers; the target is at most 1.5 windows (section 4.2).
//   linux    in whole numbers, as Linux 6 calculates: W is a whole number of segments, its distance
//            from W_max rounded down; time counts in ticks of the kernel's clock; the speed of
//            growth is a whole number of acknowledged segments per segment of growth, at least 2,
//            and is determined again when the window has changed or at 32 Hz. Near W_max this
//            differs: W reaches W_max by rounding when C (K - t)^3 falls below 1, 1.36 s before K.
#pragma once

#include "collwire/cc.h"

enum cubic_form { CUBIC_LINUX, CUBIC_RFC9438 };

struct cubic_params {
    double c, beta;
    bool fast_convergence, friendly;
    int form; // enum cubic_form
    ps_t tick_ps;
    int hystart; // enum hystart_kind
};

struct cubic_curve {
    /* config, resolved */
    uint32_t beta_1024;    // beta in 1024ths, as in Linux
    uint32_t reno_eighths; // form linux: windows acknowledged per segment of the Reno window, * 8
    double alpha;          // form rfc9438
    uint32_t segment_bytes;
    /* state */
    ps_t epoch_ps;  // PS_NEVER = no epoch
    uint32_t w_max; // segments; 0 = no reduction yet, or a timeout
    uint32_t prior; // window before the last reduction
    double origin, k_s;
    ps_t rtt_ps; // form linux: the least; form rfc9438: smoothed; 0 = no sample
    /* form linux */
    uint64_t acked_bytes; // not yet counted for the Reno window
    uint32_t reno;        // the Reno window
    uint32_t counted_cwnd;
    ps_t counted_tick; // time when `count` was determined
    uint64_t count;    // acknowledged segments per segment of growth
    /* form rfc9438 */
    double fraction; // of the window, beyond whole segments
    double reno_est; // W_est
};

// Set up the curve for a new flow, or after a timeout, which discards all estimates of the path.
void cubic_curve_begin(struct cubic_curve *c, const struct cubic_params *p, uint32_t segment_bytes);

// Process an RTT sample.
void cubic_curve_rtt(struct cubic_curve *c, const struct cubic_params *p, ps_t rtt_ps);

// The window after a reduction from `cwnd` segments.
uint32_t cubic_curve_beta(const struct cubic_curve *c, uint32_t cwnd);

// A loss or an ECN mark: end the epoch and remember W_max.
void cubic_curve_reduce(struct cubic_curve *c, const struct cubic_params *p, uint32_t cwnd);

// A message follows idle time: the epoch is shifted by it, so that W does not grow meanwhile.
void cubic_curve_idle(struct cubic_curve *c, ps_t idle_ps, ps_t now);

// Form linux: acknowledged segments per segment of growth, after `acked_bytes` more.
uint64_t cubic_curve_count(struct cubic_curve *c, const struct cubic_params *p, uint32_t cwnd,
                           uint64_t acked_bytes, ps_t now);

// Form rfc9438: the window in whole segments after `acked_bytes` more.
uint64_t cubic_curve_window(struct cubic_curve *c, const struct cubic_params *p, uint32_t cwnd,
                            uint64_t acked_bytes, ps_t now);

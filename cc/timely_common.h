// SPDX-License-Identifier: MIT
// Common part of TIMELY and Patched TIMELY: RTT samples, gradient, thresholds, limits of the rate.
//
// A sample is taken once per `segment` bytes of progress, since a NIC reports the completion of a
// segment: the ACK that completes the segment is the sample. The paper's RTT is completion - send -
// segment size / line rate, since its NICs send a segment as one burst. Here each packet is paced
// separately, so the sample is the RTT of the segment's last packet less that packet's
// serialization.
// One ACK gives one sample, even if it completes several segments; remaining bytes count for the
// next segment. The first sample, and the first after more than one base RTT of idle time, only
// sets the reference: rate and segment progress are kept, the gradient restarts.
//
// At today's rates many segments complete per RTT, and all their samples reflect one queue. So a
// step is scaled by the time since the last sample in units of min_rtt, at most 1 (`step` elapsed).
// The decrease by the gradient is not scaled, since its samples add up to one change of the RTT.
//
// Line numbers of algorithm 1 are those of its listing in Zhu et al., CoNEXT 2016.
#pragma once

#include "collwire/cc.h"

enum timely_thresholds { TIMELY_ABOVE_BASE, TIMELY_ABSOLUTE };
enum timely_update { TIMELY_PER_SEGMENT, TIMELY_PER_RTT };
enum timely_step { TIMELY_STEP_ELAPSED, TIMELY_STEP_FULL };

// Parameters of both policies; the first member of each policy's own struct.
struct timely_params {
    double alpha, beta, min_cut;
    ps_t t_low_ps, t_high_ps;
    ps_t min_rtt_ps, idle_restart_ps; // PARAM_AUTO_TIME: see the table
    uint64_t segment_bytes;
    struct line_rate delta, min_rate;
    int thresholds, update, step; // the enums above
    struct cc_cap window;
};

// State of both policies; the first member of each policy's own struct.
struct timely_state {
    /* config, resolved for this pair */
    uint64_t delta_bps, min_bps;
    ps_t t_low_ps, t_high_ps, min_rtt_ps;
    ps_t packet_ps; // serialization of a full packet
    /* state; the rate R is cc->rate_bps */
    ps_t rtt_ps;     // last sample, PS_NEVER = none
    ps_t sampled_ps; // time of the last sample
    ps_t change_ps;  // change of the RTT since the previous sample
    double gradient; // g
    double step;     // size of a step at the last sample, at most 1
    // segment: bytes into it; rtt: the next sample is the first ACK beyond this byte
    uint64_t progress;
};

#define TIMELY_PAPER "Mittal et al., SIGCOMM 2015"
#define TIMELY_CODE "the authors' published code"
#define TIMELY_CONEXT "Zhu et al., CoNEXT 2016"
#define TIMELY_FIELD(name) offsetof(struct timely_params, name)

// Rows of struct timely_params, to include in a policy's table; the policy's own `beta` comes
// between the gain of the gradient and the other rows.
extern const struct param timely_gain_params[], timely_law_params[];

// Start a flow at line rate, without a sample.
void timely_begin(struct cc *cc, struct timely_state *s);

// Discard the last sample and the gradient.
void timely_drop_samples(struct timely_state *s);

// Process an ACK. Returns true if it is a sample with a predecessor, so the rate law applies.
bool timely_sample(struct cc *cc, struct timely_state *s, const struct cc_ack *ack);

// Additive increase by `n` times delta.
void timely_increase(struct cc *cc, const struct timely_state *s, double n);

// Multiplicative decrease above t_high.
void timely_retreat(struct cc *cc, const struct timely_state *s);

// Set R = keep * R, limited by min_cut.
void timely_decrease(struct cc *cc, const struct timely_state *s, double keep);

// Set R = bps, rounded and clamped to [min_rate, line rate], and update the window.
void timely_rate_set(struct cc *cc, const struct timely_state *s, double bps);

// The last sample in us for time series, 0 = none.
double timely_rtt_us(const struct timely_state *s);

// ops->check of both policies.
const char *timely_check(const void *params);

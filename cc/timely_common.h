// SPDX-License-Identifier: MIT
// What TIMELY and Patched TIMELY share: RTT samples, gradient, thresholds, and the rate's bounds.
//
// A sample is taken once per `segment` bytes of progress, as a NIC reports the completion of a
// segment: the ACK that completes it is the sample. The paper's RTT is completion - send - segment
// size / line rate, since its NICs send a segment as one burst. Here each packet is paced by itself,
// so the packet that ends the segment stands for it: its own RTT less its own serialization.
// One ACK is one sample, however many segments it completes; what is left over counts for the next.
// The first sample, and the first after a pause of more than one base RTT, only sets the reference:
// the rate and the bytes into the segment stay, the gradient begins again.
//
// Segments complete many times per RTT at today's rates, and all these samples tell of one queue.
// So a step (not the gradient's decrease, whose samples add up to one change of the RTT) is worth
// the time since the last sample in units of min_rtt, at most 1: `step` elapsed.
//
// Line numbers of algorithm 1 are those of its listing in Zhu et al., CoNEXT 2016.
#pragma once

#include "cc/cc.h"

enum timely_thresholds { TIMELY_ABOVE_BASE, TIMELY_ABSOLUTE };
enum timely_update { TIMELY_PER_SEGMENT, TIMELY_PER_RTT };
enum timely_step { TIMELY_STEP_ELAPSED, TIMELY_STEP_FULL };

// Parameters of both; the first member of what a policy adds to them.
struct timely_params {
    double alpha, beta, min_cut;
    ps_t t_low_ps, t_high_ps;
    ps_t min_rtt_ps, idle_restart_ps; // PARAM_AUTO_TIME: see the table
    uint64_t segment_bytes;
    struct line_rate delta, min_rate;
    int thresholds, update, step; // the enums above
    struct cc_cap window;
};

// State of both; the first member of each policy's own.
struct timely_state {
    /* config, resolved for this pair */
    uint64_t delta_bps, min_bps;
    ps_t t_low_ps, t_high_ps, min_rtt_ps;
    ps_t packet_ps; // serialization of a full packet
    /* state; the rate R is cc->rate_bps */
    ps_t rtt_ps;       // last sample, PS_NEVER = none
    ps_t sampled_ps;   // when it came
    ps_t change_ps;    // of the RTT, from the sample before
    double gradient;   // g
    double step;       // what a step is worth at the last sample
    uint64_t progress; // segment: bytes into it; rtt: the next sample acknowledges more than this
};

#define TIMELY_PAPER "Mittal et al., SIGCOMM 2015"
#define TIMELY_CODE "the authors' published code"
#define TIMELY_CONEXT "Zhu et al., CoNEXT 2016"
#define TIMELY_FIELD(name) offsetof(struct timely_params, name)

// Rows to include in the table of a policy whose struct begins with struct timely_params; between the
// gain of the gradient and the other rows stands the policy's own `beta`.
extern const struct param timely_gain_params[], timely_law_params[];

// Start at line rate, without a sample.
void timely_begin(struct cc *cc, struct timely_state *s);

// Drop the last sample and the gradient.
void timely_drop_samples(struct timely_state *s);

// Take in an ACK: true where it is a sample that has a predecessor, so that the rate law acts.
bool timely_sample(struct cc *cc, struct timely_state *s, const struct cc_ack *ack);

// Additive increase by `n` deltas.
void timely_increase(struct cc *cc, const struct timely_state *s, double n);

// Decrease above t_high.
void timely_retreat(struct cc *cc, const struct timely_state *s);

// R = keep R, where min_cut allows it.
void timely_decrease(struct cc *cc, const struct timely_state *s, double keep);

// R = bps, rounded and held within min_rate and line rate; the window follows it.
void timely_rate_set(struct cc *cc, const struct timely_state *s, double bps);

// The last sample in us for observers, 0 = none.
double timely_rtt_us(const struct timely_state *s);

// The check of both policies.
const char *timely_check(const void *params);

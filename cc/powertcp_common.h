// SPDX-License-Identifier: MIT
// The window law of both PowerTCP policies, with its parameters and idle restart. The policies
// differ in how they measure power: cc/powertcp.c uses telemetry, cc/powertcp_delay.c round-trip
// times.
//
// Power is current (bytes arriving at a queue per second) times voltage (queue + B*tau), divided by
// B^2 tau: 1 on a busy link without a queue. With tau the base RTT of the pair and Gs the power
// smoothed over tau:
//   W = gamma (W_old/Gs + beta) + (1 - gamma) W,  rate = W/tau,  beta = B*tau/N
// so the equilibrium of n flows is a queue of n/N bandwidth-delay products (the paper's analysis:
// queue = sum of beta).
//
// The telemetry policy updates W at every ACK; W_old is the window under which the acknowledged
// packet was sent (algorithm 1). Gs is smoothed over tau, so it reflects windows that are older by
// about tau. W_old/Gs would therefore relate a window to power caused by other windows, and a few
// flows would oscillate between an empty queue and their maximum (two flows with N = 10: from 0 to
// 250 KB at 25 us; the authors' sources keep one W_old for a round trip and oscillate too). So
// W_old is smoothed with the same weights as the power: both then refer to the same time, and the
// equilibrium holds for every n. W at the time of sending is interpolated between its values at the
// ends of the last two round trips.
// W_old also replaces the W in the term (1 - gamma) W, as in the authors' ns-3 sources: averaging W
// with itself at every ACK would have no damping effect after a few packets.
// The delay policy updates W once per round trip, at the first ACK of a packet sent under it, and
// W_old is W itself.
//
// Bytes in flight are the window rounded up to packets of L wire bytes, on average half a packet
// more per flow. The measured power includes this excess, and the equilibrium queue is x BDPs with
//   x^2 + x (1 - n/N - r) - n/N = 0,  r = n L/(2 B tau):  x = n/N where r is small.
//
// Units: W, beta and B*tau are wire bytes, as INT and pacing count them; the transport gets W times
// the payload share of a full packet. Queues are frame bytes, without the inter-frame gap.
#pragma once

#include "collwire/cc.h"

struct power_params {
    double gamma, max_bdp;
    uint64_t expected_flows;
    ps_t idle_restart_ps;
};

struct power {
    /* config, resolved for this line */
    double beta_bytes, max_bytes;
    /* state */
    double window_bytes;           // W
    double smoothed;               // Gs
    double old_bytes;              // W_old, smoothed like Gs
    double sample;                 // the last power measured
    double begin_bytes, end_bytes; // W when the first and last packets of this round trip were sent
    uint64_t round_begin, round_end; // snd_nxt at these times
};

// Rows of a struct power_params, to include in a policy's table.
extern const struct param power_law_params[];

// Start a flow: a window of one BDP (or the maximum, if smaller) and power 1.
void power_begin(struct cc *cc, struct power *s);

// Add the power measured over the last `dt` (> 0) to the smoothed power.
void power_sample(const struct cc *cc, struct power *s, double sample, ps_t dt);

// Start the first round trip at `ack`; no earlier window is known.
void power_round_first(struct power *s, const struct cc_ack *ack);

// True if everything sent before this round trip began has been acknowledged. The caller then
// starts the next round trip, whose ACKs acknowledge what was sent during this one.
bool power_round_over(const struct power *s, const struct cc_ack *ack);
void power_round_turn(struct power *s, const struct cc_ack *ack);

// Add the window under which the packet of `ack` was sent to the smoothed W_old, with weight `dt`.
void power_old_window(const struct cc *cc, struct power *s, const struct cc_ack *ack, ps_t dt);

// Apply the law with `power` for Gs and `old_bytes` for W_old; writes rate and window of `cc`.
void power_window_update(struct cc *cc, struct power *s, double power, double old_bytes);

// Returns how a message after idle time changes the flow's state.
enum cc_idle power_idle(const struct cc *cc, const struct cc_post *post);

// Names of the values for ops->observe.
extern const char *const power_observed[];
size_t power_observe(const struct power *s, double *out, size_t cap);

// SPDX-License-Identifier: MIT
// The window law that both forms of PowerTCP obey, with its parameters and its pauses. How power is
// measured is theirs: cc/powertcp.c by telemetry, cc/powertcp_delay.c by round-trip times.
//
// Power is current (bytes arriving at a queue per second) times voltage (queue + B*tau), over B^2
// tau: 1 on a busy link without a queue. With Gs the power smoothed over tau, the base RTT of the
// pair:
//   W = gamma (W_old/Gs + beta) + (1 - gamma) W,  rate = W/tau,  beta = B*tau/N
// so n flows rest at a queue of n/N bandwidth-delay products (the paper's analysis: queue = sum of
// beta).
//
// In the form by telemetry W is set at every ACK, and W_old is the window under which the acknowledged
// packet was sent (algorithm 1). Gs is smoothed over tau, so it tells of windows that are older by about
// tau; W_old/Gs would then divide a window by the power that others made, and few flows swing between an
// empty queue and their bound (two of N = 10 from 0 to 250 KB at 25 us; the authors' sources, which keep
// one W_old for a round trip, do so as well). So W_old is smoothed with the same weights as the power:
// the ratio is of one time, and every n rests where the paper says. W at the time of sending is
// interpolated between its values at the ends of the last two round trips.
// W_old also stands for the W that gamma keeps, as in the authors' ns-3 sources: averaging W with itself
// at every ACK would damp nothing after a few packets.
// In the form by round-trip times W is set once per round trip, by the first ACK of a packet sent under
// it, and W_old is W itself.
//
// Bytes in flight are the window rounded up to packets of L wire bytes, half a packet more per flow in
// the mean; the power is then of more than the windows, and the rest is at x BDPs of queue with
//   x^2 + x (1 - n/N - r) - n/N = 0,  r = n L/(2 B tau):  x = n/N where r is small.
//
// Units: W, beta and B*tau are wire bytes, as INT and pacing count; the transport gets W times a
// full packet's share of payload. Queues are frame bytes: the gap between frames waits in none.
#pragma once

#include "cc/cc.h"

struct power_params {
    double gamma, max_bdp;
    uint64_t expected_flows;
    ps_t idle_restart_ps;
};

struct power {
    /* config, resolved for this line */
    double beta_bytes, max_bytes;
    /* state */
    double window_bytes;             // W
    double smoothed;                 // Gs
    double old_bytes;                // W_old, smoothed as Gs is
    double sample;                   // the last power measured
    double begin_bytes, end_bytes;   // W when the packets at the ends of this round trip were sent
    uint64_t round_begin, round_end; // snd_nxt at these times
};

// Rows to include in a policy's table: those of a struct power_params.
extern const struct param power_law_params[];

// A flow begins: one bandwidth-delay product (or the bound, where that is less), power 1.
void power_begin(struct cc *cc, struct power *s);

// Take in the power of the last `dt` (> 0).
void power_sample(const struct cc *cc, struct power *s, double sample, ps_t dt);

// Of what was sent before `ack` there is no window to look up: the first round trip begins.
void power_round_first(struct power *s, const struct cc_ack *ack);

// Has all been acknowledged that was sent when this round trip began? Then let the next one begin, which
// acknowledges what was sent during this one.
bool power_round_over(const struct power *s, const struct cc_ack *ack);
void power_round_turn(struct power *s, const struct cc_ack *ack);

// Take in the window under which the packet of `ack` was sent, with the weight of the power's last `dt`.
void power_old_window(const struct cc *cc, struct power *s, const struct cc_ack *ack, ps_t dt);

// The law, with `power` for Gs and `old_bytes` for W_old; writes rate and window of `cc`.
void power_window_update(struct cc *cc, struct power *s, double power, double old_bytes);

// What a message finds that begins after a pause.
enum cc_idle power_idle(const struct cc *cc, const struct cc_post *post);

// For ops->observe.
extern const char *const power_observed[];
size_t power_observe(const struct power *s, double *out, size_t cap);

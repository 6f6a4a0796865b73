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
// W is set once per round trip, by the first ACK of a packet sent under it; so W_old, the window
// one round trip ago, is W itself. (The paper's algorithm 1 sets it at every ACK. Gs trails by tau,
// and then a few flows swing between an empty queue and their bound, with W_old looked up exactly
// as well as with W_old kept for a round trip. Once per round trip they rest where the paper says.)
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
    double window_bytes; // W
    double smoothed;     // Gs
    double sample;       // the last power measured
    uint64_t round_end;  // snd_nxt when this round trip began
};

// Rows of a parameter table for a struct power_params at `at`.
#define POWER_LAW_PARAMS(at)                                                                       \
    {"gamma",                                                                                      \
     PARAM_RATIO,                                                                                  \
     (at) + offsetof(struct power_params, gamma),                                                  \
     "0.9",                                                                                        \
     "0.001",                                                                                      \
     "1",                                                                                          \
     NULL,                                                                                         \
     false,                                                                                        \
     "weight of the new window against the current one",                                           \
     "Addanki et al., NSDI 2022"},                                                                 \
        {"expected_flows",                                                                         \
         PARAM_COUNT,                                                                              \
         (at) + offsetof(struct power_params, expected_flows),                                     \
         "10",                                                                                     \
         "1",                                                                                      \
         "1000000",                                                                                \
         NULL,                                                                                     \
         false,                                                                                    \
         "N: a flow adds 1/N of its BDP per round trip, so n flows queue n/N of it",               \
         "Addanki et al., NSDI 2022; 10 in the authors' Linux sources"},                           \
        {"max_window",                                                                             \
         PARAM_RATIO,                                                                              \
         (at) + offsetof(struct power_params, max_bdp),                                            \
         "1",                                                                                      \
         "0.001",                                                                                  \
         "1000",                                                                                   \
         NULL,                                                                                     \
         false,                                                                                    \
         "bound of the window in bandwidth-delay products of the pair (wire bytes)",               \
         "the authors' Linux sources"},                                                            \
        CC_IDLE_RESTART_PARAM((at) + offsetof(struct power_params, idle_restart_ps))

// A flow begins: one bandwidth-delay product (or the bound, where that is less), power 1.
void power_begin(struct cc *cc, struct power *s);

// Take in the power of the last `dt` (> 0).
void power_sample(const struct cc *cc, struct power *s, double sample, ps_t dt);

// Has a packet of this round trip been acknowledged? Then a new one begins.
bool power_round_turns(struct power *s, const struct cc_ack *ack);

// The law, with `power` for Gs; writes rate and window of `cc`.
void power_window_update(struct cc *cc, struct power *s, double power);

// What a message finds that begins after a pause.
enum cc_rest power_rest(const struct cc *cc, const struct cc_hint *hint);

// For ops->observe.
extern const char *const power_observed[];
size_t power_observe(const struct power *s, double *out, size_t cap);

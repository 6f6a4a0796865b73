// SPDX-License-Identifier: MIT
// Functions that policies share. In this program they are functions of cc/cc.c; in a plugin they
// lead to the same code through the table in the flow's environment, so that a plugin needs no
// symbol of the program that loads it.
#pragma once

#include "collwire/cc.h"

// A window that bounds the bytes in flight of a rate-based policy.
struct cc_cap {
    double bdp;     // in bandwidth-delay products of the pair, 0 = no window
    uint64_t bytes; // the same for every pair; PARAM_AUTO = use `bdp`
    bool scales;    // shrinks in proportion to the rate
};

struct cc_helpers {
    uint32_t bytes; // sizeof(struct cc_helpers)
    uint64_t (*bdp_bytes)(const struct cc_env *env);
    uint64_t (*window_bytes)(const struct cc_env *env, double k);
    uint64_t (*cap_bytes)(const struct cc_env *env, const struct cc_cap *cap, uint64_t rate_bps);
    uint64_t (*line_rate_bps)(const struct cc_env *env, struct line_rate rate);
    uint64_t (*rate_of)(const struct cc_env *env, double bytes, ps_t in_ps);
    double (*payload_share)(const struct cc_env *env);
    ps_t (*packet_ps)(const struct cc_env *env);
};

// Largest payload that has arrived and is not acknowledged yet, because an ACK covers several
// packets. A window must have room for it in addition to the payload on its way.
static inline uint64_t cc_held_bytes(const struct cc_env *env)
{
    return env->ack_packets > 1 ? (env->ack_packets - 1) * (uint64_t)env->mtu_bytes : 0;
}

#ifdef COLLWIRE_HOST
#define CC_HELPER(type, name, parameters, arguments) type cc_##name parameters;
#else
#define CC_HELPER(type, name, parameters, arguments)                                               \
    static inline type cc_##name parameters { return env->helpers->name arguments; }
#endif

// Bytes that the pair needs in flight to fill its line: the bandwidth-delay product, rounded up,
// and cc_held_bytes().
CC_HELPER(uint64_t, bdp_bytes, (const struct cc_env *env), (env))

// A window of `k` BDPs in bytes, rounded up; k (0 < k <= 1e6) is rounded to the nearest millionth.
CC_HELPER(uint64_t, window_bytes, (const struct cc_env *env, double k), (env, k))

// The window under a cap at `rate_bps`; at least one byte, so that a packet can be sent.
CC_HELPER(uint64_t, cap_bytes,
          (const struct cc_env *env, const struct cc_cap *cap, uint64_t rate_bps),
          (env, cap, rate_bps))

// Resolve a rate parameter on this line, clamped to [1, env->line_bps].
CC_HELPER(uint64_t, line_rate_bps, (const struct cc_env *env, struct line_rate rate), (env, rate))

// Bytes over time as a rate, rounded to the nearest bit/s and clamped to [1, env->line_bps].
CC_HELPER(uint64_t, rate_of, (const struct cc_env *env, double bytes, ps_t in_ps),
          (env, bytes, in_ps))

// Payload share of a full packet on the wire, which converts a window of wire bytes to payload
// bytes; 1 if the packet's wire bytes are unknown.
CC_HELPER(double, payload_share, (const struct cc_env *env), (env))

// Time of a full packet on the line, rounded up.
CC_HELPER(ps_t, packet_ps, (const struct cc_env *env), (env))

#undef CC_HELPER

// Effect of a new message on a flow that has been idle: keep the state, drop RTT samples because
// they are older than a base RTT, or restart the flow.
enum cc_idle { CC_IDLE_KEEP, CC_IDLE_DROP_SAMPLES, CC_IDLE_RESTART };
static inline enum cc_idle cc_idle_after(const struct cc *cc, ps_t idle_ps, ps_t idle_restart_ps)
{
    if (idle_ps >= idle_restart_ps) // PARAM_AUTO_TIME is longer than any idle time
        return CC_IDLE_RESTART;
    return idle_ps > cc->env->base_rtt_ps ? CC_IDLE_DROP_SAMPLES : CC_IDLE_KEEP;
}

// For ops->observe: copy `n` values to `out` (at most `cap`); returns the count.
static inline size_t cc_observe_values(const double *values, size_t n, double *out, size_t cap)
{
    size_t count = n < cap ? n : cap;
    for (size_t i = 0; i < count; i++)
        out[i] = values[i];
    return count;
}

// ---- rows to include in a policy's table ----

// Rows for a struct cc_cap (default: no window).
#define CC_CAP_PARAMS                                                                              \
    {.name = "window_bdp",                                                                         \
     .type = PARAM_RATIO,                                                                          \
     .offset = offsetof(struct cc_cap, bdp),                                                       \
     .def = "0",                                                                                   \
     .min = "0",                                                                                   \
     .max = "1000",                                                                                \
     .help = "window cap in bandwidth-delay products of the pair, 0 = none",                       \
     .evidence = EVIDENCE_DOCUMENTED,                                                              \
     .source = "Khan et al., Hot Interconnects 2022"},                                             \
        {.name = "window_bytes",                                                                   \
         .type = PARAM_BYTES,                                                                      \
         .offset = offsetof(struct cc_cap, bytes),                                                 \
         .def = "auto",                                                                            \
         .min = "1B",                                                                              \
         .max = "1PB",                                                                             \
         .can_auto = true,                                                                         \
         .help = "window cap of every pair, near or far; auto = window_bdp",                       \
         .evidence = EVIDENCE_DOCUMENTED,                                                          \
         .source = "HPCC ns-3 sources: the largest BDP of the network"},                           \
        {.name = "window_scales",                                                                  \
         .type = PARAM_BOOL,                                                                       \
         .offset = offsetof(struct cc_cap, scales),                                                \
         .def = "false",                                                                           \
         .help = "the cap shrinks with rate / line rate",                                          \
         .evidence = EVIDENCE_DOCUMENTED,                                                          \
         .source = "HPCC ns-3 sources (var_win)"},                                                 \
    {                                                                                              \
        .name = NULL                                                                               \
    }

// Row for a ps_t, the idle time after which a flow restarts.
#define CC_IDLE_RESTART_PARAMS                                                                     \
    {.name = "idle_restart",                                                                       \
     .type = PARAM_TIME,                                                                           \
     .def = "auto",                                                                                \
     .min = "1ns",                                                                                 \
     .can_auto = true,                                                                             \
     .help = "a message after so long a pause finds the flow as new; auto = never",                \
     .evidence = EVIDENCE_ESTIMATED,                                                               \
     .source = "no paper: here queue pairs outlive messages, as those of NICs do"},                \
    {                                                                                              \
        .name = NULL                                                                               \
    }

#ifdef COLLWIRE_HOST
extern const struct param cc_cap_params[], cc_idle_restart_params[];
#else
static const struct param cc_cap_params[] __attribute__((unused)) = {CC_CAP_PARAMS};
static const struct param cc_idle_restart_params[]
    __attribute__((unused)) = {CC_IDLE_RESTART_PARAMS};
#endif

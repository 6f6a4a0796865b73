// SPDX-License-Identifier: MIT
// The contract of a congestion control policy: pure hooks that read their arguments and write
// `*cc`.
//
// A hook does no I/O, allocates nothing, reads no clock, draws no random number and keeps no static
// state. Timers are outputs: a hook writes an absolute time into timer_at_ps and the transport arms
// the timer in the engine. A policy is therefore tested with a table {at, event, expected rate and
// window}, without a network.
//
// The contract does not depend on the transport: sequence numbers count bytes of the flow, and an
// event that only some transports can report is a kind of signal.
//
// A policy is a file of this program (cc/x.c and its lines in cc/registry.c), or of a plugin: a
// shared library that ends with COLLWIRE_PLUGIN(&my_policy), compiled with
//   cc -shared -fPIC $(pkg-config --cflags collwire) my_policy.c -o my_policy.so
#pragma once

#include <stdalign.h>

#include "collwire/hint.h"
#include "collwire/int_hop.h"
#include "collwire/param.h"
#include "collwire/types.h"

// version of this contract; increased whenever a struct or the meaning of a field changes
#define CC_VERSION 10

#define CC_UNLIMITED UINT64_MAX // for cwnd_bytes: no window
#define CC_TIMERS 2
#define CC_PRIV_BYTES_MAX 4096      // limit of a policy's private state per flow
#define CC_PARAMS_BYTES_MAX 512     // limit of a policy's parameters
#define CC_TIMER_LEAST_PS PS_PER_NS // a timer must be at least this far ahead
#define CC_OBSERVED_MAX 8           // values of observe()
#define CC_INT_HOPS 8               // switches on a path whose INT records a policy can use

// Services that the transport must provide for the policy to work; checked once when the simulation
// is built. ECN: switches mark, and ACKs echo the marks (ack->ce, ce_bytes; RoCE's always do). CNP:
// the receiver also reports marks in packets of their own, as CC_SIGNAL_CNP, unless the preset's
// notification is CNP_PER_ACK; TCP does not provide this. GLOBAL_RTT: env->global_rtt_ps must be
// set (computing it searches all pairs). CE_SHARE: ack->ce_bytes must be exact even if an ACK
// covers several packets, so the receiver acknowledges immediately when CE changes (RFC 8257,
// section 3.2). PACING: the policy bounds the traffic by its rate and does not react to loss, so it
// needs a NIC that paces flows and a lossless class. SLOW_START: new flows must start with
// env->initial_window_bytes. PACKET_NACKS: an ACK's rtt_ps and `ce` are those of one packet, and
// each packet that switches have trimmed is a signal. CREDITS: senders may not send without the
// credits that ops->credits describes.
enum cc_needs {
    CC_NEEDS_ECN = 1,
    CC_NEEDS_CNP = 2,
    CC_NEEDS_INT = 4,
    CC_NEEDS_GLOBAL_RTT = 8,
    CC_NEEDS_CE_SHARE = 16,
    CC_NEEDS_PACING = 32,
    CC_NEEDS_SLOW_START = 64,
    CC_NEEDS_PACKET_NACKS = 128,
    CC_NEEDS_CREDITS = 256
};

struct cc_extras;
struct cc_helpers;
struct cc_watch;

// The environment of a flow; constant for its life.
struct cc_env {
    uint64_t line_bps;
    ps_t base_rtt_ps;         // 2 * propagation + a full packet out + its ACK back, on every hop
    ps_t global_rtt_ps;       // the largest base RTT of all pairs; 0 unless CC_NEEDS_GLOBAL_RTT
    uint32_t mtu_bytes;       // payload of a full packet
    uint32_t full_wire_bytes; // bytes of a full packet on the wire
    uint32_t ack_packets; // full packets that one ACK covers at most, where the transport coalesces
                          // ACKs; 0 and 1 = none
    uint32_t hops;        // number of links on the path
    uint32_t initial_window_bytes; // window of a new flow, which then starts slowly (RFC 6928); 0 =
                                   // the transport lets flows start with a full window
    bool trims;                    // switches trim the flow's packets instead of dropping them
    const struct cc_helpers *helpers; // of this program, for the functions below
    struct cc_watch *watch;           // of this program; not for policies
};

// One ACK. A field that the transport cannot determine is 0; `hops` has n_hops valid entries, the
// first switch first. The flow was limited by its window, and not by lack of data, if
// inflight_bytes + acked_bytes reaches cwnd_bytes.
struct cc_ack {
    ps_t now_ps;
    ps_t rtt_ps; // from the start of the packet's transmission to the arrival of this ACK
    uint64_t seq, snd_una, snd_nxt; // bytes of the flow; seq = end of the acknowledged packet
    uint32_t acked_bytes, ce_bytes; // newly acknowledged; the part of it with CE echoed
    uint64_t inflight_bytes;        // after this ACK
    bool ce;         // CC_NEEDS_PACKET_NACKS: the packet that caused the ACK had a CE mark, even
                     // if the ACK acknowledges no new bytes
    bool recovering; // a loss is being repaired, or a cut after ECN marks is being carried out:
                     // the window must not grow
    bool window_limited; // the flow used all of its window, so the window may grow (RFC 7661)
    // Destination flow control (UEC). penalty: the receiver requests a smaller window, 0 = no
    // request, 127 = about a packet per RTT. restore: the receiver no longer delays packets.
    uint8_t penalty;
    bool restore;
    const struct int_hop *hops;
    uint8_t n_hops;
    uint8_t pint; // digest of the path's utilization (collwire/int_hop.h), 0 = none
};

// Kinds of events other than an ACK.
enum cc_signal_kind {
    CC_SIGNAL_CNP,    // the receiver reports congestion in a packet of its own
    CC_SIGNAL_NACK,   // the receiver reports a gap in the sequence
    CC_SIGNAL_DUPACK, // duplicate or selective ACKs show a loss: fast recovery starts
    CC_SIGNAL_ECE,    // ACKs echo ECN marks; at most once per window of data
    CC_SIGNAL_TRIM,   // the receiver reports a packet that a switch has trimmed
    CC_SIGNAL_TIMEOUT // the retransmission timer expired
};
struct cc_signal {
    ps_t now_ps;
    enum cc_signal_kind kind;
    uint64_t snd_nxt;        // next byte to send, after the transport has handled the signal
    uint64_t inflight_bytes; // payload in flight before the signal
    bool again;              // TIMEOUT: an earlier timeout has already reported this data
    /* TRIM; `bytes` also of TIMEOUT where the transport retransmits packet by packet */
    uint32_t bytes; // payload of the packet
    ps_t rtt_ps;    // from the start of its transmission to the arrival of the report
    bool last_hop;  // trimmed by the switch before the destination
};

static inline bool cc_signal_is_loss(enum cc_signal_kind kind)
{
    return kind == CC_SIGNAL_NACK || kind == CC_SIGNAL_DUPACK || kind == CC_SIGNAL_TRIM ||
           kind == CC_SIGNAL_TIMEOUT;
}

// A message is posted to the flow.
struct cc_post {
    ps_t now_ps;
    uint64_t bytes; // of the message
    ps_t idle_ps; // time for which the flow had nothing in flight or waiting; 0 = the flow is busy
    uint32_t idle_rtos;  // the same in whole retransmission timeouts, if the transport restarts
                         // slowly after idle time (RFC 5681, section 4.1); else 0
    struct cc_hint hint; // from the poster of the message
};

// A policy's state for one flow. The transport allocates cc_bytes() for it.
struct cc {
    const struct cc_ops *ops;
    const void *params; // the struct that ops->params describes
    const struct cc_env *env;
    uint64_t rate_bps; // output: pacing rate in wire bytes, 0 < rate <= env->line_bps
    // output: window of payload bytes in flight, CC_UNLIMITED = none; below a packet, one packet is
    // sent at a time, so a rate below the line rate must then slow the flow
    uint64_t cwnd_bytes;
    // output: another number gives the flow's packets another path through the network (another UDP
    // source port), as soon as nothing is in flight; 0 = the path that the flow has begun with.
    // Transports that choose paths by packet, and TCP, ignore it.
    uint32_t path;
    // output: absolute times, at least CC_TIMER_LEAST_PS ahead; PS_NEVER = off
    ps_t timer_at_ps[CC_TIMERS];
    alignas(max_align_t) unsigned char priv[]; // ops->priv_bytes, zeroed when the flow begins
};

// The ECN marking (switch profile) that a policy expects of the switches; INT follows from `needs`.
struct cc_profile {
    bool ecn;
    uint64_t kmin_bytes, kmax_bytes; // at ref_bps; if `scaled`, multiplied by port rate / ref_bps
    double pmax;
    uint64_t ref_bps;
    bool scaled;
    double kmin_bdp, kmax_bdp; // not 0: in place of the bytes, in bandwidth-delay products of the
                               // port and the network's largest base RTT
    bool spares_last_hop;      // ports to ranks do not mark
};

// A profile with RED between two queue lengths at a rate.
#define CC_RED(kmin, kmax, p, at_bps, scales)                                                      \
    {                                                                                              \
        .ecn = true, .kmin_bytes = (kmin), .kmax_bytes = (kmax), .pmax = (p), .ref_bps = (at_bps), \
        .scaled = (scales)                                                                         \
    }

// A receiver's reports of ECN marks for a policy with CC_NEEDS_CNP (RoCE; other transports ignore
// this): CNP packets, at most one per interval and scope, beside the marks that every ACK echoes;
// or with CNP_PER_ACK the echoes alone. AUTO and 0 mean the first choice of each field: CNP
// packets, one interval per queue pair, CC_CNP_INTERVAL_PS.
enum cnp_mode { CNP_AUTO, CNP_NP_TIMER, CNP_PER_ACK };
enum cnp_scope { CNP_SCOPE_AUTO, CNP_SCOPE_QP, CNP_SCOPE_DESTINATION, CNP_SCOPE_PORT };
#define CC_CNP_INTERVAL_PS (50 * PS_PER_US) // Zhu et al., SIGCOMM 2015
struct cc_notification {
    enum cnp_mode cnp;
    enum cnp_scope scope; // one CNP interval for each queue pair, sender's address or port
    ps_t interval_ps;
};

// A preset: a named set of values that replace defaults of a parameter table.
struct cc_preset_value {
    const char *param, *value;
};
#define CC_GBPS(n) ((n)*UINT64_C(1000000000))

// Evidence for fields of a preset: parameters, "marking" (the profile) and "notification",
// separated by spaces. Every field that a preset of this program sets has an entry
// (tests/cc/test_evidence.c); plugins may omit them. All other fields have the evidence of their
// defaults.
struct cc_basis {
    const char *fields;
    enum evidence evidence;
    const char *source;
};
struct cc_preset {
    const char *name, *doc;
    const struct cc_preset_value *values;
    size_t n_values;
    const struct cc_basis *bases;
    size_t n_bases;
    struct cc_profile profile;
    struct cc_notification notification;
    // Up to this line rate a few long flows fill a port and keep its mean queue below 1 MB, with
    // hardly a pause and without a drop (docs/incasts.md); 0 = not claimed.
    uint64_t holds_bps;
};

// Credits, in wire bytes, that receivers grant and packets use up. A receiving port grants them in
// pieces to its flows in turn, at one rate for all; a flow starts with credits without a grant.
struct cc_credits {
    uint64_t rate_bps;
    uint32_t grant_bytes;
    uint64_t initial_bytes;
    uint64_t max_bytes; // that a flow may hold, request, or be granted in advance
};

// The contract that a policy was compiled against: its version and the size of every struct passed
// between policy and host. These are compared once, when a policy is added, so no struct has to
// carry its size in every event.
struct cc_contract {
    uint32_t version;
    uint32_t ops_bytes, cc_bytes, env_bytes, ack_bytes, signal_bytes, post_bytes, credits_bytes,
        preset_bytes, param_bytes, hop_bytes, helpers_bytes;
};
#define CC_CONTRACT                                                                                \
    {                                                                                              \
        .version = CC_VERSION, .ops_bytes = sizeof(struct cc_ops), .cc_bytes = sizeof(struct cc),  \
        .env_bytes = sizeof(struct cc_env), .ack_bytes = sizeof(struct cc_ack),                    \
        .signal_bytes = sizeof(struct cc_signal), .post_bytes = sizeof(struct cc_post),            \
        .credits_bytes = sizeof(struct cc_credits), .preset_bytes = sizeof(struct cc_preset),      \
        .param_bytes = sizeof(struct param), .hop_bytes = sizeof(struct int_hop),                  \
        .helpers_bytes = sizeof(struct cc_helpers),                                                \
    }

// A policy. init is required, and so are the lines marked so; every other hook is optional, and an
// event whose hook is NULL is ignored.
struct cc_ops {
    struct cc_contract contract;     // required: CC_CONTRACT; the first member in every version
    const char *name, *doc, *paper;  // required
    unsigned needs;                  // enum cc_needs
    const struct param *params;      // required with parameters
    size_t n_params, params_bytes;   // likewise
    size_t priv_bytes;               // private state of a flow, at most CC_PRIV_BYTES_MAX
    const struct cc_preset *presets; // required: at least one; the first is the default
    size_t n_presets;                // required
    void (*init)(struct cc *cc, ps_t now);                      // required
    void (*on_post)(struct cc *cc, const struct cc_post *post); // also restarts after idle time
    void (*on_send)(struct cc *cc, uint32_t wire_bytes,
                    ps_t now); // must not set timers: may run late
    void (*on_ack)(struct cc *cc, const struct cc_ack *ack);
    void (*on_signal)(struct cc *cc, const struct cc_signal *signal);
    void (*on_timer)(struct cc *cc, unsigned timer, ps_t now);
    // State for time series: writes the values named by `observed` to out (at most cap); returns
    // the count.
    size_t (*observe)(const struct cc *cc, double *out, size_t cap);
    const char *const *observed; // required with observe(): names of its values, NULL-terminated
    // Check a constraint between parameters. Returns NULL if it holds, else a message.
    const char *(*check)(const void *params);
    // With CC_NEEDS_INT: true if the policy uses one byte per packet (PINT) instead of hop records.
    bool (*wants_pint)(const void *params);
    // Required with CC_NEEDS_CREDITS: the credits of flows in this environment.
    struct cc_credits (*credits)(const void *params, const struct cc_env *env);
    // Optional functions for explanations: collwire/cc_extras.h.
    const struct cc_extras *extras;
};

// The export `collwire_plugin` of a plugin; its first two members are the same in every version.
struct cc_plugin {
    uint32_t version, bytes; // CC_VERSION, sizeof(struct cc_plugin)
    const struct cc_ops *const *policies;
    size_t n_policies;
};
#define CC_PLUGIN_SYMBOL "collwire_plugin"

// The last line of a plugin: COLLWIRE_PLUGIN(&first, &second).
#define COLLWIRE_PLUGIN(...)                                                                       \
    extern const struct cc_plugin collwire_plugin;                                                 \
    __attribute__((visibility("default"))) const struct cc_plugin collwire_plugin = {              \
        .version = CC_VERSION,                                                                     \
        .bytes = sizeof(struct cc_plugin),                                                         \
        .policies = (const struct cc_ops *const[]){__VA_ARGS__},                                   \
        .n_policies =                                                                              \
            sizeof((const struct cc_ops *const[]){__VA_ARGS__}) / sizeof(struct cc_ops *)}

#include "collwire/cc_helpers.h"

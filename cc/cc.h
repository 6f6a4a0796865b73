// SPDX-License-Identifier: MIT
// The contract of a congestion control policy: pure hooks that read their arguments and write `*cc`.
//
// A hook does no I/O, allocates nothing, reads no clock, draws no random number and keeps no static
// state. Timers are outputs: a hook writes an absolute time into timer_at_ps and the transport arms
// the engine. So a policy is tested with a table {at, event, expected rate and window}, without a
// network. Adding one: cc/x.c, its lines in cc/registry.c, tests/cc/test_x.c, a scenario.
//
// The contract does not depend on the transport: sequence numbers are bytes of the flow, and what only
// some transports can report is a kind of signal.
#pragma once

#include <stdalign.h>

#include "engine/param.h"
#include "engine/units.h"
#include "net/int_hop.h"

#define CC_VERSION 1 // of this contract; it changes whenever a struct or a meaning in it changes

#define CC_UNLIMITED UINT64_MAX // cwnd_bytes: no window
#define CC_TIMERS 2
#define CC_PRIV_BYTES_MAX 4096  // private state of a flow
#define CC_PARAMS_BYTES_MAX 512 // parameters of a policy
#define CC_INT_HOPS 8           // switches of a path whose INT a policy can follow

// What the transport must deliver for the policy to act; checked once when a scenario is built.
// GLOBAL_RTT: env->global_rtt_ps is wanted (it costs a search over all pairs). CE_SHARE: ack->ce_bytes
// must be exact where an ACK covers several packets, so the receiver acknowledges at once when CE
// changes (RFC 8257, section 3.2).
enum cc_needs {
    CC_NEEDS_ECN = 1,
    CC_NEEDS_CNP = 2,
    CC_NEEDS_INT = 4,
    CC_NEEDS_GLOBAL_RTT = 8,
    CC_NEEDS_CE_SHARE = 16
};

// Constant for the life of a flow.
struct cc_env {
    uint64_t line_bps;
    ps_t base_rtt_ps;         // 2 * propagation + a full packet out + its ACK back, on every hop
    ps_t global_rtt_ps;       // the largest base RTT of all pairs; 0 unless needed
    uint32_t mtu_bytes;       // payload of a full packet
    uint32_t full_wire_bytes; // what it costs on the line
    uint32_t hops;            // links of the path
};

// One ACK. Fields a transport cannot know are 0; hops is valid for n_hops entries only, the first
// switch first. The window was the limit, and not what there was to send, where inflight_bytes +
// acked_bytes reaches cwnd_bytes.
struct cc_ack {
    ps_t now_ps;
    ps_t rtt_ps; // from the start of the acknowledged packet's transmission to this ACK
    uint64_t seq, snd_una, snd_nxt; // bytes of the flow; seq = end of the acknowledged packet
    uint32_t acked_bytes, ce_bytes; // newly acknowledged; of them with CE echoed
    uint64_t inflight_bytes;        // after this ACK
    const struct int_hop *hops;
    uint8_t n_hops;
    uint8_t pint; // digest of the path's utilization (net/int_hop.h), 0 = none
};

// An event that is no ACK.
enum cc_signal_kind {
    CC_SIGNAL_CNP,    // the receiver notifies the sender of congestion, apart from ACKs
    CC_SIGNAL_NACK,   // the receiver reports a gap
    CC_SIGNAL_DUPACK, // duplicate ACKs show a gap
    CC_SIGNAL_TIMEOUT // the retransmission timer went off
};
struct cc_signal {
    ps_t now_ps;
    enum cc_signal_kind kind;
    uint64_t snd_nxt; // bytes of the flow, as the signal leaves it
};

static inline bool cc_signal_is_loss(enum cc_signal_kind kind)
{
    return kind == CC_SIGNAL_NACK || kind == CC_SIGNAL_DUPACK || kind == CC_SIGNAL_TIMEOUT;
}

// A message that begins.
struct cc_post {
    ps_t now_ps;
    ps_t idle_ps; // time in which nothing was in flight or waiting; 0 = the flow is busy
};

// A policy's state for one flow. The transport allocates cc_bytes() for it.
struct cc {
    const struct cc_ops *ops;
    const void *params; // the struct that ops->params describes
    const struct cc_env *env;
    uint64_t rate_bps;           // out: pacing rate of wire bytes, 0 < rate <= env->line_bps
    uint64_t cwnd_bytes;         // out: window of payload bytes in flight, CC_UNLIMITED = none
    ps_t timer_at_ps[CC_TIMERS]; // out: absolute, PS_NEVER = off
    alignas(max_align_t) unsigned char priv[]; // ops->priv_bytes, zeroed when the flow begins
};

// The ECN marking that a policy expects of the switches: its switch profile (INT follows from needs).
struct cc_profile {
    bool ecn;
    uint64_t kmin_bytes, kmax_bytes; // at ref_bps; scaled by port rate / ref_bps where scaled
    double pmax;
    uint64_t ref_bps;
    bool scaled;
};

// How a receiver that reports marks by CNPs (that of RoCE) is to do so for a policy: CNP packets, at
// most one per interval and scope, or CE echoed on every ACK. Other transports ignore it. AUTO and 0 stand for the first of each: CNP packets, a window
// per queue pair, CC_CNP_INTERVAL_PS.
enum cnp_mode { CNP_AUTO, CNP_NP_TIMER, CNP_PER_ACK };
enum cnp_scope { CNP_SCOPE_AUTO, CNP_SCOPE_QP, CNP_SCOPE_DESTINATION, CNP_SCOPE_PORT };
#define CC_CNP_INTERVAL_PS (50 * PS_PER_US) // Zhu et al., SIGCOMM 2015
struct cc_notification {
    enum cnp_mode cnp;
    enum cnp_scope scope; // what shares a window: a queue pair, a sender's address, a port
    ps_t interval_ps;
};

struct cc_preset;

// The notification point that a preset means, nothing left AUTO.
struct cc_notification cc_notification_of(const struct cc_preset *preset);

// A named set of values over the defaults of a parameter table.
struct cc_preset_value {
    const char *param, *value;
};
struct cc_preset {
    const char *name, *doc;
    const struct cc_preset_value *values;
    size_t n_values;
    struct cc_profile profile;
    struct cc_notification notification;
};

// What a policy was compiled against: the contract's version, and the size of every struct that is
// passed between policy and host. One comparison when a policy is added covers all of them, so that no
// struct has to carry its size from event to event.
struct cc_contract {
    uint32_t version;
    uint32_t ops_bytes, cc_bytes, env_bytes, ack_bytes, signal_bytes, post_bytes, preset_bytes,
        param_bytes, hop_bytes;
};
#define CC_CONTRACT                                                                                \
    {                                                                                              \
        .version = CC_VERSION, .ops_bytes = sizeof(struct cc_ops), .cc_bytes = sizeof(struct cc),  \
        .env_bytes = sizeof(struct cc_env), .ack_bytes = sizeof(struct cc_ack),                    \
        .signal_bytes = sizeof(struct cc_signal), .post_bytes = sizeof(struct cc_post),            \
        .preset_bytes = sizeof(struct cc_preset), .param_bytes = sizeof(struct param),             \
        .hop_bytes = sizeof(struct int_hop),                                                       \
    }

// A policy. Hooks left NULL ignore their event; init is required. The first preset is the default one,
// and every policy has at least one.
struct cc_ops {
    struct cc_contract contract; // CC_CONTRACT; first, whatever the version
    const char *name, *doc, *paper;
    unsigned needs;
    const struct param *params;
    size_t n_params, params_bytes;
    size_t priv_bytes; // private state of a flow, at most CC_PRIV_BYTES_MAX
    const struct cc_preset *presets;
    size_t n_presets;
    void (*init)(struct cc *cc, ps_t now);
    void (*on_post)(struct cc *cc, const struct cc_post *post); // idle restart lives here
    void (*on_send)(struct cc *cc, uint32_t wire_bytes,
                    ps_t now); // starts no timer: it may be late
    void (*on_ack)(struct cc *cc, const struct cc_ack *ack);
    void (*on_signal)(struct cc *cc, const struct cc_signal *signal);
    void (*on_timer)(struct cc *cc, unsigned timer, ps_t now);
    // State for time series: names in ops->observed, values into out (at most cap); the count.
    size_t (*observe)(const struct cc *cc, double *out, size_t cap);
    const char *const *observed; // NULL-terminated names of what observe() gives
    // A constraint between parameters that a range cannot say; NULL where all is well.
    const char *(*check)(const void *params);
    // CC_NEEDS_INT: is one byte a packet (PINT) wanted in place of hop records?
    bool (*wants_pint)(const void *params);
};

// Is `ops` a policy of this contract, whose parameters and presets are sound? 0, or -1 with errors. The
// rest of a policy of another version is not read.
int cc_ops_check(const struct cc_ops *ops, struct err *err);

// Bytes of a flow's struct cc with the private state of a policy, a multiple of its alignment.
size_t cc_bytes(const struct cc_ops *ops);

// Begin a flow: line rate, no window, timers off, then the policy's init. `cc` has cc_bytes(ops);
// `params` and `env` are borrowed and must outlive the flow.
void cc_begin(struct cc *cc, const struct cc_ops *ops, const void *params, const struct cc_env *env,
              ps_t now);

// Bandwidth-delay product of the pair in bytes, rounded up.
uint64_t cc_bdp_bytes(const struct cc_env *env);

// A window of `k` BDPs in bytes, rounded up; k (0 < k <= 1e6) counts to the nearest millionth.
uint64_t cc_window_bytes(const struct cc_env *env, double k);

// The window that caps a rate-based policy.
struct cc_cap {
    double bdp;     // in bandwidth-delay products of the pair, 0 = none
    uint64_t bytes; // the same for every pair; PARAM_AUTO = bdp of the pair
    bool scales;    // shrinks with the rate
};

// What cc->cwnd_bytes becomes under a cap at `rate_bps`; at least one byte, so that a packet may go.
uint64_t cc_cap_bytes(const struct cc_env *env, const struct cc_cap *cap, uint64_t rate_bps);

// Rows to include in a policy's table: those of a struct cc_cap, without a cap by default; and the one
// of a ps_t, the pause after which a flow begins afresh.
extern const struct param cc_cap_params[], cc_idle_restart_params[];

// What a message does to a flow that has been idle: nothing; its measurements are out of date (older
// than a base RTT), so drop them; or begin afresh.
enum cc_idle { CC_IDLE_KEEP, CC_IDLE_DROP_SAMPLES, CC_IDLE_RESTART };
enum cc_idle cc_idle_after(const struct cc *cc, ps_t idle_ps, ps_t idle_restart_ps);

// A parameter as a rate of this line, held within [1, env->line_bps].
uint64_t cc_line_rate_bps(const struct cc_env *env, struct line_rate rate);

// For ops->observe: `n` values into `out` (at most `cap`); the count.
size_t cc_observe_values(const double *values, size_t n, double *out, size_t cap);

// A full packet's share of payload on the line, by which a window of wire bytes becomes one of payload;
// 1 where its wire bytes are not known.
double cc_payload_share(const struct cc_env *env);

// Bytes over time as a rate, rounded to the nearest and held within [1, env->line_bps].
uint64_t cc_rate_of(const struct cc_env *env, double bytes, ps_t in_ps);

// Defaults of the table, then the values of a preset (NULL = the first). `params` holds
// ops->params_bytes. 0, or -1 when the preset is unknown.
int cc_params_init(const struct cc_ops *ops, const char *preset, void *params);

// The preset called `name` (NULL = the first), or NULL.
const struct cc_preset *cc_preset_find(const struct cc_ops *ops, const char *name);

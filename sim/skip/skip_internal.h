// SPDX-License-Identifier: MIT
// The parts of skipping: the calls of a period, its saved states, and how it is repeated.
#pragma once

#include "sim/skip/skip.h"
#include "sim/skip/watch.h"
#include "transport/state.h"

/* ---- calls between the network and the layers above (log.c) ---- */

enum skip_call_kind {
    CALL_POST, // down; all others go up
    CALL_DELIVERED,
    CALL_SENT,
    CALL_ENDED,
    CALL_BUSY,
    CALL_IDLE,
    CALL_LAST_PACKET
};

// Messages have names in a period: 0, 1, ... First come the messages that exist when it begins, in
// the order of flows, then the messages that are posted in it.
struct skip_call {
    ps_t event_ps;      // of the event, from the beginning of the period
    uint64_t event_key; // its key,
    uint64_t order_key; // and the largest key before it at the same instant (engine_order_key)
    ps_t now_ps;        // argument, from the beginning of the period
    uint32_t end;       // index behind the calls that are made within this one
    uint32_t message;   // name
    uint32_t flow;
    uint32_t detail; // index into the list of its kind
    uint8_t kind;    // enum skip_call_kind
};

struct skip_log {
    struct skip_call *calls;
    struct transfer_request *posts;
    struct arriving *arrivals;
    struct message *ended;
    struct sender_account *accounts;
    size_t n, cap, n_posts, cap_posts, n_arrivals, cap_arrivals, n_ended, cap_ended, n_accounts,
        cap_accounts;
};
void skip_log_clear(struct skip_log *log);
void skip_log_free(struct skip_log *log);
// Append a call and return it; `end` is to be set when it returns.
struct skip_call *skip_log_add(struct skip_log *log, enum skip_call_kind kind);
// True if both requests are the same to the hosts.
bool skip_same_request(const struct transfer_request *a, const struct transfer_request *b);

/* ---- the state of the network at a moment ---- */

struct skip_snapshot {
    struct state state;
    struct flow_state *flows; // [n_flows + 1]
    size_t n_flows;
    ps_t at_ps;
    uint64_t key;     // of the event after which it was taken
    uint64_t *tokens; // [message] tokens of the messages that exist, by name
    uint32_t n_tokens;
    size_t cap_tokens;
    uint64_t events, hops, bytes; // counters
};

/* ---- all of it ---- */

enum skip_mode {
    SKIP_WATCH,  // simulate, and look for a repetition
    SKIP_RECORD, // simulate, and write down the calls
    SKIP_REPEAT, // repeat the calls; the network rests
    SKIP_REJOIN, // simulate the network up to the present; calls have been made already
};

// The period that is repeated.
struct skip_period {
    ps_t length_ps, base_ps; // base: beginning of the present repetition
    uint64_t times;          // repetitions that are complete
    uint64_t *growth;        // [count]
    bool *dormant;           // [flow]
    bool *at_rest;           // [flow] its policy is not affected by congestion
    bool *spanning;          // [flow] it has something to send for longer than a period
    uint32_t *carry;         // [message] name of the same message in the repetition before
    uint64_t *tokens, *next; // [name] of the present and of the next repetition
    uint32_t *paths;         // [flow] critical path of its busy period
    struct event *events;    // pending in the network at its beginning
    size_t n_events;
    /* progress of the repetition */
    size_t at;                // next call
    size_t call;              // the call that is being made
    size_t n_posted;          // posts in this repetition so far
    bool within;              // in a call, not in an event above the network
    bool differs;             // the layers above have not posted the same as in the period
    struct skip_extra *extra; // posts that differ, until the network gets them
    size_t n_extra, cap_extra;
};
struct skip_extra {
    struct transfer_request request;
    ps_t now_ps;
    uint32_t path; // current path at the post
    enum path_cause late;
};

struct skip {
    struct skipping *all;
    struct fabric *fabric;
    struct delivery *delivery;
    struct transfer hosts; // below the ledger, while calls are passed on here
    enum skip_mode mode;
    struct engine_driver driver;
    struct host_client client; // the ledger's
    struct host_observer observer;
    struct skip_watch watch;
    uint64_t watched_before; // watch.n when it was last looked at
    struct skip_load {       // load of the network at a delivery to the watched rank
        uint64_t hops;
        uint32_t packets; // with meta-data
    } loads[WATCH_SIGNS];
    uint64_t quiet_until_bytes; // bytes delivered to all ranks from which another rank is watched
    struct hosts_visit visit;
    struct skip_log log;
    struct skip_snapshot first, second;
    struct skip_period period;
    /* looking */
    ps_t horizon_ps;      // of the engine, while `due` is set
    bool due;             // a snapshot is to be taken after this event
    uint32_t tried;       // period that is tried, in deliveries at the watched rank
    uint64_t tried_until; // watch.n at its end
    uint32_t failures;    // tries in a row that found a difference
    uint64_t patience;    // packet-hops from which the next try may begin
    double spent;         // on snapshots, in hops
    /* recording */
    uint32_t *names;   // [token] name of the message in the period
    uint32_t *numbers; // [token] number of the message in a snapshot
    uint32_t n_names;
    uint32_t n_start; // messages when the period began
    bool spoiled;
    /* rejoining */
    size_t swallowed; // calls so far
    struct skip_result result;
};

// The function delivery_watch.delivered.
void skip_delivered(void *skip, uint32_t rank, uint32_t src, uint64_t bytes, ps_t age_ps, ps_t now);

// Route the calls between the network and the layers above through sim/skip/calls.c, or directly.
void skip_attach(struct skip *s);
void skip_detach(struct skip *s);
// A message is posted while the network rests (sim/skip/repeat.c).
void skip_repeat_post(struct skip *s, const struct transfer_request *request, ps_t now);

// A moment between two events at which a snapshot is due (sim/skip/period.c).
void skip_boundary(struct skip *s);
void skip_set_mode(struct skip *s, enum skip_mode mode);
void skip_snapshot_free(struct skip_snapshot *snapshot);
// Watch another rank if nothing is delivered at this one any more; called now and then.
void skip_look_elsewhere(struct skip *s);
// Give the message of a post that is recorded its name.
void skip_name_post(struct skip *s, uint64_t token);
// Mark the recorded period as not repeatable, with the reason `why`.
void skip_spoil(struct skip *s, const char *why);

// Repeat calls, and process events above the network, until `max` events have been processed
// (sim/skip/repeat.c).
size_t skip_repeat(struct skip *s, size_t max);
void skip_rejoin(struct skip *s);
// Add the repetitions to the report.
void skip_count(struct skip *s);
// Visit all state of the network.
void skip_visit(struct skip *s, struct state *st);
// Ignore a call that has been made already, while the network is simulated up to the present.
void skip_swallow(struct skip *s, enum skip_call_kind kind);

// The timer of a pending event, NULL = it has none.
struct sim_timer *skip_timer(const struct engine *e, struct event event);
static inline bool skip_is_above(const struct sim_timer *t) { return t && t->locks; }

// SPDX-License-Identifier: MIT
// The state of hosts: flows, messages, NICs (engine/state.h).
//
// A flow that has nothing to send, no packet in flight and no timer at two moments, and has sent
// nothing in between, is ignored: its state need not be equal, and is not moved.
#pragma once

#include "engine/state.h"
#include "net/state.h"
#include "transport/host.h"

// The functions that visit a transport's state; transport_ops.state. `seq` is s->una.
struct transport_state {
    void (*sender)(struct sender *s, struct state *st, struct state_base seq);
    void (*receiver)(struct receiver *r, struct state *st, struct state_base seq);
    void (*meta)(struct state *st, struct packet *p, struct packet_meta *meta,
                 struct state_base seq);
    bool (*is_quiet)(const struct receiver *r); // it has no timer and waits for nothing
};

// The part of the canonical form that belongs to one flow.
struct flow_state {
    size_t at, count_at; // where it begins
    size_t account_at;   // its account in the counts, STATE_NO_ACCOUNT = it has nothing to send
    size_t policy_at, policy_end; // its policy's private state in the bytes
    size_t rest_end;              // end of a second copy of that state, made after cc_extras.forget
    bool dormant;
    bool stirred; // sender_cold.stirred since the last visit
    bool hidden;  // the times of its last packet have been left out, since it has nothing to send
};
#define STATE_NO_ACCOUNT SIZE_MAX

// The counts of an account: a stamp, and totals that grow where the stamp stays.
enum {
    ACCOUNT_BEGIN,
    ACCOUNT_WINDOW,
    ACCOUNT_PACE,
    ACCOUNT_PAUSED,
    ACCOUNT_TIMEOUT,
    ACCOUNT_SENT,
    ACCOUNT_RESENT,
    ACCOUNT_COUNTS
};

struct hosts_visit {
    struct hosts *hosts;
    ps_t (*posted_ps)(void *ctx, uint64_t token); // when a message was posted
    void *ctx;
    const bool *dormant;      // [flow] STATE_SHIFT: flows that are left as they are,
    const bool *at_rest;      // and flows whose policy's private state is left as it is
    struct flow_state *flows; // [flow], and an entry for the end
    struct state_base *seqs;  // [flow]
    uint64_t *paused_moved;   // [nic]
    bool *in_flight;          // [flow]
    void *scratch;            // a policy's state
    size_t n_flows, scratch_bytes;
};

// Visit a network with its hosts. The first n_flows counts are those of senders.una.
void hosts_visit(struct hosts_visit *v, struct state *st);
void hosts_visit_free(struct hosts_visit *v);

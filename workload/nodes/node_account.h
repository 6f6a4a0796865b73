// SPDX-License-Identifier: MIT
// Account of exposed communication: a rank's time while its compute stream was idle.
//
// When a computation starts after a gap, the account walks back over the causes of its start: the
// communication that ended last before it, the cause of that one's start, and so on until the gap's
// beginning. The time of each piece of communication within the gap is `waiting` until its peers
// had done their part (the message was posted, the last member had issued the collective), and
// `exposed` from then on. So per rank compute, exposed and waiting times and the rest add up to its
// time.
#pragma once

#include "workload/nodes/node.h"

// Time by the use of communication (node_program.uses) or by layer.
struct idle_time {
    ps_t exposed_ps, waiting_ps;
};

struct ended_node { // communication that ended in the present gap
    uint64_t id, cause;
    ps_t start_ps, peers_ps, end_ps;
    uint32_t layer, late_rank; // late_rank: of the job, the peer that was last; UINT32_MAX = none
    uint16_t use;
    bool communicates;
};

struct rank_account {
    /* state */
    ps_t idle_since_ps;       // PS_NEVER = computing
    struct ended_node *ended; // in the present gap
    size_t n_ended, cap_ended;
    /* counters */
    ps_t end_ps; // PS_NEVER = not finished
    ps_t compute_ps;
    struct idle_time *uses; // [n_uses]
    uint64_t *sent_bytes;   // [n_uses]
};

struct node_account {
    /* config */
    uint32_t n_ranks, n_uses, n_layers;
    /* counters */
    struct rank_account *ranks;
    ps_sum_t *layer_compute_ps; // [layer + 1] sum over ranks
    struct layer_idle {
        ps_sum_t exposed_ps, waiting_ps;
    } * layers;      // [layer + 1] sums over ranks
    ps_t *blamed_ps; // [rank] time that other ranks waited for it
};

void account_init(struct node_account *a, const struct node_program *p);
void account_free(struct node_account *a);

// The rank begins; a computation on its compute stream starts because `cause` ended, and ends.
void account_begin(struct node_account *a, uint32_t rank, ps_t now);
void account_compute(struct node_account *a, uint32_t rank, uint64_t cause, ps_t now);
void account_computed(struct node_account *a, uint32_t rank, uint32_t layer, ps_t takes_ps,
                      ps_t now);

// Anything else has ended.
void account_ended(struct node_account *a, uint32_t rank, const struct ended_node *node);

// The rank has ended; `cause`: its last node.
void account_finish(struct node_account *a, uint32_t rank, uint64_t cause, ps_t now);

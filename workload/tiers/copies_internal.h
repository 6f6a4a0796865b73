// SPDX-License-Identifier: MIT
// Copies that have begun, which the local and the remote part share.
#pragma once

#include "engine/timer.h"
#include "workload/tiers/copies.h"
#include "workload/tiers/sharing.h"

struct tier_host;

// The part of a remote copy at one host. It belongs to the host from the arrival of the first
// message on, which carries its size.
struct copy_share {
    struct copy *copy;
    struct tier_host *host;
    uint64_t left;  // bytes that the host's memory has still to read or write
    uint64_t ready; // bytes of `left` that it may read or write now
    uint32_t path;  // critical path up to the arrival; 0 = none
    bool queued;
    struct copy_share *next; // in the host's queue
};

struct copy {
    struct copies *owner;
    struct copy *next;      // in the list of all copies of its rank
    struct copy *next_free; // in the list of ended copies, whose memory is used again
    struct copy *next_turn; // in turn, behind this one
    uint32_t rank;          // of the job
    struct copy_step step;
    struct sim_timer timer; // the end of its latency, or of its local transfer
    uint32_t path;          // critical path up to the timer's start
    uint32_t transfer;      // of the sharing; SHARING_NONE = the timer is that of the latency
    /* remote */
    const struct tier *remote; // NULL = both tiers are local
    uint64_t waiting;          // bytes that the local memory has still to read or write
    uint64_t moving;           // bytes of `waiting` that it is reading or writing now
    uint64_t left;             // reads: bytes not yet in the local memory; writes: hosts to answer
    uint32_t place;            // host of the next stripe
    struct copy_share *shares; // [n_hosts]
    uint32_t cap_shares;
};

struct copies {
    struct copies_env env;
    struct sharing sharing;
    uint32_t **channels;             // [tier][2 * memory + writes] channel, SHARING_NONE = no limit
    struct copy **turn, **turn_last; // [rank] copies in turn, the running one first; NULL = none
    struct copy **all, **free;       // [rank]
    struct tier_hosts *remotes;      // [tier] see remote.c
    uint32_t **places;               // [tier][rank] host of the rank's next stripe; NULL = local
    struct tier_message *messages;
    struct slots numbers; // of messages
};

static inline uint32_t copies_node(const struct copies *c, uint32_t rank)
{
    return c->env.ranks != NULL ? c->env.ranks[rank] : rank;
}

// Arm a timer that is counted.
void copies_timer_start(const struct copies *c, struct sim_timer *timer, ps_t at_ps);

static inline bool copy_writes(const struct copy *copy) // the remote tier
{
    return copy->remote == &copy->owner->env.tiers->items[copy->step.to];
}

// Move bytes through the local memories of a copy. Returns false if none has a limit, so that it
// takes no time; otherwise copy_end() follows when they are moved, or remote_moved().
bool copy_move(struct copy *copy, uint64_t bytes, ps_t now);

// The copy has ended.
void copy_end(struct copy *copy, ps_t now);

/* remote.c */
void remotes_new(struct copies *c);
void remotes_free(struct copies *c);
void remote_begin(struct copy *copy, ps_t now);
void remote_moved(struct copy *copy, ps_t now);

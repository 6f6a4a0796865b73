// SPDX-License-Identifier: MIT
// The copies of a job's ranks between tiers of memory.
//
// A copy between local tiers takes the latencies of both, then its bytes at a rate that it shares
// with the other copies of the same memories (sharing.h). A copy from or to a remote tier takes
// messages (remote.c). Copies of a rank may overlap; the caller says when they begin.
#pragma once

#include "engine/engine.h"
#include "engine/tally.h"
#include "net/transfer.h"
#include "workload/tiers/tier.h"

struct path_book;
struct copies;

struct copies_env {
    struct engine *engine;
    struct path_book *path_book;
    const struct transfer *transfer;
    const struct tier_set *tiers;
    uint32_t job, n_ranks;
    const uint32_t *ranks; // [rank of the job] rank of the network, NULL = the same
    uint32_t cls, transport;
    uint64_t token;         // of its messages; the low COPIES_TOKEN_BITS are free
    struct tally *messages; // that have not ended
    struct tally *pending;  // armed timers
    ps_t *busy_until_ps;    // as in struct timed_steps
    void (*ended)(void *ctx, uint32_t rank, uint32_t step, ps_t now);
    void *ctx;
};

#define COPIES_TOKEN_BITS 32

struct copies *copies_new(const struct copies_env *env);
void copies_free(struct copies *c);
const struct tier_set *copies_tiers(const struct copies *c);

struct copy_step {
    uint32_t id;       // passed to ended()
    uint32_t from, to; // tiers, of which at most one is remote
    uint64_t bytes;
    bool in_turn; // it begins when the rank's copies of this kind before it have ended
};

// Begin a copy of a rank of the job. ended() is called in a later event, of this instant at the
// earliest.
void copies_begin(struct copies *c, uint32_t rank, const struct copy_step *step, ps_t now);

// A message with a token of this job has arrived, or was acknowledged.
void copies_delivered(struct copies *c, uint64_t token, ps_t now);
void copies_sent(struct copies *c, uint64_t token);

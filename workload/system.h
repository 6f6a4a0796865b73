// SPDX-License-Identifier: MIT
// The system layer of a job: its ranks issue collectives, which run as phases over dimensions.
//
// A phase of a chunk concerns one group of ranks. Where a dimension runs a limited number of phases
// at once, a group has one queue per dimension, and a phase joins it when all of the group's ranks
// are ready for it: so no rank holds a place for another that waits elsewhere, and ranks that get
// there in different orders cannot block each other. Where the number is not limited, every rank
// begins when it is ready. (ASTRA-sim has a queue per rank; ranks that move alike see the same.)
// All ranks of a job must issue the same collectives in the same order.
#pragma once

#include "collective/schedule.h"
#include "engine/units.h"

struct job_run;
struct system;

// What a rank issues. Nothing of it may differ between ranks.
struct system_request {
    enum coll_op op;
    uint64_t bytes; // the largest per-rank buffer (collective/collective.h)
    uint32_t dims;  // bit set of the schedule's dimensions; all ranks that agree in the others take
                    // part together
    uint32_t root, pieces, ranks_per_server; // as in coll_shape
    const struct coll_uneven *uneven;        // all_to_all over all ranks at once; NULL = alike
    bool urgent;                             // before all that are not
    const char *name;                        // for the record
};

// A rank's part of collective `number` has ended.
typedef void system_done(void *ctx, uint32_t rank, uint32_t number, ps_t now);

struct system *system_new(struct job_run *job, const struct coll_schedule *schedule,
                          system_done *done, void *ctx);
void system_free(struct system *s);

// Records phases of ranks, and dimensions in use, from now on; either may be NULL.
struct timeline;
struct dim_use;
void system_watch(struct system *s, struct timeline *timeline, struct dim_use *use);

// Adds to the dimensions' use what has begun and not ended.
void system_use_settle(struct system *s, ps_t now);

// Rank `rank` of the job issues its next collective; the request stays where it is. False: there is
// nothing to do for any rank, and `done` does not follow.
bool system_issue(struct system *s, uint32_t rank, const struct system_request *request, ps_t now);

// A message of this job has arrived; `token` as posted.
void system_delivered(struct system *s, uint64_t token, ps_t now);

// Bytes that all ranks will send for one such collective; asked before anything runs.
uint64_t system_bytes(const struct system *s, const struct system_request *request);

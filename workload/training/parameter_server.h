// SPDX-License-Identifier: MIT
// A job of workers that train by way of parameter servers.
//
// The last `servers` ranks of the job are servers, each with an equal part of the parameters; the
// others are workers, in groups of consecutive ranks. In an iteration the ranks of a group compute,
// and all-reduce their gradients among themselves; the first of them sends every server its part,
// receives the new parameters, and broadcasts them in the group. A group of one rank does without
// collectives.
//
// A server applies an update when it has come, in the order of arrival, and answers
//   sync   when those of all groups have been applied, as one update
//   async  at once
//   stale  when no group is more than `staleness` iterations behind the group that is answered
// The staleness of an update is the number of updates of other groups that the server has applied
// since it last answered the group: the gradient was computed without them.
// Left out: workers that begin to receive parameters before all of their gradient has left, servers
// on the ranks of workers, updates that a server would refuse.
// Sources: Li et al., OSDI 2014 (sharded servers); Ho et al., NIPS 2013 (stale synchronous
// parallel); Kurth et al., SC 2017 (groups that are synchronous inside).
#pragma once

#include "workload/group_choice.h"
#include "workload/kind.h"

enum server_mode { SERVER_SYNC, SERVER_ASYNC, SERVER_STALE };

struct server_params {                               // as in a scenario
    uint64_t servers, groups, staleness, iterations; // groups: PARAM_AUTO = a group per worker
    int mode;                                        // enum server_mode
    uint64_t bytes;                                  // of parameters, and of gradients
    uint64_t update_bps;                             // PARAM_AUTO = at once
    ps_t compute_ps;
    double jitter, spread;
    struct group_params group;
    struct mapping_params mapping;
};

struct server_settings {
    struct server_params params;
    struct group_choice choice;
};

// Numbers of workers and of their groups, of a job with so many ranks.
uint32_t server_workers(const struct server_params *p, uint32_t ranks);
uint32_t server_groups(const struct server_params *p, uint32_t ranks);

// Updates that servers have applied, by staleness; those beyond the last value are counted there.
#define STALENESS_VALUES 4096
struct staleness {
    uint64_t counts[STALENESS_VALUES];
    uint64_t n, sum, most;
};

struct job_run;
// Add the updates of all servers of a job of this kind.
void server_staleness(const struct job_run *job, struct staleness *sum);

extern const struct job_kind parameter_server_kind;

// Its program, and the function job_kind.new.
extern const struct program_ops server_program;
void *server_job_new(struct job_run *job);

// SPDX-License-Identifier: MIT
// The scenario while its objects are read, for the files of this room.
#pragma once

#include <jansson.h>

#include "cc/plugin/policies.h"
#include "engine/text/read.h"
#include "sim/spec/spec.h"
#include "workload/read/site.h"

enum override { OVERRIDE_SWITCH, OVERRIDE_NIC, OVERRIDE_TRANSPORT, OVERRIDE_CC, N_OVERRIDES };

// A value of `limits` as written; "auto" = no limit.
struct limits_params {
    ps_t sim_time_ps, wall_ps, stall_ps;
    uint64_t events, memory_bytes;
};

struct scenario {
    struct spec spec;
    struct dim_spec base; // switch, nic, transport and cc for dimensions that do not override them
    bool overrides[SPEC_MAX_DIMS][N_OVERRIDES];
    bool transports_listed, policies_listed; // `transport`, `cc` are lists
    struct limits_params limits;
    struct site site;    // what readers of jobs see
    const json_t **jobs; // [spec.n_jobs] as written
    bool jobs_listed;    // `workload` is a list
    json_t *root;        // the description borrows its strings
    char *dir, *resolved;
    struct policies policies; // with those of its plugins
    struct kept kept;         // what jobs have read and share
    const char **plugins;     // [n_plugins] as written
    size_t n_plugins;
};

/* fit.c */
// Warn if policy, transport and switches of a dimension do not fit together.
void fit_check(struct reader *r, const struct place *place, const struct dim_spec *dim);
// Check a stall limit that the scenario gives against the retransmission timeouts.
void fit_stall_check(struct reader *r, const struct place *stall, ps_t stall_ps);
// Add an error for each transport that does not provide what its policy needs.
void fit_policy_check(struct reader *r, const struct place *place, const struct dim_spec *dim);

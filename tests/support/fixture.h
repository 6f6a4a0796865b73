// SPDX-License-Identifier: MIT
// Simulations for tests, built from a spec without JSON.
#pragma once

#include "sim/sim_internal.h"
#include "transport/roce/roce_spec.h"
#include "workload/collective_job.h"
#include "workload/flows.h"

struct fixture {
    struct spec spec;
    struct job_spec jobs[4];
    struct flows_settings lists[4];            // of jobs that are flows
    struct collective_settings collectives[4]; // of jobs that are collectives
    struct raw_flow flows[1024];
    struct fault_spec faults[2];
    struct sim *sim;
    struct result *result;
};

// Defaults of every table, one dimension, no jobs: `ranks` on one switch.
void fixture_switch(struct fixture *f, uint32_t ranks, uint64_t rate_bps, ps_t delay_ps);

// The same on a leaf-spine fabric.
void fixture_leaf_spine(struct fixture *f, uint32_t ranks, uint32_t per_leaf, uint32_t spines,
                        struct link_spec link, struct link_spec trunk);

// The same on a kind of dimension that has a default for everything: "switch", "ring", "mesh",
// "dln".
void fixture_direct(struct fixture *f, const char *kind, uint32_t ranks, uint64_t rate_bps,
                    ps_t delay_ps);

// The kind of a dimension, with defaults for all it has.
void fixture_kind(struct dim_spec *dim, const char *topology);

// Policy by name ("dcqcn"), preset (NULL = default), then "key=value" pairs ending with NULL.
void fixture_cc(struct fixture *f, const char *name, const char *preset, ...);

// Add a raw flow to the first job; `start` after 0.
void fixture_flow(struct fixture *f, uint32_t src, uint32_t dst, uint64_t bytes, ps_t start_ps);

// Make job `job` one of `n` flows that stand in f->flows from index `first` on.
void fixture_flow_job(struct fixture *f, size_t job, const char *name, unsigned cls, size_t first,
                      size_t n);

// Make the first job a collective.
void fixture_collective(struct fixture *f, enum coll_op op, const char *algorithm, uint64_t bytes,
                        uint64_t chunks);

// Ranks of a job; a collective one gets settings of its own, flat over them.
void fixture_ranks(struct fixture *f, uint32_t job, uint32_t *ranks, uint32_t n);

// Make the first job's collective run over dimensions, an algorithm each; `sizes` multiply to its
// ranks.
void fixture_dims(struct fixture *f, uint32_t n_dims, const uint32_t *sizes,
                  const char *const *algorithms);

// A fault at a place that does nothing yet: never down, no storm.
struct fault_spec fixture_fault(const char *at);

// Build and run; fails the test on errors. Then f->sim and f->result are there.
void fixture_run(struct fixture *f);
void fixture_free(struct fixture *f);

// A setting of the algorithms that the collective job's schedule has, where they have it.
void fixture_setting(struct fixture *f, const char *key, const char *text);

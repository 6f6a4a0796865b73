// SPDX-License-Identifier: MIT
// Simulations for tests, built from a spec without JSON.
#pragma once

#include "sim/simulation.h"
#include "transport/roce/roce_spec.h"
#include "workload/collective_job.h"
#include "workload/flows.h"

struct fixture {
    struct spec spec;
    struct job_spec jobs[4];
    struct flows_settings lists[4];            // for jobs that are flows
    struct collective_settings collectives[4]; // for jobs that are collectives
    struct raw_flow flows[1024];
    struct fault_spec faults[2];
    struct sim *sim;
    struct result *result;
};

// Start with the defaults of every table, one dimension and no jobs: `ranks` ranks on one switch.
void fixture_switch(struct fixture *f, uint32_t ranks, uint64_t rate_bps, ps_t delay_ps);

// The same on a leaf-spine fabric.
void fixture_leaf_spine(struct fixture *f, uint32_t ranks, uint32_t per_leaf, uint32_t spines,
                        struct link_spec link, struct link_spec trunk);

// The same on a kind of dimension without required parameters: "switch", "ring", "mesh", "dln".
void fixture_direct(struct fixture *f, const char *kind, uint32_t ranks, uint64_t rate_bps,
                    ps_t delay_ps);

// Set the kind of a dimension, with the defaults of all its parameters.
void fixture_kind(struct dim_spec *dim, const char *topology);

// Set the policy by name ("dcqcn") and preset (NULL = default), then "key=value" pairs that end
// with NULL.
void fixture_cc(struct fixture *f, const char *name, const char *preset, ...);

// Add a raw flow to the first job. It starts at `start`.
void fixture_flow(struct fixture *f, uint32_t src, uint32_t dst, uint64_t bytes, ps_t start_ps);

// Make job `job` a list of `n` flows, which are in f->flows from index `first` on.
void fixture_flow_job(struct fixture *f, size_t job, const char *name, unsigned cls, size_t first,
                      size_t n);

// Make the first job a collective.
void fixture_collective(struct fixture *f, enum coll_op op, const char *algorithm, uint64_t bytes,
                        uint64_t chunks);

// Set the ranks of a job. A collective job gets settings of its own, for one flat dimension over
// them.
void fixture_ranks(struct fixture *f, uint32_t job, uint32_t *ranks, uint32_t n);

// Run the first job's collective over several dimensions with one algorithm each. The product of
// `sizes` is the number of ranks.
void fixture_dims(struct fixture *f, uint32_t n_dims, const uint32_t *sizes,
                  const char *const *algorithms);

// Add a fault at a place. It has no effect yet: never down, no pause storm.
struct fault_spec fixture_fault(const char *at);

// Build and run; sets f->sim and f->result. The test fails on errors.
void fixture_run(struct fixture *f);
void fixture_free(struct fixture *f);

// A setting of the algorithms that the collective job's schedule has, where they have it.
void fixture_setting(struct fixture *f, const char *key, const char *text);

// SPDX-License-Identifier: MIT
// Kinds of jobs, and jobs as a scenario describes them.
//
// A kind is its settings, described by a table, and the program that its ranks run. To add one: a file
// with its struct job_kind and a line in config/job_registry.c; where the table does not describe all
// of its settings, a reader in config too (config/job_reader.h).
#pragma once

#include "engine/param.h"
#include "workload/program.h"

struct job_spec;

struct job_kind {
    const char *name, *doc, *source;
    const struct param *params; // into the settings
    size_t n_params;
    size_t settings_bytes;                 // a zeroed block of this size, owned by the job
    void (*free_settings)(void *settings); // what they own; NULL = nothing
    const struct program_ops *program;
    void *(*new)(struct job_run *job); // the program's `self`
    // Queue pairs that it will use, about; NULL = one a rank. All messages are known before it runs,
    // each on a queue pair of its own: *listed.
    double (*queue_pairs)(const struct job_spec *job, bool *listed);
    bool trains; // its program is a struct training_job, with results by layer
};

// Jobs of a scenario: so many that their index fits a message's token below the two bits that relaying
// and striping use.
#define JOBS_MAX (1 << 14)

struct job_spec {
    const struct job_kind *kind;
    const char *name;
    ps_t start_ps;
    uint64_t cls;    // class of its data, 0..5
    uint32_t *ranks; // the job's ranks, NULL = all
    size_t n_ranks;
    void *settings; // the kind's
};

// Keys that all kinds have, into struct job_spec.
extern const struct param job_params[];
extern const size_t n_job_params;

// Settings of a kind with its defaults; of a job: free what it owns.
void *job_settings_new(const struct job_kind *kind);
void job_free(struct job_spec *job);

// Rank `i` of a job, as a rank of the network; how many it has.
uint32_t job_rank(const struct job_spec *job, uint32_t i);
uint32_t job_n_ranks(const struct job_spec *job, uint32_t n_ranks);

// How the ranks of a job are placed on those of the network: keys that some kinds have.
enum job_mapping { MAPPING_LOCAL, MAPPING_STRIDED, MAPPING_RANDOM };
struct mapping_params {
    int mapping; // enum job_mapping
    uint64_t stride;
};
extern const char *const job_mappings[];

// Rows of a table for a struct mapping_params at member `at` of settings `of`.
#define MAPPING_ROWS(of, at)                                                                       \
    {.name = "mapping",                                                                            \
     .type = PARAM_ENUM,                                                                           \
     .offset = offsetof(of, at.mapping),                                                           \
     .choices = job_mappings,                                                                      \
     .def = "local",                                                                               \
     .help = "of the job's ranks to places: in order; `stride` apart, so that neighbours are on "  \
             "different servers; or at random (seeded). `ranks` gives any other"},                 \
    {                                                                                              \
        .name = "stride", .type = PARAM_COUNT, .offset = offsetof(of, at.stride), .def = "auto",   \
        .min = "1", .max = "65536", .can_auto = true,                                              \
        .help = "mapping strided: places between neighbours; auto = the innermost dimension's "    \
                "size"                                                                             \
    }

// SPDX-License-Identifier: MIT
// Kinds of jobs, and jobs as a scenario describes them.
//
// A kind is a struct of settings, described by a table, and the program that the job's ranks run.
// To add one: a file with its struct job_kind and a line in config/object/job_registry.c; if the
// table does not describe all settings, also a reader (workload/read/job_reader.h).
#pragma once

#include "engine/base/param.h"
#include "workload/program.h"

struct comm_traffic;
struct job_spec;
struct memory_need;
struct node_program;

// What a training job computes in the words of its users, in all of its iterations; 0 = not known.
struct job_work {
    double tokens, samples;
    double flops;      // of the model, forward and backward, without what is computed again
    double peak_flops; // of a rank, in a second
};

// What a closed form says a training job takes, in all of its iterations.
struct job_projection {
    double compute_ps, communication_ps;
    double memory_bytes; // of a rank
    double most_ranks;   // that the job's way to divide the work can use
};

// What a training job moves between its GPUs and their hosts.
struct job_swap {
    uint32_t use;                       // of its nodes
    uint32_t kept, swapped, recomputed; // layers whose outputs stay, leave, are computed again
    bool weights;                       // weights leave, too
    double recomputed_ps;               // computing again, in all iterations
    double faster_ps; // how much sooner the job ends, as planned, if the links were twice as fast
    uint64_t link_bps;
};

struct job_kind {
    const char *name, *doc, *source;
    const struct param *params; // of the settings
    size_t n_params;
    size_t settings_bytes;                 // size of the settings: a zeroed block, owned by the job
    void (*free_settings)(void *settings); // frees what the settings own; NULL = nothing
    const struct program_ops *program;
    void *(*new)(struct job_run *job); // returns the `self` of `program`
    // Estimates the queue pairs and the messages of the job, in a zeroed struct with mtu_bytes;
    // NULL = a queue pair for each rank, and messages that are not known.
    void (*traffic)(const struct job_spec *job, struct comm_traffic *traffic);
    // Estimates the number of collectives; NULL = there are none, or their number is not known.
    double (*collectives)(const struct job_spec *job);
    // The node program of the job, for kinds with node_run_ops; NULL for others.
    const struct node_program *(*nodes)(const struct job_spec *job);
    struct job_work (*work)(const struct job_spec *job); // NULL = not known
    // The memory that the job's ranks need, owned by its settings; and what would shrink it, as the
    // end of a sentence (free() it), where a rank has `free_bytes`. NULL = not known.
    const struct memory_need *(*memory)(const struct job_spec *job);
    char *(*memory_lever)(const struct job_spec *job, uint64_t free_bytes);
    struct job_projection (*projection)(const struct job_spec *job); // NULL = there is none
    // Returns false if the job moves nothing. NULL = no job of the kind does.
    bool (*swap)(const struct job_spec *job, struct job_swap *swap);
    bool raw;    // its messages start at given times, not after each other
    bool trains; // the program is a struct training_job, which has results per layer
};

// Limit of jobs in a scenario: a job's index must fit into a message's token below the two bits
// used for relaying and striping.
#define JOBS_MAX (1 << 14)

struct job_spec {
    const struct job_kind *kind;
    const char *name, *shrunk; // shrunk: what has been left out; "" = nothing
    ps_t start_ps;
    uint64_t cls;               // traffic class of its data, 0..5
    uint8_t tier_classes;       // bit set: further classes, of its tiers of memory
    const char *transport_name; // "" = the default
    uint32_t transport;         // its number among the transports of each dimension
    uint32_t *ranks;            // the job's ranks, NULL = all
    size_t n_ranks;
    void *settings; // settings of the kind
};

// Keys of struct job_spec, which all kinds have.
extern const struct param job_params[];
extern const size_t n_job_params;

// Allocate the settings of a kind with their defaults; free what a job owns.
void *job_settings_new(const struct job_kind *kind);
void job_free(struct job_spec *job);

// The network's rank of rank `i` of a job; the number of the job's ranks.
uint32_t job_rank(const struct job_spec *job, uint32_t i);
uint32_t job_n_ranks(const struct job_spec *job, uint32_t n_ranks);

// Placement of the job's ranks on the ranks of the network; keys of some kinds.
enum job_mapping { MAPPING_LOCAL, MAPPING_STRIDED, MAPPING_RANDOM };
struct mapping_params {
    int mapping; // enum job_mapping
    uint64_t stride;
};
extern const char *const job_mappings[];

// Rows for a struct mapping_params at member `at` of the settings struct `of`.
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

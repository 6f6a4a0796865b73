// SPDX-License-Identifier: MIT
// Kinds of jobs in a scenario: the registry of all kinds, and functions that read, write and
// describe those settings of a kind that its table does not describe.
#pragma once

#include "config/object.h"
#include "config/read.h"
#include "workload/kind.h"

struct job_reader {
    // Read the keys that are not in the table into the job's settings, check all settings, and add
    // the names of the keys to `keys`; errors go to the reader.
    void (*read)(struct reader *r, const struct place *place, struct keys *keys,
                 struct job_spec *job);
    // Write the same keys into the resolved job `json`; `given`: the job as written. NULL = none.
    void (*write)(json_t *json, const struct job_spec *job, const json_t *given);
    // Add the same keys to the schema of the job. NULL = none.
    void (*schema)(json_t *object);
    // Describe the same keys for `collwire list`.
    const struct own_key *keys;
    size_t n_keys;
};

struct job_entry {
    const struct job_kind *kind;
    const struct job_reader *reader; // NULL = the table describes all settings
};
extern const struct job_entry job_registry[]; // ends with an entry without a kind

extern const struct job_reader flows_reader, incast_reader, permutation_reader, poisson_reader,
    collective_reader, training_reader, program_reader, llm_reader;
extern const struct job_reader chakra_reader, goal_reader, parameter_server_reader;

// Number of ranks of the job; 0 while the network is unknown.
uint32_t job_size(const struct reader *r, const struct job_spec *job);
// Check that the job has a rank `value`; adds an error if not.
bool rank_check(struct reader *r, const struct place *place, const struct job_spec *job,
                int64_t value);
// Check that two ranks of the job can exchange messages: a dimension connects them, or relaying is
// enabled, or the network is in closed form. If not, adds an error that names the pair.
bool pair_check(struct reader *r, const struct place *place, const struct job_spec *job, uint32_t a,
                uint32_t b);

// ---- mapping.c: sets the job's ranks by `mapping` ----
void map_ranks(struct reader *r, const struct place *place, struct job_spec *job,
               const struct mapping_params *params);

// ---- read_collective.c, also for training ----
// Check that a collective with so many chunks has no more parts than tokens can number; adds an
// error at `place` if not.
bool chunks_check(struct reader *r, const struct place *place, const struct coll_schedule *s);
// Read the dimensions of a job's ranks: `place`, a list of sizes, or the network's dimensions.
void read_job_dims(struct reader *r, const struct place *place, uint32_t ranks,
                   struct coll_schedule *s);

// ---- algorithms.c: settings of algorithms as keys of a job; `choices` as in collective_params
// ----
void algorithms_read(struct reader *r, const struct place *place, struct keys *keys,
                     struct coll_choice *choices);
void algorithms_write(json_t *json, const struct coll_choice *choices);
void algorithms_schema(json_t *object);

// Add the names of all algorithms to `words`; read one of them, with its settings, or an algorithm NULL
// with an error; look up one of `choices` by the name of a registered algorithm.
void algorithm_words(struct keys *words);
struct coll_choice algorithm_read(struct reader *r, const struct place *place,
                                  const struct coll_choice *choices);
struct coll_choice algorithm_named(const struct coll_choice *choices, const char *name);

// ---- check_algorithms.c ----
// Check that an algorithm can run a shape; check all pairs of members that exchange messages, up to the
// first that no dimension connects (`members`: rank of the job of each, NULL = all in order). Errors are
// added at `place`.
bool algorithm_supports(struct reader *r, const struct place *place, const struct coll_algorithm *a,
                        const struct coll_shape *shape);
bool algorithm_pairs(struct reader *r, const struct place *place, const struct job_spec *job,
                     const struct coll_algorithm *a, struct coll_shape shape,
                     const uint32_t *members);
// Check that the algorithms of a schedule can run an operation over the dimensions `dims` (bit set)
// of the job, with the other fields of `whole`. The first error is reported at `place`, at the item
// of its dimension if that is a list.
bool algorithms_check(struct reader *r, const struct place *place, const struct job_spec *job,
                      const struct coll_schedule *s, uint32_t dims, const struct coll_shape *whole);

// SPDX-License-Identifier: MIT
// Kinds of jobs in a scenario: the registry of all kinds, and functions that read, write and
// describe those settings of a kind that its table does not describe.
#pragma once

#include "engine/text/object.h"
#include "engine/text/read.h"
#include "workload/kind.h"
#include "workload/read/algorithms.h"
#include "workload/read/job_ranks.h"
#include "workload/read/site.h"

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
    collective_reader, training_reader, program_reader, llm_reader, cnn_reader;
extern const struct job_reader chakra_reader, goal_reader, parameter_server_reader;

/* read_collective.c, also for training */
// Check that a collective with so many chunks has no more parts than tokens can number; adds an
// error at `place` if not.
bool chunks_check(struct reader *r, const struct place *place, const struct coll_schedule *s);
// Read the dimensions of a job's ranks: `place`, a list of sizes, or the network's dimensions.
void read_job_dims(struct reader *r, const struct place *place, uint32_t ranks,
                   struct coll_schedule *s);

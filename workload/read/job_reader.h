// SPDX-License-Identifier: MIT
// Kinds of jobs in a scenario: the registry of all kinds, and for each kind what its table of
// settings does not describe: further keys, and checks.
#pragma once

#include "engine/text/object.h"
#include "engine/text/read.h"
#include "workload/kind.h"
#include "workload/read/algorithms.h"
#include "workload/read/job_parts.h"
#include "workload/read/job_ranks.h"
#include "workload/read/site.h"

struct job_reader {
    // Read the keys that are not in the table into the job's settings and check all settings;
    // errors go to the reader.
    void (*read)(struct reader *r, const struct place *place, struct job_spec *job);
    const struct job_part *parts; // the keys that are in no table; NULL = none
    // Offset in the settings of the choices of algorithms, all of whose settings are keys of the
    // job (algorithms.h); 0 = the job has none.
    size_t algorithms;
    // Remove keys that would be refused from the resolved job `json`; `given`: the job as written.
    // NULL = nothing to remove.
    void (*trim)(json_t *json, const struct job_spec *job, const json_t *given);
};

struct job_entry {
    const struct job_kind *kind;
    const struct job_reader *reader; // NULL = the table describes all settings
};
extern const struct job_entry job_registry[]; // ends with an entry without a kind

extern const struct job_reader flows_reader, incast_reader, permutation_reader, poisson_reader,
    collective_reader, training_reader, program_reader, llm_reader, cnn_reader;
extern const struct job_reader chakra_reader, goal_reader, parameter_server_reader;

/* job_parts.c */
// Fill the table of the settings of algorithms that are keys of such jobs. Returns the number of
// its rows.
size_t job_algorithm_rows(const struct job_reader *reader, struct param rows[ALGORITHM_ROWS_MAX]);
// Returns true if jobs of the kind have the key, beside `kind` and `ranks`.
bool job_has_key(const struct job_kind *kind, const struct job_reader *reader, const char *key);

/* read_collective.c, also for training */
// Check that a collective with so many chunks has no more parts than tokens can number; adds an
// error at `place` if not.
bool chunks_check(struct reader *r, const struct place *place, const struct coll_schedule *s);
// Read the dimensions of a job's ranks: `place`, a list of sizes, or the network's dimensions.
void read_job_dims(struct reader *r, const struct place *place, uint32_t ranks,
                   struct coll_schedule *s);

// SPDX-License-Identifier: MIT
// Kinds of jobs in a scenario: the registry of all kinds, and what reads, writes and describes the
// settings of a kind that its table does not.
#pragma once

#include "config/object.h"
#include "config/read.h"
#include "workload/kind.h"

struct job_reader {
    // Reads the keys that are not in the table into the job's settings, checks all of them, and adds
    // the names to `keys`; errors go to the reader.
    void (*read)(struct reader *r, const struct place *place, struct keys *keys,
                 struct job_spec *job);
    // The same keys as they were read, into the resolved job `json`; `given`: the job as written.
    // NULL = there are none.
    void (*write)(json_t *json, const struct job_spec *job, const json_t *given);
    // The same keys into the schema of the job. NULL = there are none.
    void (*schema)(json_t *object);
    // The same keys for `collwire list`.
    const struct own_key *keys;
    size_t n_keys;
};

struct job_entry {
    const struct job_kind *kind;
    const struct job_reader *reader; // NULL = the table says all
};
extern const struct job_entry job_registry[]; // ends with one without a kind

extern const struct job_reader flows_reader, incast_reader, permutation_reader, poisson_reader,
    collective_reader, training_reader;

// Ranks of the job; 0 while the network is unknown.
uint32_t job_size(const struct reader *r, const struct job_spec *job);
// Rank `value` of the job exists; else an error.
bool rank_check(struct reader *r, const struct place *place, const struct job_spec *job,
                int64_t value);
// Some dimension joins two ranks of the job; else an error naming the pair.
bool pair_check(struct reader *r, const struct place *place, const struct job_spec *job, uint32_t a,
                uint32_t b);

// ---- mapping.c: the job's ranks as `mapping` says ----
void map_ranks(struct reader *r, const struct place *place, struct job_spec *job,
               const struct mapping_params *params);

// ---- read_collective.c, for training too ----
// Are the parts of a collective of so many chunks few enough to be named? Else an error at `place`.
bool chunks_check(struct reader *r, const struct place *place, const struct coll_schedule *s);
// The dimensions of a job's ranks: `place`, a list of sizes, or the network's own.
void read_job_dims(struct reader *r, const struct place *place, uint32_t ranks,
                   struct coll_schedule *s);

// ---- algorithms.c: settings of algorithms as keys of a job; `choices` as in collective_settings ----
void algorithms_read(struct reader *r, const struct place *place, struct keys *keys,
                     struct coll_choice *choices);
void algorithms_write(json_t *json, const struct coll_choice *choices);
void algorithms_schema(json_t *object);

// ---- programs.c: can the algorithms of a schedule do what they have to? ----
// All that an operation over the dimensions `dims` (bit set) of the job may need, with the rest of
// `whole`; the first error stands at `place`, at its item of the dimension where it is a list.
bool algorithms_check(struct reader *r, const struct place *place, const struct job_spec *job,
                      const struct coll_schedule *s, uint32_t dims, const struct coll_shape *whole);

// SPDX-License-Identifier: MIT
// Between the files of this folder: the state of a reading, and a reader for each object.
#pragma once

#include "cc/catalogue.h"
#include "config/place.h"
#include "config/tables.h"
#include "topology/graph.h"

// What a resolved scenario needs beside the description.
struct job_source {
    struct job_params params;
    const json_t *json; // the job as written
};

enum override { OVERRIDE_SWITCH, OVERRIDE_TRANSPORT, OVERRIDE_CC, N_OVERRIDES };

struct scenario {
    struct spec spec;
    struct dim_spec base; // switch, transport and cc that hold where no dimension overrides them
    bool overrides[SPEC_MAX_DIMS][N_OVERRIDES];
    struct limits_params limits;
    struct job_source *sources; // [spec.n_jobs]
    bool jobs_listed;           // `workload` is a list
    json_t *root;               // strings of the description live in it
    char *dir, *resolved;
};

struct reader {
    struct err *err;
    struct scenario *scenario;
    const struct cc_catalogue *policies;
    struct graph ranks; // dimensions only, no links; n_ranks = 0 while unknown
};

// ---- read_params.c: objects and tables ----

// The keys an object may have, or the words a value may be; NULL-terminated, for suggestions.
struct keys {
    const char *names[128];
    size_t n;
};
void keys_add(struct keys *keys, const char *name);

// Is it an object (list)? Adds an error where it is something else; false where it is missing too.
bool read_object(struct reader *r, const struct place *place);
bool read_list(struct reader *r, const struct place *place);

// Set the fields of `base` that have keys; an error for required ones that are missing. Adds the
// table to `keys`.
void read_params(struct reader *r, const struct place *place, struct keys *keys,
                 const struct param *params, size_t n, void *base);

// Is the choice of an enumeration a boolean in JSON? (One of "auto", true, false.)
bool choice_is_bool(const struct param *param, const char *choice);

// An error for every key of an object that is not in `keys`.
void keys_check(struct reader *r, const struct place *place, const struct keys *keys);

// A word, one of `words` (NULL-terminated) of the kind `what`: its index, or -1 with an error.
int read_word(struct reader *r, const struct place *place, const char *what,
              const char *const *words);

// ---- one object each ----
void read_switch(struct reader *r, const struct place *place, struct switch_spec *sw);
void read_transport(struct reader *r, const struct place *place, struct transport_spec *transport);
void read_cc(struct reader *r, const struct place *place, struct dim_spec *dim);
void read_topology(struct reader *r, const struct place *place);
void read_workload(struct reader *r, const struct place *place);
void read_faults(struct reader *r, const struct place *place);
void read_routes(struct reader *r, const struct place *place);
void read_captures(struct reader *r, const struct place *place);
void read_report(struct reader *r, const struct place *place);
void read_limits(struct reader *r, const struct place *place);

// Defaults of the settings that a dimension may override.
void dim_defaults(struct dim_spec *dim);
// Warn where policy, transport and switches do not fit together.
void fit_check(struct reader *r, const struct place *place, const struct dim_spec *dim);

// ---- read_flows.c: jobs that are lists of messages ----
// Ranks of the job; 0 while the network is unknown.
uint32_t job_size(const struct reader *r, const struct job_spec *job);
// Rank `value` of the job exists; else an error.
bool rank_check(struct reader *r, const struct place *place, const struct job_spec *job,
                int64_t value);
// Some dimension joins two ranks of the job; else an error naming the pair.
bool pair_check(struct reader *r, const struct place *place, const struct job_spec *job, uint32_t a,
                uint32_t b);
void read_flows(struct reader *r, const struct place *place, struct keys *keys,
                struct job_spec *job, const struct job_params *params);
void read_incast(struct reader *r, const struct place *place, struct keys *keys,
                 struct job_spec *job, const struct job_params *params);
void read_permutation(struct reader *r, const struct place *place, struct keys *keys,
                      struct job_spec *job, const struct job_params *params);
// ---- mapping.c: the job's ranks as `mapping` says ----
void map_ranks(struct reader *r, const struct place *place, struct job_spec *job,
               const struct job_params *params);
// ---- read_poisson.c ----
void read_poisson(struct reader *r, const struct place *place, struct keys *keys,
                  struct job_spec *job, const struct job_params *params);
// ---- read_collective.c ----
void read_collective(struct reader *r, const struct place *place, struct keys *keys,
                     struct job_spec *job, const struct job_params *params);

// Are the parts of a collective of so many chunks few enough to be named? Else an error at `place`.
bool chunks_check(struct reader *r, const struct place *place, const struct coll_schedule *s);

// The dimensions of a job's ranks: `place`, a list of sizes, or the network's own.
void read_job_dims(struct reader *r, const struct place *place, uint32_t ranks,
                   struct coll_schedule *s);
// ---- programs.c: can the algorithms of a schedule do what they have to? ----
// All that an operation over the dimensions `dims` (bit set) of the job may need, with the rest of
// `whole`; the first error stands at `place`, at its item of the dimension where it is a list.
bool programs_check(struct reader *r, const struct place *place, const struct job_spec *job,
                    uint32_t dims, const struct coll_shape *whole);
// ---- read_training.c ----
void read_training(struct reader *r, const struct place *place, struct keys *keys,
                   struct job_spec *job, const struct job_params *params);

// ---- resolve.c ----
json_t *scenario_json(const struct scenario *scenario);
json_t *topology_json(const struct scenario *scenario);
// A value as a scenario writes it, from its text.
json_t *param_json(const struct param *param, const char *text);
// JSON as indented text that reads back exactly; free() it.
char *json_text(const json_t *json);

// SPDX-License-Identifier: MIT
// Between the files of this folder: the state of a reading, and what reads and writes by tables.
#pragma once

#include "cc/catalogue.h"
#include "config/place.h"
#include "config/tables.h"
#include "topology/graph.h"

enum override { OVERRIDE_SWITCH, OVERRIDE_TRANSPORT, OVERRIDE_CC, N_OVERRIDES };

// A quantity of `limits` as written; "auto" = no limit.
struct limits_params {
    ps_t sim_time_ps, wall_ps, stall_ps;
    uint64_t events, memory_bytes;
};

struct scenario {
    struct spec spec;
    struct dim_spec base; // switch, transport and cc that hold where no dimension overrides them
    bool overrides[SPEC_MAX_DIMS][N_OVERRIDES];
    struct limits_params limits;
    const json_t **jobs; // [spec.n_jobs] as written
    bool jobs_listed;    // `workload` is a list
    json_t *root;        // strings of the description live in it
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

// ---- fit.c ----
// Warn where policy, transport and switches do not fit together.
void fit_check(struct reader *r, const struct place *place, const struct dim_spec *dim);

// ---- write.c ----
// The keys of a table into an object, with the values of `base`; empty texts are left out.
void write_params(json_t *json, const struct param *params, size_t n, const void *base);
json_t *params_json(const struct param *params, size_t n, const void *base);
// A value as a scenario writes it, from its text.
json_t *param_json(const struct param *param, const char *text);
// JSON as indented text that reads back exactly; free() it.
char *json_text(const json_t *json);

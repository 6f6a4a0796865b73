// SPDX-License-Identifier: MIT
// Shared by the files of this folder: the state while reading, and functions that read and write by
// tables.
#pragma once

#include "engine/text/place.h"

struct cc_catalogue;
struct scenario; // defined by config/
struct site;     // the network as readers of jobs see it: workload/read/site.h

// Blocks of memory that live as long as the scenario that is being read.
struct kept {
    struct kept_block {
        void *block;
        void (*end)(void *block);
    } * blocks; // [n]
    size_t n;
};

struct reader {
    struct err *err;
    const char *dir; // that file names are relative to
    struct kept *kept;
    const struct site *site;
    struct scenario *scenario;
    const struct cc_catalogue *policies;
};

// ---- read_params.c: objects and tables ----

// Known keys of an object, or allowed words, for suggestions; NULL-terminated.
struct keys {
    const char *names[128];
    size_t n;
};
void keys_add(struct keys *keys, const char *name);

// Check that the value is an object (a list). Adds an error if it is something else. Returns false
// in that case and if it is missing.
bool read_object(struct reader *r, const struct place *place);
bool read_list(struct reader *r, const struct place *place);

// As read_object(); the error for a string shows it as the value of `key`, as in {"kind": "tcp"},
// and that for a boolean as {"enabled": false} if the key is ENABLED. NULL = the object has no such
// key.
bool read_object_of(struct reader *r, const struct place *place, const char *key);

// The key that turns an object off, for which a user may write its value alone.
#define ENABLED "enabled"
#define OBJECT_TEXT 160
// The end of an error of read_object_of(): `: {"enabled": false}`; "" = nothing is known to be
// meant. Returns `buf`.
const char *object_meant(const json_t *json, const char *key, char buf[OBJECT_TEXT]);

// Transfer the ownership of a block of memory to the scenario. When the scenario is freed,
// reader_keep() has it call free() on the block, and reader_keep_until() has it call `end`, which
// also frees what the block owns.
void reader_keep(struct reader *r, void *block);
void reader_keep_until(struct reader *r, void *block, void (*end)(void *block));

// Set the fields of `base` whose keys are present; adds an error for each missing key that is
// required. Adds the table's keys to `keys`.
void read_params(struct reader *r, const struct place *place, struct keys *keys,
                 const struct param *params, size_t n, void *base);

// True if the choice of an enumeration is written as a JSON boolean ("true" or "false").
bool choice_is_bool(const struct param *param, const char *choice);

// Add an error for every key of an object that is not in `keys`.
void keys_check(struct reader *r, const struct place *place, const struct keys *keys);

// As keys_check(), for an object with kinds: an error names other kinds that have the key.
struct object;
void keys_check_of(struct reader *r, const struct place *place, const struct keys *keys,
                   const struct object *o);

// Read a word that must be one of `words` (NULL-terminated), which are of the kind `what`. Returns
// its index, or -1 with an error.
int read_word(struct reader *r, const struct place *place, const char *what,
              const char *const *words);

// ---- write_values.c ----
// Write the keys of a table with the values of `base` into an object; empty texts are left out.
void write_params(json_t *json, const struct param *params, size_t n, const void *base);
json_t *params_json(const struct param *params, size_t n, const void *base);
// The JSON value, as a scenario writes it, of a parameter given as text.
json_t *param_json(const struct param *param, const char *text);
// Returns JSON as indented text that reads back to the same values; free() it.
char *json_text(const json_t *json);

// SPDX-License-Identifier: MIT
// Keys of a job that its table of settings does not describe, since their values are lists, words
// or objects of several forms. Each is a row, from which its name among the job's keys, its place
// in the resolved job, the schema and `collwire list` follow; a reader reads its value.
#pragma once

#include "engine/text/object.h"
#include "engine/text/read.h"

enum job_part_use { PART_LISTED = 1, PART_WRITTEN = 2, PART_IN_SCHEMA = 4 };

struct job_part {
    struct own_key own; // as `collwire list` shows it
    size_t offset;      // of its value in the settings
    // Add the key to the resolved job `json`, unless it has no value; `given`: the job as written.
    // NULL = as given.
    void (*write)(json_t *json, const char *key, const void *value, const json_t *given);
    json_t *(*schema)(void);
    // Where the row counts, a sum of enum job_part_use; 0 = everywhere. A key that has different
    // places in the list, the resolved job and the schema has a row for each.
    unsigned only;
};

#define PART_ROW(key_, type_, def_, help_, ...)                                                    \
    {                                                                                              \
        .own = {key_, type_, def_, help_}, __VA_ARGS__                                             \
    }
#define PARTS_END                                                                                  \
    {                                                                                              \
        .own.key = NULL                                                                            \
    }

// In all functions `parts` ends with PARTS_END; NULL = there are none.

// Add the names of the keys to `keys`.
void parts_add(struct keys *keys, const struct job_part *parts);
// Add the keys with the values of `settings` to the resolved job.
void parts_write(json_t *json, const struct job_part *parts, const void *settings,
                 const json_t *given);
void parts_schema(json_t *object, const struct job_part *parts);
// Remove keys that would be refused, `names`, which ends with NULL, from the resolved job.
void parts_remove(json_t *json, const char *const *names);
// Report the keys for `collwire list`.
void parts_list(const struct job_part *parts, const struct key_sink *to);

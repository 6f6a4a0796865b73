// SPDX-License-Identifier: MIT
// The files of a run as one atomic set in its output directory.
//
// One command at a time owns the directory (by a lock). Files are staged in DIR/.collwire/new. The
// point of no return is a journal of the files to remove and install: if the program is killed
// before it, the earlier set remains; after it, the next command completes the new set. run.json is
// removed first and installed last; it holds the set's id and the name, size and SHA-256 of every
// other file. Symbolic links are not followed, and only files of an earlier set are replaced or
// removed.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "engine/base/err.h"

struct result_set;

// Make `dir` and its parents, lock it, and complete or undo an interrupted commit. Returns NULL
// with an error. Free with result_set_close().
struct result_set *result_set_open(const char *dir, struct err *err);

// Reserve a file name (normalized and relative to the directory) for the set. Returns 0, or -1 with
// an error if a file of that name exists that no earlier set lists.
int result_set_claim(struct result_set *set, const char *name, struct err *err);

// The folder in which claimed files are to be written.
const char *result_set_staging(const struct result_set *set);

// Claim the file `name` and stage `text` as its content. Returns 0, or -1 with an error.
int result_set_write(struct result_set *set, const char *name, const char *text, struct err *err);

// The same, but `write` prints the content to `out`; false = there is no such file.
int result_set_stream(struct result_set *set, const char *name, bool (*write)(void *ctx, FILE *out),
                      void *ctx, struct err *err);

// Remove a claimed file from the set and delete its staged content.
void result_set_drop(struct result_set *set, const char *name);

// Replace the earlier set by the staged one. `run_json` is the text of run.json (an object; NULL =
// the program's version alone), to which id and files are added. Returns 0, or -1 with an error;
// the earlier set then remains.
int result_set_commit(struct result_set *set, const char *run_json, struct err *err);

// Add the staged files to the earlier set, whose other files, id and facts in run.json remain.
// `run_json` is used where there is no earlier set. Returns 0, or -1 with an error.
int result_set_extend(struct result_set *set, const char *run_json, struct err *err);

// The id of this set: 32 random hexadecimal digits.
const char *result_set_id(const struct result_set *set);

// In a worker process: close the descriptors of its parent's set, the lock's among them, so that
// the lock ends with the parent. Nothing is removed or freed.
void result_set_leave(struct result_set *set);

// Release the lock. Without a commit, also remove the staged files, and the directory if this
// command made it.
void result_set_close(struct result_set *set);

// Read DIR/NAME completely if it belongs to the set `id` (the id in DIR/run.json; NULL = any), else
// return NULL. To be freed.
char *result_set_read(const char *dir, const char *id, const char *name);

// The same as JSON, for any set that is in the directory.
json_t *result_set_json(const char *dir, const char *name);

// Write a text, or JSON, as one more file of the set in `dir`, or in place of one. Returns 0, or -1
// with an error.
int result_set_add(const char *dir, const char *name, const char *text, struct err *err);
int result_set_add_json(const char *dir, const char *name, const json_t *json, struct err *err);
// Write JSON as the only file of a new set, which replaces the earlier one. Returns 0, or -1 with
// an error.
int result_set_put_json(const char *dir, const char *name, const json_t *json, struct err *err);

// SPDX-License-Identifier: MIT
// The files of a run as one atomic set in its output directory.
//
// One command owns the directory at a time (a lock). Files are staged in DIR/.collwire/new; a journal of
// what is to be removed and installed is the point of no return: before it a kill leaves the earlier set,
// after it the next command completes the new one. run.json is removed first and installed last; it holds
// the set's id and the name, size and SHA-256 of every other file. Symbolic links are not followed, and
// only files of an earlier set are replaced or removed.
#pragma once

#include "engine/err.h"

struct result_set;

// Make `dir` and its parents, lock it, complete or undo what a killed command left there. NULL with an
// error. Free with result_set_close.
struct result_set *result_set_open(const char *dir, struct err *err);

// The set will hold a file of this name (clean and relative to the directory). 0, or -1 with an error
// where a file of that name is there that no earlier set holds.
int result_set_claim(struct result_set *set, const char *name, struct err *err);

// Where files of claimed names are to be written.
const char *result_set_staging(const struct result_set *set);

// Stage `text` as the file `name`, which is claimed with it. 0, or -1 with an error.
int result_set_write(struct result_set *set, const char *name, const char *text, struct err *err);

// Leave a claimed file out of the set, and give its space back.
void result_set_drop(struct result_set *set, const char *name);

// Replace the earlier set by what has been staged. `run_json` is the text of run.json (an object), to
// which id and files are added. 0; or -1 with an error, and the earlier set stands.
int result_set_commit(struct result_set *set, const char *run_json, struct err *err);

// The id of this set: 32 hexadecimal digits, random.
const char *result_set_id(const struct result_set *set);

// Unlock; without a commit all that was staged is removed, and a directory that was made for it.
void result_set_close(struct result_set *set);

// The whole of DIR/NAME if it belongs to the set `id` (that of DIR/run.json), else NULL. To be freed.
char *result_set_read(const char *dir, const char *id, const char *name);

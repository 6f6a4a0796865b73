// SPDX-License-Identifier: MIT
// Determines which files of an output directory are results of an earlier run: those listed in its
// run.json.
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct result_owner {
    json_t *names; // object: name -> true
};

// Read DIR/run.json. Never fails: without a run.json of this program no file is a result.
void result_owner_read(struct result_owner *owner, int dir_fd);
bool result_owner_has(const struct result_owner *owner, const char *name);

// Add to `remove` the files of the earlier set that are not in the list `install`.
void result_owner_stale(const struct result_owner *owner, const json_t *install, json_t *remove);
void result_owner_free(struct result_owner *owner);

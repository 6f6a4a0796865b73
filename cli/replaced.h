// SPDX-License-Identifier: MIT
// The scenario of a set of results, as run.json names it, and a line where a run has replaced the results
// of another one.
#pragma once

#include <jansson.h>

#include "collwire/collwire.h"

// {name, policy, sha256}: the hash is of the resolved scenario and the files that it names.
json_t *scenario_mark(const struct collwire_scenario *scenario);

// What is in a directory before a run.
struct replaced {
    json_t *run; // its run.json; NULL = it has no results
    char when[32];
};
struct replaced replaced_read(const char *dir);

// Say on stderr what was replaced, if it was of another scenario than `mark`. Frees what was read.
void replaced_note(struct replaced *earlier, const char *dir, const json_t *mark);
void replaced_free(struct replaced *earlier);

// SPDX-License-Identifier: MIT
// What run.json says of the scenario of its results, and the line on stderr that tells the user
// when a run has overwritten the results of another scenario.
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

// Say on stderr what was replaced, if it was of another scenario than `mark`.
void replaced_note(const struct replaced *earlier, const char *dir, const json_t *mark);
void replaced_free(struct replaced *earlier);

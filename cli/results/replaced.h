// SPDX-License-Identifier: MIT
// The mark of a scenario in run.json, and the line on stderr that warns the user when a run has
// overwritten the results of another scenario.
#pragma once

#include <jansson.h>

#include "collwire/collwire.h"

// {name, policy, sha256}: the hash is of the resolved scenario and the files that it names.
json_t *scenario_mark(const struct collwire_scenario *scenario);

// The results in a directory before a run.
struct replaced {
    json_t *run; // its run.json; NULL = it has no results
    char when[32];
};
struct replaced replaced_read(const char *dir);

// Print on stderr which results were replaced, if they were of another scenario than `mark`.
void replaced_note(const struct replaced *earlier, const char *dir, const json_t *mark);
void replaced_free(struct replaced *earlier);

// SPDX-License-Identifier: MIT
// A scenario: a JSON file read, checked and filled in, as a plain description of a run.
#pragma once

#include "cc/catalogue.h"
#include "engine/err.h"
#include "sim/spec.h"

// `--set path=value`: dotted path with [i]; the value as JSON, else as a bare string.
struct config_set {
    const char *path, *value;
};

struct scenario; // owns the description, its strings and the resolved text

// Read `path` ("-" = stdin), apply the sets, check everything; `policies` are those that `cc` may name.
// All errors (and warnings) go to `err` at once, each with its path in the scenario; NULL when there
// was any error.
struct scenario *scenario_load(const char *path, const struct config_set *sets, size_t n_sets,
                               const struct cc_catalogue *policies, struct err *err);
void scenario_free(struct scenario *scenario);

// Borrowed, valid until scenario_free().
const struct spec *scenario_spec(const struct scenario *scenario);
// The scenario with every default filled in, keys in a fixed order, as indented JSON. Loading it
// gives the same text again.
const char *scenario_resolved(const struct scenario *scenario);
// The folder that files named in the scenario are relative to.
const char *scenario_dir(const struct scenario *scenario);

// The JSON Schema (draft 2020-12) of scenarios, made from the parameter tables; free() it.
char *schema_text(const struct cc_catalogue *policies);

// SPDX-License-Identifier: MIT
// A scenario: a JSON file that is read, checked and completed with defaults into a plain
// description of a run.
#pragma once

#include <jansson.h>

#include "cc/plugin/policies.h"
#include "collwire/collwire.h"
#include "engine/base/err.h"
#include "sim/spec/spec.h"

struct scenario; // owns the description, its strings and the resolved text

// Read `path` ("-" = stdin), apply the sets, check everything. `cc` may name the policies of
// `policies`, which must outlive the scenario, and those of the plugins that the scenario lists.
// All errors and warnings are added to `err`, each with its path in the scenario; returns NULL if
// there was an error.
struct scenario *scenario_load(const char *path, const struct collwire_setting *sets, size_t n_sets,
                               const struct policies *policies, struct err *err);
// The same for a scenario as text; files that it names are relative to `folder`.
struct scenario *scenario_parse(const char *text, const char *folder,
                                const struct collwire_setting *sets, size_t n_sets,
                                const struct policies *policies, struct err *err);
void scenario_free(struct scenario *scenario);

// Borrowed; valid until scenario_free().
const struct spec *scenario_spec(const struct scenario *scenario);
// The scenario with all defaults filled in, keys in a fixed order, as indented JSON. Loading this
// text gives the same text again.
const char *scenario_resolved(const struct scenario *scenario);
// The scenario as it was read, with the sets, without defaults.
const json_t *scenario_given(const struct scenario *scenario);
// The policies that it may name.
const struct policies *scenario_policies(const struct scenario *scenario);
// True if exactly one of the scenario's transports can run the policy.
bool scenario_runs(const struct scenario *scenario, const struct cc_ops *policy);
// True if `transport` or `cc` is a list in the scenario.
bool scenario_lists(const struct scenario *scenario);
// Returns the list `cc`, as JSON, that gives `policy` to the transport that can run it, with a
// preset (NULL = the preset that is set, else the first); free() it. NULL with an error if no
// transport can run it, or several can.
char *scenario_with_policy(const struct scenario *scenario, const struct cc_ops *policy,
                           const char *preset, struct err *err);
// The folder that file names in the scenario are relative to.
const char *scenario_dir(const struct scenario *scenario);

// The JSON Schema (draft 2020-12) of scenarios, generated from the parameter tables; free() it.
char *schema_text(const struct cc_catalogue *policies);

// SPDX-License-Identifier: MIT
// Policies as the command line names them, applied to a scenario:
//
//   POLICY = NAME [':' PRESET] ['{' KEY '=' VALUE (',' KEY '=' VALUE)* '}']
//
// A key without a dot is one of the policy or of its transport; with a dot it is a path of the
// scenario, as in --set. Commas within brackets and quotes do not separate.
#pragma once

#include "config/scenario.h"

struct policy_choice {
    char *text;                    // as written
    char *kind, *preset;           // preset: NULL = none is named
    struct collwire_setting *sets; // changes of the scenario, in order; the texts are owned
    size_t n_sets;
};

// Read a list of policies, separated by commas; "all" is every policy that exactly one transport of
// the scenario runs. Adds an error for every mistake, each with the near miss. Returns the number
// of policies in *choices, to be freed with policy_choices_free().
size_t policy_choices_read(const char *list, const struct scenario *base,
                           struct policy_choice **choices, struct err *err);

// Returns the policies of a comparison for which the user names none: `none` and the scenario's
// own; "all" if it has no other, or several transports. To be freed.
char *policy_choices_default(const struct scenario *base);

// Returns the scenario's own policy, "dcqcn", or "dcqcn+cubic" with several transports; to be
// freed.
char *policy_own(const struct scenario *scenario);

void policy_choices_free(struct policy_choice *choices, size_t n);

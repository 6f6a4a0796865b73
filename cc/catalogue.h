// SPDX-License-Identifier: MIT
// A catalogue of congestion control policies: the built-in ones and any that a program has added.
//
// Scenarios, `collwire list`, the schema and comparisons look up policies in a catalogue that the
// caller passes, so a policy from outside this library is used in the same way as a built-in one.
#pragma once

#include "cc/cc.h"

#define CC_CATALOGUE_MAX 64

struct cc_catalogue {
    const struct cc_ops *policies[CC_CATALOGUE_MAX]; // borrowed, in order
    size_t n;
};

// A catalogue of the policies in cc/registry.c.
struct cc_catalogue cc_catalogue_builtin(void);

// Append a policy, which must outlive the catalogue. Returns 0, or -1 with errors if cc_ops_check()
// refuses the policy, if its name is taken or if the catalogue is full.
int cc_catalogue_add(struct cc_catalogue *c, const struct cc_ops *ops, struct err *err);

// The same for a policy that has been checked.
int cc_catalogue_append(struct cc_catalogue *c, const struct cc_ops *ops, struct err *err);

// Return the policy called `name`, or NULL.
const struct cc_ops *cc_catalogue_find(const struct cc_catalogue *c, const char *name);

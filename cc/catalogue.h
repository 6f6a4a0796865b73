// SPDX-License-Identifier: MIT
// A catalogue of congestion control policies: those that are built in, and any that were added.
//
// Scenarios, `collwire list`, the schema and comparisons take their policies from a catalogue that the
// caller gives them, so a policy from outside this library is used like one from inside.
#pragma once

#include "cc/cc.h"

#define CC_CATALOGUE_MAX 64

struct cc_catalogue {
    const struct cc_ops *policies[CC_CATALOGUE_MAX]; // borrowed, in order
    size_t n;
};

// The policies of cc/registry.c.
struct cc_catalogue cc_catalogue_builtin(void);

// Append a policy, which must outlive the catalogue. 0, or -1 with errors where cc_ops_check()
// refuses it, the name is taken or the catalogue is full.
int cc_catalogue_add(struct cc_catalogue *c, const struct cc_ops *ops, struct err *err);

// The policy called `name`, or NULL.
const struct cc_ops *cc_catalogue_find(const struct cc_catalogue *c, const char *name);

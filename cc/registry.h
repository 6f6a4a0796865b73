// SPDX-License-Identifier: MIT
// The built-in congestion control policies.
#pragma once

#include "cc/cc.h"

// All built-in policies in the order of the catalogue; NULL-terminated.
extern const struct cc_ops *const cc_registry[];

// True for a built-in policy that may give a flow another path (struct cc, path).
bool cc_moves_flows(const struct cc_ops *ops);

// Return the built-in policy called `name`, or NULL.
const struct cc_ops *cc_find(const char *name);

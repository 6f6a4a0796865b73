// SPDX-License-Identifier: MIT
// The built-in congestion control policies.
#pragma once

#include "cc/cc.h"

// All built-in policies in the order of the catalogue; NULL-terminated.
extern const struct cc_ops *const cc_registry[];

// Return the built-in policy called `name`, or NULL.
const struct cc_ops *cc_find(const char *name);

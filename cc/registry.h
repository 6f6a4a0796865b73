// SPDX-License-Identifier: MIT
// The catalogue of congestion control policies.
#pragma once

#include "cc/cc.h"

// All policies in the order of the catalogue; NULL-terminated.
extern const struct cc_ops *const cc_registry[];

const struct cc_ops *cc_find(const char *name);

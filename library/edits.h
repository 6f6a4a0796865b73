// SPDX-License-Identifier: MIT
// The settings of reasons, spelled out for a scenario.
#pragma once

#include "sim/result/result.h"

// Explanations name a setting of `switch`, `nic`, `transport` or `cc` by its key alone. Add the
// same setting for each dimension of the resolved scenario that has such an object of its own, and
// for every item where it is a list, so that the settings act on the whole network. `resolved`: the
// scenario as text.
void edits_spell(struct result *r, const char *resolved);

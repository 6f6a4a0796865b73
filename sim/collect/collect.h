// SPDX-License-Identifier: MIT
// Makes the result of a run from the state at its end.
#pragma once

#include "sim/simulation.h"

// Returns the result, without its plugins and memory limit (library/handle.c). To be called
// once.
struct result *collect(struct sim *sim);

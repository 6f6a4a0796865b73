// SPDX-License-Identifier: MIT
// Makes the result of a run from the state at its end.
#pragma once

#include "sim/state.h"

// Everything but what sim/sim.h adds. To be called once.
struct result *collect(struct sim *sim);

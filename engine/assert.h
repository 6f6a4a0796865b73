// SPDX-License-Identifier: MIT
// Invariants that stay on in Release: a broken one is a bug of ours, never of the user.
#pragma once

#include "engine/units.h"

// Prints expression, place and the simulated time and node last set, then aborts. The only output
// outside cli/: the process is about to die.
_Noreturn void sim_assert_fail(const char *expression, const char *file, int line, ps_t now_ps,
                               int64_t node);

#define SIM_ASSERT(engine, node, expression)                                                       \
    ((expression) ? (void)0                                                                        \
                  : sim_assert_fail(#expression, __FILE__, __LINE__, (engine)->now_ps, (node)))

// SPDX-License-Identifier: MIT
// Invariants that stay enabled in Release builds. A violation is a bug of the simulator, never a
// user error.
#pragma once

#include "engine/base/units.h"

// Prints the expression, its place in the source, the simulated time and the node, then aborts.
// This and memory.c are the only output outside cli/, because the process is about to die.
_Noreturn void sim_assert_fail(const char *expression, const char *file, int line, ps_t now_ps,
                               int64_t node);

#define SIM_ASSERT(engine, node, expression)                                                       \
    ((expression) ? (void)0                                                                        \
                  : sim_assert_fail(#expression, __FILE__, __LINE__, (engine)->now_ps, (node)))

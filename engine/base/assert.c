// SPDX-License-Identifier: MIT
// Reports a broken invariant and aborts.
#include "engine/base/assert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void sim_assert_fail(const char *expression, const char *file, int line, ps_t now_ps,
                               int64_t node)
{
    fprintf(stderr,
            "collwire: broken invariant: %s (%s:%d), at %" PRId64 " ps, node %" PRId64
            "; please report it with the scenario and seed\n",
            expression, file, line, now_ps, node);
    abort();
}

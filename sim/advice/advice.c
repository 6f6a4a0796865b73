// SPDX-License-Identifier: MIT
// Collects the advice on a scenario.
#include "sim/advice/advice.h"

#include "engine/base/memory.h"
#include "sim/advice/advice_internal.h"

struct advice *advice_new(const struct fabric *fabric, const struct workload *workload)
{
    struct advice *a = memory_zeroed(1, sizeof *a);
    if (fabric_is_analytical(fabric))
        return a;
    advise_marks(a, fabric);
    advise_windows(a, fabric);
    advise_headers(a, fabric);
    advise_headroom(a, fabric);
    advise_subscription(a, fabric);
    advise_timers(a, fabric, workload);
    advise_unknowns(a, fabric);
    advise_autos(a, fabric);
    if (fabric->spec->n_dims > 1)
        advice_merge_dims(a, fabric->spec->n_dims);
    return a;
}

// SPDX-License-Identifier: MIT
// Sentences about circuits that change.
#include "sim/explain/explain_internal.h"

void explain_circuits(const struct fabric *fabric, struct result *r)
{
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) {
        struct circuits_summary c = fabric_circuits_summary(fabric, d);
        if (c.n_changes == 0)
            continue;
        result_explain(r, EXPLAIN_REASON + result_share(r, PATH_PAUSED) / 2,
                       text_format("circuits: %llu reconfigurations; one of %u matchings has "
                                   "light %.3g %% of the time, and its packets wait for it",
                                   (unsigned long long)c.n_changes, c.n_matchings, 100 * c.light));
    }
}

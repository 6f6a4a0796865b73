// SPDX-License-Identifier: MIT
// RED's line between the thresholds.
#include "switch/marking.h"

double marking_probability(const struct marking *m, uint64_t bytes)
{
    if (!m->enabled || bytes < m->kmin_bytes)
        return 0;
    if (bytes > m->kmax_bytes || m->kmin_bytes == m->kmax_bytes)
        return 1;
    return m->pmax * (double)(bytes - m->kmin_bytes) / (double)(m->kmax_bytes - m->kmin_bytes);
}

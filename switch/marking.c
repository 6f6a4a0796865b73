// SPDX-License-Identifier: MIT
// RED's marking probability, and the updates of the PI controller.
#include "switch/marking.h"

double marking_probability(const struct marking *m, uint64_t bytes)
{
    if (!m->enabled)
        return 0;
    if (m->kind == MARKING_PI)
        return m->pi.p;
    if (bytes < m->kmin_bytes)
        return 0;
    if (bytes > m->kmax_bytes || m->kmin_bytes == m->kmax_bytes)
        return 1;
    return m->pmax * (double)(bytes - m->kmin_bytes) / (double)(m->kmax_bytes - m->kmin_bytes);
}

static void pi_step(struct marking_pi *pi, double by)
{
    pi->p += by;
    pi->p = pi->p < 0 ? 0 : pi->p > 1 ? 1 : pi->p;
}

void marking_advance(struct marking *m, uint64_t bytes, ps_t now)
{
    struct marking_pi *pi = &m->pi;
    if (now < pi->next_ps)
        return;
    int64_t more = (now - pi->next_ps) / pi->interval_ps; // updates after the first one
    double ref = (double)pi->qref_bytes, error = (double)bytes - ref;
    pi_step(pi, pi->a * error - pi->b * ((double)pi->q_old_bytes - ref));
    if (more > 0) // the remaining updates are equal, so the bounds need to be applied only once
        pi_step(pi, (double)more * (pi->a - pi->b) * error);
    pi->q_old_bytes = bytes;
    pi->next_ps += (more + 1) * pi->interval_ps;
}

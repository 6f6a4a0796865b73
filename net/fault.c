// SPDX-License-Identifier: MIT
// Decides which packets a fault hits.
#include "net/fault.h"

bool fault_hits(struct fault *fault, const struct packet *p, ps_t start_ps,
                enum drop_reason *reason)
{
    if (fault->down || start_ps < fault->up_since_ps)
        *reason = DROP_LINK_DOWN;
    else if (p->kind == PACKET_PFC && !fault->hits_pfc)
        return false;
    else if (fault->loss > 0 && rng_unit(&fault->rng) < fault->loss)
        *reason = DROP_LINK_LOSS;
    else if (fault->corruption > 0 && rng_unit(&fault->rng) < fault->corruption)
        *reason = DROP_LINK_CORRUPTION;
    else
        return false;
    fault->pfc_frames += p->kind == PACKET_PFC;
    return true;
}

// SPDX-License-Identifier: MIT
// Who is hit.
#include "net/fault.h"

static bool count(struct fault *fault, const struct packet *p, enum fault_reason reason)
{
    fault->packets[reason]++;
    fault->bytes[reason] += p->frame_bytes;
    fault->pfc_frames += p->kind == PACKET_PFC;
    return true;
}

bool fault_takes(struct fault *fault, const struct packet *p, ps_t start_ps)
{
    if (fault->down || start_ps < fault->up_since_ps)
        return count(fault, p, FAULT_DOWN);
    if (p->kind == PACKET_PFC && !fault->hits_pfc)
        return false;
    if (fault->loss > 0 && rng_unit(&fault->rng) < fault->loss)
        return count(fault, p, FAULT_LOSS);
    if (fault->corruption > 0 && rng_unit(&fault->rng) < fault->corruption)
        return count(fault, p, FAULT_CORRUPTION);
    return false;
}

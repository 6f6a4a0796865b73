// SPDX-License-Identifier: MIT
// Decides which packets a fault hits.
#include "net/fault.h"

#include <stdlib.h>

#include "engine/memory.h"

void fault_list(struct fault *fault, const struct loss_rule *rule)
{
    if (!fault->list)
        fault->list = memory_zeroed(1, sizeof *fault->list);
    loss_list_add(fault->list, rule);
}

void fault_free(struct fault *fault)
{
    if (fault->list)
        loss_list_free(fault->list);
    free(fault->list);
    fault->list = NULL;
}

bool fault_hits(struct fault *fault, const struct packet *p, const struct packet_meta *meta,
                ps_t start_ps, enum drop_reason *reason)
{
    bool listed = fault->list && loss_list_hits(fault->list, p, meta); // counts lost packets too
    if (fault->down || start_ps < fault->up_since_ps)
        *reason = DROP_LINK_DOWN;
    else if (listed)
        *reason = DROP_LINK_LOSS;
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

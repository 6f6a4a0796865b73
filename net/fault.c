// SPDX-License-Identifier: MIT
// Decides which packets a fault hits.
#include "net/fault.h"

#include <stdlib.h>

#include "engine/base/memory.h"

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

// Decides random loss and corruption of one transmission.
static bool draw_loss(struct fault *fault, const struct packet *p, enum drop_reason *reason)
{
    if (p->kind == PACKET_PFC && !fault->hits_pfc)
        return false;
    if (fault->loss > 0 && rng_unit(&fault->rng) < fault->loss)
        *reason = DROP_LINK_LOSS;
    else if (fault->corruption > 0 && rng_unit(&fault->rng) < fault->corruption)
        *reason = DROP_LINK_CORRUPTION;
    else
        return false;
    return true;
}

// In the rules of listed losses, further attempts of a packet count like its retransmissions.
ps_t fault_retry(struct fault *fault, struct packet *p, const struct packet_meta *meta,
                 ps_t arrives_ps, ps_t round_ps)
{
    enum drop_reason reason;
    struct packet attempt = *p;
    uint64_t failed = 0;
    attempt.arrives_ps = arrives_ps;
    while (failed < FAULT_ATTEMPTS_MAX) {
        bool listed = fault->list && loss_list_hits(fault->list, &attempt, meta);
        if (!listed && !draw_loss(fault, &attempt, &reason))
            break;
        failed++;
        attempt.arrives_ps += round_ps;
        attempt.flags |= PACKET_RETX;
    }
    ps_t waited_ps = (ps_t)failed * round_ps;
    fault->retry.packets += failed > 0;
    fault->retry.attempts += failed;
    fault->retry.waited_ps += waited_ps;
    p->given_up = failed == FAULT_ATTEMPTS_MAX;
    return waited_ps;
}

bool fault_hits(struct fault *fault, const struct packet *p, const struct packet_meta *meta,
                ps_t start_ps, enum drop_reason *reason)
{
    // listed losses count packets that are lost otherwise too
    bool listed =
        fault->retries ? p->given_up : fault->list && loss_list_hits(fault->list, p, meta);
    // A start is computed with the rate of now: before a loss of lanes it may come out below 0.
    if (fault->down || (fault->up_since_ps > 0 && start_ps < fault->up_since_ps))
        *reason = DROP_LINK_DOWN;
    else if (listed)
        *reason = DROP_LINK_LOSS;
    else if (fault->retries || !draw_loss(fault, p, reason))
        return false;
    fault->pfc_frames += p->kind == PACKET_PFC;
    return true;
}

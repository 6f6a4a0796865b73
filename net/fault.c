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
    free(fault->given_up.arrive_ps);
    fault->given_up = (struct given_up){0};
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

static void give_up(struct fault *fault, ps_t arrives_ps)
{
    struct given_up *g = &fault->given_up;
    if (g->n == g->cap)
        g->arrive_ps = memory_grow(g->arrive_ps, &g->cap, sizeof *g->arrive_ps);
    g->arrive_ps[g->n++] = arrives_ps;
}

// Returns true if the packet that arrives now has been given up.
static bool was_given_up(struct fault *fault, ps_t arrives_ps)
{
    struct given_up *g = &fault->given_up;
    if (g->first == g->n || g->arrive_ps[g->first] != arrives_ps)
        return false;
    if (++g->first == g->n)
        g->first = g->n = 0;
    return true;
}

// Listed losses count the attempts of a packet after the first like its retransmissions.
ps_t fault_retry(struct fault *fault, const struct packet *p, const struct packet_meta *meta,
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
    if (failed == FAULT_ATTEMPTS_MAX)
        give_up(fault, arrives_ps + waited_ps);
    return waited_ps;
}

bool fault_hits(struct fault *fault, const struct packet *p, const struct packet_meta *meta,
                ps_t start_ps, enum drop_reason *reason)
{
    // listed losses count packets that are lost otherwise too
    bool listed = fault->retries ? was_given_up(fault, p->arrives_ps)
                                 : fault->list && loss_list_hits(fault->list, p, meta);
    if (fault->down || start_ps < fault->up_since_ps)
        *reason = DROP_LINK_DOWN;
    else if (listed)
        *reason = DROP_LINK_LOSS;
    else if (fault->retries || !draw_loss(fault, p, reason))
        return false;
    fault->pfc_frames += p->kind == PACKET_PFC;
    return true;
}

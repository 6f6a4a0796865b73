// SPDX-License-Identifier: MIT
// Switches in which a queue meets its limit before it is marked: PFC stops an ingress, or packets
// are dropped, below kmin, so that a policy that acts on marks gets them late or never.
// Source: Zhu et al., SIGCOMM 2015, section 4: ECN must act before PFC.
#include "sim/fabric/fabric_internal.h"

// True if the switch has paused one of the ports that send to it.
static bool has_paused(const struct fabric *fabric, const struct switch_node *s)
{
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++)
        for (unsigned cls = 0; cls < NET_DATA_CLASSES; cls++)
            if (fabric->net.pfc[fabric->net.cold[p].peer].cls[cls].pauses > 0)
                return true;
    return false;
}

static bool of_switch(const struct fabric *fabric, uint32_t index, bool acted,
                      struct marks_order *found)
{
    const struct switch_node *s = &fabric->switches.nodes[index];
    if (fabric_uses_credits(fabric, s->dim) ||
        (acted && fabric_lossless(fabric, s->dim) != 0 && !has_paused(fabric, s)))
        return false;
    for (uint32_t i = 0; i < s->n_ports * fabric->net.n_data; i++) {
        unsigned slot = fabric->net.data_slot + i % fabric->net.n_data,
                 cls = fabric->net.class_of_slot[slot];
        const struct marking *m =
            &fabric->switches.markings[s->first_port * fabric->net.n_data + i];
        const struct cc_ops *cc = fabric_stack_of_class(fabric, s->dim, cls)->cc;
        bool lossless = fabric_lossless(fabric, s->dim) >> cls & 1;
        uint64_t given = s->mmu.config.queue_limit.bytes; // 0 = none
        // the most that a queue may hold while the rest of the buffer is empty
        uint64_t limit =
            (uint64_t)(s->mmu.alpha[slot - 1] * (double)switch_fullest(s)->shared_bytes);
        if (!lossless && given > 0 && given < limit)
            limit = given;
        // A policy that takes no marks cannot get them late.
        if (!m->enabled || m->kind == MARKING_PI || limit >= m->kmin_bytes ||
            !(cc->needs & (CC_NEEDS_ECN | CC_NEEDS_CNP)))
            continue;
        *found = (struct marks_order){cc, index, lossless, limit, m->kmin_bytes};
        return true;
    }
    return false;
}

struct marks_order fabric_marks_order(const struct fabric *fabric, bool acted)
{
    struct marks_order found = {0};
    uint32_t n = fabric->switches.n_switches + fabric->switches.n_routers;
    for (uint32_t i = 0; i < n && !of_switch(fabric, i, acted, &found); i++)
        ;
    return found;
}

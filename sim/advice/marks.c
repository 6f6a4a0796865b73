// SPDX-License-Identifier: MIT
// Warnings about ECN marks that a policy gets late or never.
//
// PFC stops each ingress of a lossless class by itself, so an egress queue that several ingresses
// fill grows beyond the limit of one: with n ingresses at the dynamic threshold to alpha n B / (1 +
// n alpha) (Choudhury & Hahne, ToN 1998), beside the reserve and the headroom of each. Marks
// come late if one ingress is stopped below kmin, and never if that sum is below it.
#include "sim/advice/advice_internal.h"

// The most that an egress queue of the switch may hold in a lossless class.
static uint64_t longest_queue(const struct fabric *fabric, const struct marks_order *o)
{
    const struct switch_node *s = &fabric->switches.nodes[o->sw];
    const struct mmu *mmu = switch_fullest(s);
    // All ports but the one of the queue may be its ingresses.
    double shared = (double)mmu->shared_bytes, n = s->n_ports - 1;
    double alpha = shared > 0 ? (double)o->limit_bytes / shared : 0;
    uint64_t own = 0; // of an ingress
    for (uint32_t i = 0; i < s->n_ports * s->mmu.n_classes; i++)
        if (s->mmu.ingress[i].headroom_limit > own)
            own = s->mmu.ingress[i].headroom_limit;
    own += mmu->config.reserve_bytes;
    return (uint64_t)(n * alpha * shared / (1 + n * alpha) + n * (double)own);
}

void advise_marks(struct advice *a, const struct fabric *fabric)
{
    struct marks_order o = fabric_marks_order(fabric, false);
    char name[GRAPH_NAME], limit[UNIT_TEXT], most[UNIT_TEXT], kmin[UNIT_TEXT];
    if (!o.cc)
        return;
    fabric_switch_name(fabric, o.sw, name);
    human_bytes(o.kmin_bytes, kmin);
    human_bytes(o.limit_bytes, limit);
    if (!o.lossless) {
        advice_warn(a, ADVICE_MARKS_NEVER, "switch.ecn.kmin",
                    text_format("%s gets no mark at %s: a queue ends at %s, marking begins at %s; "
                                "lower kmin below that, or let queues be longer",
                                o.cc->name, name, limit, kmin));
        return;
    }
    uint64_t longest = longest_queue(fabric, &o);
    if (longest < o.kmin_bytes)
        advice_warn(a, ADVICE_MARKS_NEVER, "switch.ecn.kmin",
                    text_format("%s gets no mark at %s: PFC lets a queue grow to %s at most, "
                                "marking begins at %s; lower kmin below that, or raise "
                                "switch.buffer or switch.pfc.alpha",
                                o.cc->name, name, human_bytes(longest, most), kmin));
    else
        advice_warn(a, ADVICE_MARKS_LATE, "switch.ecn.kmin",
                    text_format("PFC before ECN: %s stops an ingress that holds %s, marking begins "
                                "at %s, so %s gets its marks late; lower kmin below that, or raise "
                                "switch.buffer or switch.pfc.alpha",
                                name, limit, kmin, o.cc->name));
}

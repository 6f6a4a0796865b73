// SPDX-License-Identifier: MIT
// Switches in which a queue meets its limit before it is marked: PFC stops an ingress, or packets
// are dropped, below kmin, so that a policy that acts on marks learns of congestion late or never.
// Source: Zhu et al., SIGCOMM 2015, section 4: ECN must act before PFC.
#include "engine/text.h"
#include "sim/sim_internal.h"

// The first switch with such a queue: its limit, and kmin, the queue length from which packets are
// marked.
struct marks_order {
    const struct cc_ops *cc; // NULL = there is none
    uint32_t sw;
    bool lossless; // the limit stops one ingress; else it drops at an egress
    uint64_t limit_bytes, kmin_bytes;
};

// True if the switch has paused one of the ports that send to it.
static bool has_paused(const struct sim *sim, const struct switch_node *s)
{
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++)
        for (unsigned cls = 0; cls < NET_DATA_CLASSES; cls++)
            if (sim->net.pfc[sim->net.cold[p].peer].cls[cls].pauses > 0)
                return true;
    return false;
}

static bool of_switch(const struct sim *sim, uint32_t index, bool acted, struct marks_order *found)
{
    const struct switch_node *s = &sim->switches.nodes[index];
    if (sim_uses_credits(sim, s->dim) ||
        (acted && sim_lossless(sim, s->dim) != 0 && !has_paused(sim, s)))
        return false;
    for (uint32_t i = 0; i < s->n_ports * sim->net.n_data; i++) {
        unsigned slot = sim->net.data_slot + i % sim->net.n_data,
                 cls = sim->net.class_of_slot[slot];
        const struct marking *m = &sim->switches.markings[s->first_port * sim->net.n_data + i];
        const struct cc_ops *cc = sim_stack_of_class(sim, s->dim, cls)->cc;
        bool lossless = sim_lossless(sim, s->dim) >> cls & 1;
        uint64_t given = s->mmu.config.queue_limit.bytes; // 0 = none
        // the most that a queue may hold while the rest of the buffer is empty
        uint64_t limit =
            (uint64_t)(s->mmu.alpha[slot - 1] * (double)switch_fullest(s)->shared_bytes);
        if (!lossless && given > 0 && given < limit)
            limit = given;
        if (!m->enabled || m->kind == MARKING_PI || limit >= m->kmin_bytes ||
            !(cc->needs & (CC_NEEDS_ECN | CC_NEEDS_CNP)))
            continue;
        *found = (struct marks_order){cc, index, lossless, limit, m->kmin_bytes};
        return true;
    }
    return false;
}

// `acted`: only of switches that have sent an XOFF, where their dimension is lossless.
static struct marks_order marks_order(const struct sim *sim, bool acted)
{
    struct marks_order found = {0};
    uint32_t n = sim->switches.n_switches + sim->switches.n_routers;
    for (uint32_t i = 0; i < n && !of_switch(sim, i, acted, &found); i++)
        ;
    return found;
}

void sim_check_marks_order(const struct sim *sim, struct err *err)
{
    struct marks_order o = marks_order(sim, false);
    char name[GRAPH_NAME], limit[UNIT_TEXT], kmin[UNIT_TEXT];
    if (!o.cc)
        return;
    err_warn(
        err, "switch.ecn.kmin",
        "%s gets its marks late or never: %s marks from %s on, but %s %s; lower kmin below that, "
        "or raise switch.buffer%s",
        o.cc->name, sim_switch_name(sim, o.sw, name), human_bytes(o.kmin_bytes, kmin),
        o.lossless ? "PFC stops an ingress that holds"
                   : "it drops what would exceed an egress queue of",
        human_bytes(o.limit_bytes, limit), o.lossless ? " or switch.pfc.alpha" : "");
}

void sim_explain_marks_order(const struct sim *sim, struct result *r)
{
    struct marks_order o = marks_order(sim, true);
    char name[GRAPH_NAME], limit[UNIT_TEXT], kmin[UNIT_TEXT];
    if (!o.cc || (o.lossless ? r->pause_frames == 0 : r->dropped_packets == 0))
        return;
    result_explain(
        r, EXPLAIN_LOSS,
        text_format("%s before ECN: %s %s %s, and marks from %s on, so %s got %s; kmin "
                    "below the limit, or a larger buffer, lets it act first",
                    o.lossless ? "PFC" : "drops", sim_switch_name(sim, o.sw, name),
                    o.lossless ? "stops an ingress that holds" : "drops above a queue of",
                    human_bytes(o.limit_bytes, limit), human_bytes(o.kmin_bytes, kmin), o.cc->name,
                    r->marked_packets == 0 ? "no mark" : "its marks late"));
}

// SPDX-License-Identifier: MIT
// Inventory of the state of switches: how each member repeats (engine/state.h).
#include "switch/state.h"

#define F(member, kind) STATE_FIELD(struct switch_node, member, kind)
static const struct state_field node_fields[] = {
    F(routes, CONFIG),
    F(hash_seed, CONFIG),
    F(mark_from_bytes, CONFIG),
    F(node_port, CONFIG),
    F(first_port, CONFIG),
    F(markable, COUNT),
    F(int_mode, CONFIG),
    F(marking, CONFIG),
    F(lossless, CONFIG),
    F(credits, CONFIG),
    F(quanta, CONFIG),
    F(mmu, BY_HAND),
    F(routing, BY_HAND),
    F(trimming, CONFIG), // refused
    F(slices, BY_HAND),
    F(n_slices, CONFIG),
    F(cell_bytes, CONFIG),
    F(n_ports, CONFIG),
    F(row, CONFIG),
    F(dim, CONFIG),
    F(watchdog_detect_ps, CONFIG), // refused
    F(watchdog_restore_ps, CONFIG),
    F(int_rtt_ps, CONFIG),
};
STATE_TABLE(node_table, struct switch_node, node_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct switch_port, member, kind)
static const struct state_field port_fields[] = {
    F(marked, COUNT),     F(rng, PLAIN), // a port that draws does not repeat
    F(pfc, BY_HAND),      F(rate_bps, CONFIG),  F(limit_share, CONFIG),
    F(xoff_cause, PLAIN), F(xoff_votes, PLAIN),
};
STATE_TABLE(port_table, struct switch_port, port_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct pfc_sender, member, kind)
static const struct state_field pfc_fields[] = {
    F(refresh, BY_HAND),
    F(refresh_every_ps, CONFIG),
    F(xoff_sent, PLAIN),
};
STATE_TABLE(pfc_table, struct pfc_sender, pfc_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct mmu, member, kind)
static const struct state_field mmu_fields[] = {
    F(ingress, BY_HAND),  F(shared_used, PLAIN), F(max_shared_used, PLAIN), F(n_xoff, PLAIN),
    F(n_classes, CONFIG), F(limited, CONFIG),    F(shared_bytes, CONFIG),   F(config, CONFIG),
    F(limit, CONFIG),     F(alpha, CONFIG),
};
STATE_TABLE(mmu_table, struct mmu, mmu_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct mmu_ingress, member, kind)
static const struct state_field ingress_fields[] = {
    F(bytes, PLAIN),     F(headroom_bytes, PLAIN),     F(headroom_limit, CONFIG),
    F(max_bytes, PLAIN), F(max_headroom_bytes, PLAIN), F(xoff, PLAIN),
};
STATE_TABLE(ingress_table, struct mmu_ingress, ingress_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct routing, member, kind)
// clang-format off
static const struct state_field routing_fields[] = {
    F(quality, CONFIG),
    F(remote, CONFIG),
    F(kind, CONFIG),
    F(spray, CONFIG),
    F(by_quality, CONFIG),
    F(source, CONFIG),
    F(paths, BY_HAND),  // refused, with all that follow
    F(n_paths, BY_HAND),
    F(flowlet_gap_ps, CONFIG),
    F(turn, PLAIN),
    F(rng, PLAIN),
    F(flowlets, BY_HAND),
};
// clang-format on
STATE_TABLE(routing_table, struct routing, routing_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct marking, member, kind)
static const struct state_field marking_fields[] = {
    F(enabled, CONFIG),    F(kind, CONFIG), F(kmin_bytes, CONFIG), F(packet_bytes, CONFIG),
    F(kmax_bytes, CONFIG), F(pmax, CONFIG), F(pi, BY_HAND), // refused
};
STATE_TABLE(marking_table, struct marking, marking_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct switches, member, kind)
static const struct state_field switches_fields[] = {
    F(net, CONFIG),
    F(nodes, BY_HAND),
    F(n_switches, CONFIG),
    F(n_routers, CONFIG),
    F(router_at, CONFIG),
    F(ports, BY_HAND),
    F(markings, BY_HAND),
    F(watchdogs, CONFIG), // refused
    F(n_watchdogs_armed, PLAIN),
    F(trims, CONFIG),
    F(qualities, CONFIG),
    F(n_qualities, CONFIG),
    F(pints, CONFIG),
};
STATE_TABLE(switches_table, struct switches, switches_fields);
#undef F

static void visit_mmu(struct state *st, struct mmu *mmu, uint32_t n_ports, bool ingresses,
                      uint32_t index)
{
    state_visit(st, &mmu_table, mmu, index);
    for (uint32_t i = 0; ingresses && i < n_ports * mmu->n_classes; i++)
        state_visit(st, &ingress_table, &mmu->ingress[i], index);
}

static void visit_node(struct switches *sw, struct state *st, uint32_t index)
{
    struct switch_node *s = &sw->nodes[index];
    if (s->routing.kind != ROUTING_ECMP)
        state_refuse(st, "routing other than ecmp keeps state of its own");
    if (s->trimming.classes || s->credits || s->int_mode != INT_OFF)
        state_refuse(st, s->int_mode != INT_OFF ? "switches write telemetry (INT) into packets"
                                                : "switches trim packets, or credits are in use");
    state_visit(st, &node_table, s, index);
    state_visit(st, &routing_table, &s->routing, index);
    visit_mmu(st, &s->mmu, s->n_ports, true, index);
    for (uint32_t i = 0; s->slices && i < s->n_slices; i++)
        visit_mmu(st, &s->slices[i], s->n_ports, false, index); // they share the ingresses
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++) {
        state_visit(st, &port_table, &sw->ports[p], p);
        state_visit(st, &pfc_table, &sw->ports[p].pfc, p);
        state_timer(st, &sw->ports[p].pfc.refresh);
    }
}

void switches_visit(struct switches *sw, struct state *st)
{
    state_visit(st, &switches_table, sw, 0);
    if (sw->watchdogs || sw->qualities)
        state_refuse(st, "switches have watchdogs, or measure the quality of links");
    for (uint32_t i = 0; i < sw->net->n_ports * sw->net->n_data; i++) {
        state_visit(st, &marking_table, &sw->markings[i], i);
        if (sw->markings[i].enabled && sw->markings[i].kind == MARKING_PI)
            state_refuse(st, "a controller marks packets (`ecn.marking`)");
    }
    for (uint32_t i = 0; i < sw->n_switches + sw->n_routers; i++)
        visit_node(sw, st, i);
}

// SPDX-License-Identifier: MIT
// Builds switches and routers from the spec: buffer, headroom, marking, next hops, telemetry.
#include <stdio.h>

#include "engine/memory.h"
#include "sim/sim_internal.h"

uint32_t sim_switch_dim(const struct sim *sim, uint32_t index)
{
    return sim->graph.ports[sim->switches.nodes[index].first_port].dim;
}

const char *sim_switch_name(const struct sim *sim, uint32_t index, char buf[GRAPH_NAME])
{
    uint32_t node = sim->graph.ports[sim->switches.nodes[index].first_port].node;
    if (node >= sim->graph.n_ends)
        return graph_node_name(&sim->graph, node, buf);
    snprintf(buf, GRAPH_NAME, "rank%u:dim%u", node, sim_switch_dim(sim, index));
    return buf;
}

// The largest base RTT of the dimension's transports that need it.
static ps_t largest_rtt_ps(const struct sim *sim, uint32_t dim)
{
    ps_t most_ps = 0;
    for (uint32_t t = 0; t < sim->hosts.n_transports; t++) {
        ps_t rtt_ps = hosts_dim(&sim->hosts, dim, t)->global_rtt_ps;
        most_ps = rtt_ps > most_ps ? rtt_ps : most_ps;
    }
    return most_ps;
}

// The thresholds of a switch profile at a port.
static struct marking marking_of_profile(const struct cc_profile *profile, uint64_t rate_bps,
                                         ps_t rtt_ps)
{
    double scale = profile->scaled ? (double)rate_bps / (double)profile->ref_bps : 1;
    double kmin = (double)profile->kmin_bytes * scale, kmax = (double)profile->kmax_bytes * scale;
    if (profile->kmax_bdp > 0) {
        double bdp = (double)rate_bps * (double)rtt_ps / 8e12;
        kmin = profile->kmin_bdp * bdp;
        kmax = profile->kmax_bdp * bdp;
    }
    return (struct marking){.enabled = true,
                            .kmin_bytes = (uint64_t)kmin,
                            .kmax_bytes = (uint64_t)kmax,
                            .pmax = profile->pmax};
}

// Thresholds in packets, as bytes of full ones.
static struct marking marking_by_packets(const struct ecn_spec *ecn, uint64_t packet_bytes)
{
    uint64_t kmax = ecn->kmax_packets != PARAM_AUTO ? ecn->kmax_packets : ecn->kmin_packets;
    return (struct marking){.enabled = true,
                            .packet_bytes = packet_bytes,
                            .kmin_bytes = ecn->kmin_packets * packet_bytes,
                            .kmax_bytes = kmax * packet_bytes,
                            .pmax = ecn->pmax};
}

static struct marking marking_of(const struct sim *sim, uint32_t d, const struct stack_spec *stack,
                                 const struct graph_port *port, bool last_hop)
{
    const struct dim_spec *dim = &sim->spec->dims[d];
    ps_t rtt_ps = largest_rtt_ps(sim, d);
    uint32_t transport = (uint32_t)(stack - dim->stacks);
    uint64_t full_frame_bytes = hosts_dim(&sim->hosts, d, transport)->full.frame;
    const struct ecn_spec *ecn = &dim->sw.ecn;
    if (ecn->mode == ECN_ON && ecn->kind == MARKING_PI)
        return (struct marking){.enabled = true,
                                .kind = MARKING_PI,
                                .pi = {.a = ecn->pi_a / 1000,
                                       .b = ecn->pi_b / 1000,
                                       .qref_bytes = ecn->qref_bytes,
                                       .interval_ps = ecn->pi_interval_ps,
                                       .next_ps = ecn->pi_interval_ps}};
    if (ecn->mode == ECN_ON && ecn_counts_packets(ecn))
        return marking_by_packets(ecn, full_frame_bytes);
    if (ecn->mode == ECN_ON)
        return (struct marking){.enabled = true,
                                .kmin_bytes = ecn->kmin_bytes,
                                .kmax_bytes = ecn->kmax_bytes,
                                .pmax = ecn->pmax};
    const struct cc_profile *profile = &stack->cc_preset->profile;
    if (ecn->mode == ECN_OFF || !profile->ecn || (profile->spares_last_hop && last_hop))
        return (struct marking){0};
    return marking_of_profile(profile, port->rate_bps, rtt_ps);
}

uint64_t sim_marked_bytes(const struct sim *sim, uint32_t dim, uint32_t transport, uint32_t port)
{
    const struct dim_spec *spec = &sim->spec->dims[dim];
    struct marking m =
        marking_of(sim, dim, &spec->stacks[transport], &sim->graph.ports[port], false);
    if (!m.enabled)
        return UINT64_MAX;
    return m.kind == MARKING_PI ? m.pi.qref_bytes : m.kmax_bytes;
}

void sim_routes_install(struct sim *sim)
{
    network_undecide(&sim->net);
    const struct routes *routes = &sim->routes;
    for (uint32_t i = 0; i < sim->switches.n_switches + sim->switches.n_routers; i++) {
        struct switch_node *s = &sim->switches.nodes[i];
        s->routes = (struct next_hops){
            .next = routes->next + (size_t)s->row * routes->n_groups,
            .group = routes->group + (size_t)s->dim * routes->n_ranks,
            .own = routes->port + (size_t)s->dim * routes->n_ranks,
            .sets = (const struct next_hop_set *)(const void *)routes->sets,
            .ports = routes->ports,
        };
    }
}

static void build_watchdog(struct sim *sim, struct switch_node *s, const struct switch_spec *sw)
{
    const struct pfc_spec *pfc = &sw->pfc;
    bool watched = pfc->enabled && pfc->watchdog && sw->flow_control == FLOW_CONTROL_PFC;
    s->watchdog_detect_ps = watched ? pfc->watchdog_detect_ps : PS_NEVER;
    s->watchdog_restore_ps = pfc->watchdog_restore_ps;
    if (watched && !sim->switches.watchdogs)
        watchdogs_init(&sim->switches);
}

// Marking of the data class number `i` at a port of the switch.
static struct marking build_marking(const struct sim *sim, const struct switch_node *s, uint32_t p,
                                    uint32_t i)
{
    const struct network *net = &sim->net;
    unsigned cls = net->class_of_slot[net->data_slot + i];
    bool last_hop = sim->graph.ports[sim->graph.ports[p].peer].node < sim->graph.n_ends;
    return marking_of(sim, s->dim, sim_stack_of_class(sim, s->dim, cls), &sim->graph.ports[p],
                      last_hop);
}

// Packets that wait in queues shorter than this are not looked at when they leave.
static void mark_from(const struct sim *sim, struct switch_node *s, const struct marking *marking)
{
    const struct ecn_spec *ecn = &sim->spec->dims[s->dim].sw.ecn;
    bool at_arrival = ecn->mode == ECN_ON && ecn->at == ECN_AT_ARRIVAL;
    if (marking->enabled && marking->kmin_bytes < s->mark_from_bytes && !at_arrival)
        s->mark_from_bytes = marking->kmin_bytes;
}

void sim_scale_buffers(struct sim *sim, uint32_t p, double share)
{
    struct switch_node *s = switch_of_port(&sim->switches, p);
    if (!s)
        return;
    sim->switches.ports[p].limit_share = share < 1 ? share : 0;
    for (uint32_t i = 0; i < sim->net.n_data; i++) {
        struct marking *now = &sim->switches.markings[p * sim->net.n_data + i];
        const struct marking full = build_marking(sim, s, p, i);
        now->kmin_bytes = (uint64_t)((double)full.kmin_bytes * share);
        now->kmax_bytes = (uint64_t)((double)full.kmax_bytes * share);
        now->pi.qref_bytes = (uint64_t)((double)full.pi.qref_bytes * share);
        mark_from(sim, s, now);
    }
}

static void build_port(struct sim *sim, struct switch_node *s, uint32_t p,
                       const struct dim_spec *dim)
{
    const struct network *net = &sim->net;
    struct switch_port *port = &sim->switches.ports[p];
    struct byte_time bt = port_link(net, net->cold[p].peer)->byte_time;
    bool at_arrival = dim->sw.ecn.mode == ECN_ON && dim->sw.ecn.at == ECN_AT_ARRIVAL;
    for (uint32_t i = 0; i < net->n_data; i++) {
        struct marking marking = build_marking(sim, s, p, i);
        sim->switches.markings[p * net->n_data + i] = marking;
        mark_from(sim, s, &marking);
        if (marking.enabled && marking.kind == MARKING_PI)
            s->marking |= SWITCH_MARKS_PI;
        if (marking.enabled && at_arrival)
            s->marking |= SWITCH_MARKS_AT_ARRIVAL;
    }
    if (dim->sw.ecn.mode == ECN_ON && dim->sw.ecn.not_ect == NOT_ECT_DROP)
        s->marking |= SWITCH_DROPS_NOT_ECT;
    port->rng = rng_init(sim->spec->seed, RNG_ECN, p);
    port->rate_bps = sim->graph.ports[p].rate_bps;
    if (s->int_mode == INT_PINT)
        sim->switches.pints[p].rng = rng_init(sim->spec->seed, RNG_PINT, p);
    // half of the quanta of 64 byte times, at the rate of the sender that is paused
    port->refresh_every_ps = byte_time_span(&bt, dim->sw.pfc.quanta * 64) / 2;
    if (port->refresh_every_ps < 1)
        port->refresh_every_ps = 1;
}

// Build switch nodes[index] with its ports; `row` is its row in the routes.
static void build_switch(struct sim *sim, uint32_t index, uint32_t first_port, uint32_t n_ports,
                         uint32_t row, struct err *err)
{
    struct switch_node *s = &sim->switches.nodes[index];
    uint32_t d = sim->graph.ports[first_port].dim;
    const struct dim_spec *dim = &sim->spec->dims[d];
    switch_attach(&sim->switches, index, first_port, n_ports);
    sim_buffer_init(sim, index, err);
    s->row = row;
    s->dim = d;
    struct rng rng = rng_init(sim->spec->seed, RNG_ECMP, sim->graph.ports[first_port].node);
    s->hash_seed = (uint64_t)rng_u32(&rng) << 32 | rng_u32(&rng);
    if (dim->sw.routing.seeds == SEEDS_SAME)
        s->hash_seed = sim->spec->seed;
    s->routing = (struct routing){.kind = (uint8_t)dim->sw.routing.kind,
                                  .spray = (uint8_t)dim->sw.routing.spray,
                                  .by_quality = dim->sw.routing.flowlet_choice == FLOWLET_QUALITY,
                                  .source = (uint8_t)dim->sw.routing.source,
                                  .quality = sim_link_quality(sim, d),
                                  .remote = dim->sw.routing.remote,
                                  .flowlet_gap_ps = dim->sw.routing.flowlet_gap_ps,
                                  .rng = rng_init(sim->spec->seed, RNG_ROUTING, index)};
    s->quanta = (uint16_t)dim->sw.pfc.quanta;
    build_watchdog(sim, s, &dim->sw);
    sim_trimming_init(sim, index);
    sim_slices_init(sim, index, err);
    if (s->slices || s->cell_bytes > 0)
        switches_use_parts(&sim->switches);
    s->mark_from_bytes = UINT64_MAX;
    s->int_mode = (uint8_t)sim_int_mode(dim);
    for (uint32_t t = 0; t < dim->n_stacks; t++)
        if (hosts_dim(&sim->hosts, d, t)->spec.int_bytes > 0)
            s->int_rtt_ps = hosts_dim(&sim->hosts, d, t)->global_rtt_ps;
    if (s->int_mode == INT_PINT && !sim->switches.pints)
        sim->switches.pints = memory_zeroed(sim->net.n_ports, sizeof *sim->switches.pints);
    for (uint32_t p = first_port; p < first_port + n_ports; p++)
        build_port(sim, s, p, dim);
}

// Build the routers of ranks that forward in direct dimensions with several ports, or only count
// them. Returns their number.
static uint32_t routers(struct sim *sim, bool build, struct err *err)
{
    const struct graph *g = &sim->graph;
    const struct routes *r = &sim->routes;
    uint32_t n = 0;
    for (uint32_t d = 0; d < g->n_dims; d++) {
        size_t errors = err->n_errors;
        for (uint32_t rank = 0; g->dim_direct[d] && rank < g->n_ranks; rank++) {
            uint32_t row = r->row[(size_t)d * r->n_ranks + rank], first = 0;
            if (row == ROUTE_NO_ROW || err->n_errors > errors) // one error is enough
                continue;
            uint32_t ports = graph_ports_in(g, rank, d, &first);
            if (build)
                build_switch(sim, sim->switches.n_switches + n, first, ports, row, err);
            n++;
        }
    }
    return n;
}

// A refresh is sent after half of the pause and may wait for a full packet on the wire. The pause
// lasts as long as its quanta at the rate of the sender that is paused, the packet as long as it
// takes in the other direction.
static bool pauses_lapse(const struct sim *sim, uint32_t port)
{
    const struct graph_port *here = &sim->graph.ports[port];
    const struct pfc_spec *pfc = &sim->spec->dims[here->dim].sw.pfc;
    uint64_t half_quanta_bytes = pfc->quanta * 64 / 2;
    double half_bytes = (double)half_quanta_bytes;
    double slower = (double)sim->graph.ports[here->peer].rate_bps / (double)here->rate_bps;
    return half_bytes < slower * (double)(sim_largest_packets(sim, here->dim).full_wire +
                                          sim->net.pfc_wire_bytes);
}

bool sim_pauses_lapse(const struct sim *sim)
{
    bool lapse = false, lossless[SPEC_MAX_DIMS] = {false};
    for (uint32_t d = 0; d < sim->spec->n_dims; d++)
        lossless[d] = sim_lossless(sim, d) != 0 && !sim_uses_credits(sim, d);
    for (uint32_t p = 0; p < sim->graph.n_ports; p++)
        lapse |= lossless[sim->graph.ports[p].dim] && pauses_lapse(sim, p);
    return lapse;
}

void sim_build_switches(struct sim *sim, struct err *err)
{
    const struct graph *g = &sim->graph;
    if (sim_pauses_lapse(sim))
        err_warn(err, "switch.pfc.quanta",
                 "a pause ends before the frame that refreshes it can arrive: lossless classes may "
                 "drop packets");
    switches_init(&sim->switches, &sim->net, routers(sim, false, err));
    sim_link_quality_init(sim);
    for (uint32_t i = 0; i < sim->switches.n_switches; i++) {
        const struct graph_node *node = &g->nodes[g->n_ends + i];
        build_switch(sim, i, node->first_port, node->n_ports, i, err);
    }
    routers(sim, true, err);
    sim_check_queue_limits(sim, err);
    sim_check_headroom(sim, err);
    sim_check_marks_order(sim, err);
    sim_check_trimming(sim, err);
    sim_routes_install(sim);
}

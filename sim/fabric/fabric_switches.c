// SPDX-License-Identifier: MIT
// Builds switches and routers from the spec: buffer, headroom, marking, next hops, telemetry.
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/fabric/fabric_internal.h"
#include "switch/quality.h"

/* ---- link quality ---- */

// Measures the quality of links in intervals, in dimensions whose switches choose paths by it.

struct quality_timer {
    struct sim_timer timer;
    struct fabric *fabric;
    uint32_t dim;
};

static bool measures(const struct routing_spec *routing)
{
    return routing_by_quality(routing) && routing->state_interval_ps > 0;
}

static void on_interval(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct quality_timer *t = timer->data;
    struct fabric *fabric = t->fabric;
    struct link_quality *q = fabric->switches.qualities[t->dim];
    // The timer is no work for a job, so the run must be able to end while it is pending.
    fabric->housekeeping--;
    quality_measure(q, &fabric->switches, t->dim, e->now_ps);
    if (fabric_only_housekeeping(fabric))
        return;
    fabric->housekeeping++;
    sim_timer_start(e, timer, e->now_ps + q->interval_ps);
}

// NULL = the quality of links is not measured.
static const struct link_quality *fabric_link_quality(const struct fabric *fabric, uint32_t dim)
{
    return fabric->switches.qualities ? fabric->switches.qualities[dim] : NULL;
}

static ps_t longest_link_ps(const struct fabric *fabric, uint32_t dim)
{
    ps_t longest = 0;
    for (uint32_t p = 0; p < fabric->graph.n_ports; p++)
        if (fabric->graph.ports[p].dim == dim && fabric->graph.ports[p].delay_ps > longest)
            longest = fabric->graph.ports[p].delay_ps;
    return longest;
}

// Before the switches' nodes.
static void fabric_link_quality_init(struct fabric *fabric)
{
    const struct spec *spec = fabric->spec;
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct routing_spec *routing = &spec->dims[d].sw.routing;
        if (!measures(routing))
            continue;
        if (!fabric->switches.qualities) {
            fabric->switches.qualities = memory_zeroed(spec->n_dims, sizeof(struct link_quality *));
            fabric->switches.n_qualities = spec->n_dims;
            fabric->quality_timers = memory_zeroed(spec->n_dims, sizeof *fabric->quality_timers);
        }
        fabric->switches.qualities[d] =
            quality_new(fabric->graph.n_ports, routing->state_interval_ps,
                        (uint32_t)routing->quality_bands, longest_link_ps(fabric, d));
        struct quality_timer *t = &fabric->quality_timers[d];
        *t = (struct quality_timer){.fabric = fabric, .dim = d};
        sim_timer_init(&fabric->engine, &t->timer, fabric->graph.n_nodes, on_interval, t);
        sim_timer_start(&fabric->engine, &t->timer, routing->state_interval_ps);
        fabric->housekeeping++;
    }
}

/* ---- switches ---- */

// The largest base RTT of the dimension's transports that need it.
static ps_t largest_rtt_ps(const struct fabric *fabric, uint32_t dim)
{
    ps_t most_ps = 0;
    for (uint32_t t = 0; t < fabric->hosts.n_transports; t++) {
        ps_t rtt_ps = hosts_dim(&fabric->hosts, dim, t)->global_rtt_ps;
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
    // Presets that state multiples of the bandwidth-delay product override absolute thresholds.
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

static struct marking marking_of(const struct fabric *fabric, uint32_t d,
                                 const struct stack_spec *stack, const struct graph_port *port,
                                 bool last_hop)
{
    const struct dim_spec *dim = &fabric->spec->dims[d];
    ps_t rtt_ps = largest_rtt_ps(fabric, d);
    uint32_t transport = (uint32_t)(stack - dim->stacks);
    uint64_t full_frame_bytes = hosts_dim(&fabric->hosts, d, transport)->full.frame;
    const struct ecn_spec *ecn = &dim->sw.ecn;
    // pi_a and pi_b are given per kilobyte of queue, and the controller counts bytes.
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
    // A profile may exempt the last hop, whose queue comes from the receiver and not from the
    // network.
    if (ecn->mode == ECN_OFF || !profile->ecn || (profile->spares_last_hop && last_hop))
        return (struct marking){0};
    return marking_of_profile(profile, port->rate_bps, rtt_ps);
}

uint64_t fabric_marked_bytes(const struct fabric *fabric, uint32_t dim, uint32_t transport,
                             uint32_t port)
{
    const struct dim_spec *spec = &fabric->spec->dims[dim];
    struct marking m =
        marking_of(fabric, dim, &spec->stacks[transport], &fabric->graph.ports[port], false);
    if (!m.enabled)
        return UINT64_MAX;
    return m.kind == MARKING_PI ? m.pi.qref_bytes : m.kmax_bytes;
}

void fabric_routes_install(struct fabric *fabric)
{
    network_undecide(&fabric->net);
    const struct routes *routes = &fabric->routes;
    for (uint32_t i = 0; i < fabric->switches.n_switches + fabric->switches.n_routers; i++) {
        struct switch_node *s = &fabric->switches.nodes[i];
        s->routes = (struct next_hops){
            .next = routes->next + (size_t)s->row * routes->n_groups,
            .group = routes->group + (size_t)s->dim * routes->n_ranks,
            .own = routes->port + (size_t)s->dim * routes->n_ranks,
            .sets = (const struct next_hop_set *)(const void *)routes->sets,
            .ports = routes->ports,
        };
    }
}

static void build_watchdog(struct fabric *fabric, struct switch_node *s,
                           const struct switch_spec *sw)
{
    const struct pfc_spec *pfc = &sw->pfc;
    bool watched = pfc->enabled && pfc->watchdog && sw->flow_control == FLOW_CONTROL_PFC;
    // PS_NEVER turns the watchdog off. Storms of pauses exist only where PFC pauses.
    s->watchdog_detect_ps = watched ? pfc->watchdog_detect_ps : PS_NEVER;
    s->watchdog_restore_ps = pfc->watchdog_restore_ps;
    if (watched && !fabric->switches.watchdogs)
        watchdogs_init(&fabric->switches);
}

// Marking of the data class number `i` at a port of the switch.
static struct marking build_marking(const struct fabric *fabric, const struct switch_node *s,
                                    uint32_t p, uint32_t i)
{
    const struct network *net = &fabric->net;
    unsigned cls = net->class_of_slot[net->data_slot + i];
    bool last_hop = fabric->graph.ports[fabric->graph.ports[p].peer].node < fabric->graph.n_ends;
    return marking_of(fabric, s->dim, fabric_stack_of_class(fabric, s->dim, cls),
                      &fabric->graph.ports[p], last_hop);
}

// Set the queue length below which leaving packets skip the check of marking.
static void mark_from(const struct fabric *fabric, struct switch_node *s,
                      const struct marking *marking)
{
    const struct ecn_spec *ecn = &fabric->spec->dims[s->dim].sw.ecn;
    bool at_arrival = ecn->mode == ECN_ON && ecn->at == ECN_AT_ARRIVAL;
    // With marking at the arrival of packets the length of the queue at departure does not matter.
    if (marking->enabled && marking->kmin_bytes < s->mark_from_bytes && !at_arrival)
        s->mark_from_bytes = marking->kmin_bytes;
}

void fabric_scale_buffers(struct fabric *fabric, uint32_t p, double share)
{
    struct switch_node *s = switch_of_port(&fabric->switches, p);
    if (!s)
        return;
    fabric->switches.ports[p].limit_share = share < 1 ? share : 0;
    for (uint32_t i = 0; i < fabric->net.n_data; i++) {
        // The factor applies to the full thresholds, since the present ones may be scaled already.
        struct marking *now = &fabric->switches.markings[p * fabric->net.n_data + i];
        const struct marking full = build_marking(fabric, s, p, i);
        now->kmin_bytes = (uint64_t)((double)full.kmin_bytes * share);
        now->kmax_bytes = (uint64_t)((double)full.kmax_bytes * share);
        now->pi.qref_bytes = (uint64_t)((double)full.pi.qref_bytes * share);
        mark_from(fabric, s, now);
    }
}

static void build_port(struct fabric *fabric, struct switch_node *s, uint32_t p,
                       const struct dim_spec *dim)
{
    const struct network *net = &fabric->net;
    struct switch_port *port = &fabric->switches.ports[p];
    struct byte_time bt = port_link(net, net->cold[p].peer)->byte_time;
    bool at_arrival = dim->sw.ecn.mode == ECN_ON && dim->sw.ecn.at == ECN_AT_ARRIVAL;
    for (uint32_t i = 0; i < net->n_data; i++) {
        struct marking marking = build_marking(fabric, s, p, i);
        fabric->switches.markings[p * net->n_data + i] = marking;
        mark_from(fabric, s, &marking);
        if (marking.enabled && marking.kind == MARKING_PI)
            s->marking |= SWITCH_MARKS_PI;
        if (marking.enabled && at_arrival)
            s->marking |= SWITCH_MARKS_AT_ARRIVAL;
    }
    if (dim->sw.ecn.mode == ECN_ON && dim->sw.ecn.not_ect == NOT_ECT_DROP)
        s->marking |= SWITCH_DROPS_NOT_ECT;
    port->rng = rng_init(fabric->spec->seed, RNG_ECN, p);
    port->rate_bps = fabric->graph.ports[p].rate_bps;
    if (s->int_mode == INT_PINT)
        fabric->switches.pints[p].rng = rng_init(fabric->spec->seed, RNG_PINT, p);
    // half of the quanta of 64 byte times, at the rate of the sender that is paused
    port->pfc.refresh_every_ps = byte_time_span(&bt, dim->sw.pfc.quanta * 64) / 2;
    if (port->pfc.refresh_every_ps < 1)
        port->pfc.refresh_every_ps = 1;
}

// Build switch nodes[index] with its ports; `row` is its row in the routes.
static void build_switch(struct fabric *fabric, uint32_t index, uint32_t first_port,
                         uint32_t n_ports, uint32_t row, struct err *err)
{
    struct switch_node *s = &fabric->switches.nodes[index];
    uint32_t d = fabric->graph.ports[first_port].dim;
    const struct dim_spec *dim = &fabric->spec->dims[d];
    switch_attach(&fabric->switches, index, first_port, n_ports);
    fabric_buffer_init(fabric, index, err);
    s->row = row;
    s->dim = d;
    s->draws_ties = dim->sw.ties == TIES_DRAWN;
    struct rng rng = rng_init(fabric->spec->seed, RNG_ECMP, fabric->graph.ports[first_port].node);
    s->hash_seed = (uint64_t)rng_u32(&rng) << 32 | rng_u32(&rng);
    // With equal seeds all switches choose alike, which polarizes traffic: of the paths behind a
    // switch only some are used (`switch.routing.seeds`).
    if (dim->sw.routing.seeds == SEEDS_SAME)
        s->hash_seed = fabric->spec->seed;
    s->routing = (struct routing){.kind = (uint8_t)dim->sw.routing.kind,
                                  .spray = (uint8_t)dim->sw.routing.spray,
                                  .by_quality = dim->sw.routing.flowlet_choice == FLOWLET_QUALITY,
                                  .source = (uint8_t)dim->sw.routing.source,
                                  .quality = fabric_link_quality(fabric, d),
                                  .remote = dim->sw.routing.remote,
                                  .flowlet_gap_ps = dim->sw.routing.flowlet_gap_ps,
                                  .rng = rng_init(fabric->spec->seed, RNG_ROUTING, index)};
    s->quanta = (uint16_t)dim->sw.pfc.quanta;
    build_watchdog(fabric, s, &dim->sw);
    fabric_trimming_init(fabric, index);
    fabric_slices_init(fabric, index, err);
    if (s->slices || s->cell_bytes > 0)
        switches_extend(&fabric->switches);
    // Lowered below by each port that marks.
    s->mark_from_bytes = UINT64_MAX;
    s->int_mode = (uint8_t)fabric_int_mode(dim);
    for (uint32_t t = 0; t < dim->n_stacks; t++)
        if (hosts_dim(&fabric->hosts, d, t)->spec.int_bytes > 0)
            s->int_rtt_ps = hosts_dim(&fabric->hosts, d, t)->global_rtt_ps;
    if (s->int_mode == INT_PINT && !fabric->switches.pints)
        fabric->switches.pints = memory_zeroed(fabric->net.n_ports, sizeof *fabric->switches.pints);
    for (uint32_t p = first_port; p < first_port + n_ports; p++)
        build_port(fabric, s, p, dim);
}

// Build the routers of ranks that forward in direct dimensions with several ports, or only count
// them. Returns their number.
static uint32_t routers(struct fabric *fabric, bool build, struct err *err)
{
    const struct graph *g = &fabric->graph;
    const struct routes *r = &fabric->routes;
    uint32_t n = 0;
    for (uint32_t d = 0; d < g->n_dims; d++) {
        size_t errors = err->n_errors;
        for (uint32_t rank = 0; g->dim_direct[d] && rank < g->n_ranks; rank++) {
            // A rank without a row in the routes forwards nothing in this dimension.
            uint32_t row = r->row[(size_t)d * r->n_ranks + rank], first = 0;
            if (row == ROUTE_NO_ROW || err->n_errors > errors) // one error is enough
                continue;
            // Later errors of other routers would repeat the first one.
            uint32_t ports = graph_ports_in(g, rank, d, &first);
            if (build)
                build_switch(fabric, fabric->switches.n_switches + n, first, ports, row, err);
            n++;
        }
    }
    return n;
}

// Returns true if a pause expires before its refresh arrives. The refresh is sent after half of the
// pause and may wait for a full packet. The pause is timed at the rate of the paused sender, the
// packet at the rate of the other direction.
static bool pauses_lapse(const struct fabric *fabric, uint32_t port)
{
    const struct graph_port *here = &fabric->graph.ports[port];
    const struct pfc_spec *pfc = &fabric->spec->dims[here->dim].sw.pfc;
    uint64_t half_quanta_bytes = pfc->quanta * 64 / 2;
    double half_bytes = (double)half_quanta_bytes;
    double slower = (double)fabric->graph.ports[here->peer].rate_bps / (double)here->rate_bps;
    // Bytes at the rate of this port, and quanta at the rate of the port that is paused.
    return half_bytes < slower * (double)(fabric_largest_packets(fabric, here->dim).full_wire +
                                          fabric->net.pfc_wire_bytes);
}

bool fabric_pauses_lapse(const struct fabric *fabric)
{
    bool lapse = false, lossless[SPEC_MAX_DIMS] = {false};
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        lossless[d] = fabric_lossless(fabric, d) != 0 && !fabric_uses_credits(fabric, d);
    for (uint32_t p = 0; p < fabric->graph.n_ports; p++)
        lapse |= lossless[fabric->graph.ports[p].dim] && pauses_lapse(fabric, p);
    return lapse;
}

void fabric_build_switches(struct fabric *fabric, struct err *err)
{
    const struct graph *g = &fabric->graph;
    if (fabric_pauses_lapse(fabric))
        err_warn(err, "switch.pfc.quanta",
                 "a pause ends before the frame that refreshes it can arrive: lossless classes "
                 "may drop packets");
    // The routers are counted first, since all nodes are allocated at once.
    switches_init(&fabric->switches, &fabric->net, routers(fabric, false, err));
    fabric_link_quality_init(fabric);
    for (uint32_t i = 0; i < fabric->switches.n_switches; i++) {
        const struct graph_node *node = &g->nodes[g->n_ends + i];
        build_switch(fabric, i, node->first_port, node->n_ports, i, err);
    }
    routers(fabric, true, err);
    fabric_check_queue_limits(fabric, err);
    fabric_check_headroom(fabric, err);
    fabric_check_trimming(fabric, err);
    fabric_routes_install(fabric);
}

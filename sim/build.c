// SPDX-License-Identifier: MIT
// From a spec to a network that is ready to run.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "sim/ideal.h"
#include "sim/places.h"
#include "sim/sim_internal.h"

static void build_graph(struct sim *sim, struct err *err)
{
    const struct spec *spec = sim->spec;
    uint32_t sizes[SPEC_MAX_DIMS];
    for (uint32_t d = 0; d < spec->n_dims; d++)
        sizes[d] = spec->dims[d].size;
    graph_init(&sim->graph, spec->n_dims, sizes);
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct dim_spec *dim = &spec->dims[d];
        sim->graph.dim_fabric[d] = dim->kind->fabric;
        sim->graph.dim_share[d] = dim->ranks_per_port > 1 ? dim->ranks_per_port : 1;
        if (!sim_is_analytical(sim))
            dim->kind->build(&sim->graph, d, dim->params, dim->links);
    }
    graph_seal(&sim->graph);
    if (!sim_is_analytical(sim))
        sim_routes_build(sim, err);
}

// A NIC's own clock is off by up to clock_ppm.
static uint64_t port_rate(const struct sim *sim, const struct graph_port *port)
{
    double ppm = sim->spec->dims[port->dim].transport.clock_ppm;
    if (port->node >= sim->graph.n_ranks || ppm <= 0)
        return port->rate_bps;
    struct rng rng = rng_init(sim->spec->seed, RNG_CLOCK, port->node);
    double off = ppm * 1e-6 * (2 * rng_unit(&rng) - 1);
    return (uint64_t)((double)port->rate_bps * (1 + off));
}

// How late the start of a packet at a NIC's port may be settled: at the delivery of the packet before it,
// so a propagation delay; two packets are added for safety.
static ps_t settling_lag_ps(const struct sim *sim, const struct graph_port *port)
{
    uint64_t full = sim->roce.dims[port->dim].full.wire;
    return port->delay_ps + serialization_ps(2 * full, port->rate_bps);
}

// A lower bound of the retransmission timers that queue pairs behind a port arm when a packet starts.
// A timer shorter than the settling lag would be armed in the past, so the departures of such a port
// must be scheduled as events.
static ps_t shortest_rto_ps(const struct sim *sim, const struct graph_port *port)
{
    const struct roce_dim *dim = &sim->roce.dims[port->dim];
    const struct transport_spec *t = &dim->spec;
    ps_t low = t->rto_low_ps, high = t->rto_high_ps;
    if (t->recovery != RECOVERY_SELECTIVE_REPEAT)
        return t->rto_ps;
    // The base RTT of any pair holds a link of the rank both ways, not always the one that the queue pair
    // sends by (see qp_open for the automatic values).
    uint32_t first = 0, n = graph_ports_in(&sim->graph, port->node, port->dim, &first);
    ps_t base_rtt = PS_NEVER;
    for (uint32_t p = first; p < first + n; p++) {
        const struct graph_port *link = &sim->graph.ports[p];
        ps_t rtt = 2 * link->delay_ps + serialization_ps(dim->full.wire, link->rate_bps) +
                   serialization_ps(dim->ack.wire, link->rate_bps);
        base_rtt = rtt < base_rtt ? rtt : base_rtt;
    }
    if (low == PARAM_AUTO_TIME)
        low = 2 * base_rtt;
    if (high == PARAM_AUTO_TIME)
        high = base_rtt;
    return low < high ? low : high;
}

static void build_network(struct sim *sim)
{
    const struct graph *g = &sim->graph;
    network_init(&sim->net, &sim->engine, g->n_ranks, g->n_nodes, g->n_ports,
                 sim_classes_in_use(sim->spec));
    for (uint32_t p = 0; p < g->n_ports; p++) {
        const struct graph_port *port = &g->ports[p];
        const struct dim_spec *dim = &sim->spec->dims[port->dim];
        struct port_config config = {.node = port->node,
                                     .local = port->local,
                                     .peer = port->peer,
                                     .peer_local = g->ports[port->peer].local,
                                     .peer_node = g->ports[port->peer].node,
                                     .rate_bps = port_rate(sim, port),
                                     .delay_ps = port->delay_ps};
        network_set_port(&sim->net, p, &config);
        sim->net.pfc[p].response_ps = dim->sw.pfc.response_ps;
    }
    for (uint32_t p = 0; p < sim->net.first_port[g->n_ranks]; p++)
        if (settling_lag_ps(sim, &g->ports[p]) >= shortest_rto_ps(sim, &g->ports[p]))
            port_pin_explicit(&sim->net, p);
    ps_t span = 0; // mean time from a start to its arrival
    for (uint32_t p = 0; p < g->n_ports; p++)
        span += (g->ports[p].delay_ps + serialization_ps(1500, g->ports[p].rate_bps)) / g->n_ports;
    engine_shape(&sim->engine, g->n_ports, span);
    // Preamble and gap where the scenario counts them.
    bool gap = sim->spec->dims[0].transport.overhead == OVERHEAD_ETHERNET;
    sim->net.pfc_wire_bytes = NET_PFC_FRAME_BYTES + (gap ? 20 : 0);
}

// What the transport is in each dimension: known before the network is, since sizes follow from it.
static void build_roce_dims(struct sim *sim)
{
    const struct spec *spec = sim->spec;
    sim->roce.dims = memory_zeroed(spec->n_dims, sizeof *sim->roce.dims);
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct dim_spec *dim = &spec->dims[d];
        struct roce_dim *roce = &sim->roce.dims[d];
        *roce =
            (struct roce_dim){.spec = dim->transport, .cc = dim->cc, .cc_params = dim->cc_params};
        notification_fill(&roce->spec, dim->cc_preset);
        roce->spec.int_bytes = sim_int_bytes(dim);
        roce->hash_qp = dim->sw.routing.hash == ROUTING_HASH_QP;
        roce->full = data_sizes(&roce->spec, (uint32_t)roce->spec.mtu_bytes, false);
        roce->ack = ack_sizes(&roce->spec);
    }
}

static void build_transport(struct sim *sim)
{
    struct roce *roce = &sim->roce;
    roce->joining_dim = sim_joining_dim;
    roce->path = sim_path;
    roce->path_ctx = sim;
    roce->observer.message_ended = sim_message_ended;
    roce->observer.ctx = sim;
    roce->client = workload_client(&sim->workload);
    roce_init(roce, &sim->net);
    if (sim->switches.n_routers > 0)
        routers_attach(&sim->switches);
    sim->switches.entropy = (const uint32_t *const *)(const void *)roce->entropy;
}

static void build_workload(struct sim *sim)
{
    const struct spec *spec = sim->spec;
    uint32_t n = sim->graph.n_ranks;
    sim->late_ps = memory_zeroed(n, sizeof *sim->late_ps);
    ps_t jitter = spec->dims[0].transport.start_jitter_ps;
    for (uint32_t r = 0; jitter > 0 && r < n; r++) {
        struct rng rng = rng_init(spec->seed, RNG_JITTER, r);
        sim->late_ps[r] = (ps_t)rng_below(&rng, (uint64_t)jitter + 1);
    }
    sim->workload.engine = &sim->engine;
    if (sim_is_analytical(sim)) {
        sim->workload.transfer = analytical_transfer(&sim->analytical);
    } else {
        sim->transfer = (struct transfer){.post = roce_post, .net = &sim->roce};
        if (spec->dims[0].sw.routing.relay)
            sim_relay_init(sim);
        sim_stripes_init(sim);
        if (!sim->relay)
            sim->workload.transfer = sim->transfer;
    }
    sim->workload.n_ranks = n;
    sim->workload.late_ps = sim->late_ps;
    sim->workload.bandwidth = sim_bandwidth;
    sim->workload.network_ctx = sim;
    sim->workload.timeline_ranks =
        spec->report.timeline ? (uint32_t)spec->report.timeline_ranks : 0;
    workload_init(&sim->workload, spec->jobs, spec->n_jobs);
}

static void build_packet_network(struct sim *sim, struct err *err)
{
    build_network(sim);
    sim->ideal = ideal_paths_new(sim);
    sim_telemetry_init(sim, err);
    sim_weights_init(sim);
    sim_build_switches(sim, err);
    sim_faults_init(sim, err);
    build_transport(sim);
}

struct sim *sim_new(const struct spec *spec, struct err *err)
{
    struct sim *sim = memory_zeroed(1, sizeof *sim);
    size_t errors = err->n_errors;
    sim->spec = spec;
    sim->stats.fct_ns.limit = sim->stats.slowdown.limit = (size_t)spec->report.flows_max;
    engine_init(&sim->engine, spec->seed);
    build_roce_dims(sim);
    build_graph(sim, err);
    if (err->n_errors > errors) { // nothing can be built on it
        sim_free(sim);
        return NULL;
    }
    if (sim_is_analytical(sim))
        sim_analytical_init(sim);
    else
        build_packet_network(sim, err);
    build_workload(sim);
    sim->captures = memory_zeroed(spec->n_captures, sizeof *sim->captures);
    sim->capture_packets = memory_zeroed(spec->n_captures, sizeof *sim->capture_packets);
    sim_sampler_start(sim);
    if (err->n_errors > errors) {
        sim_free(sim);
        return NULL;
    }
    return sim;
}

void sim_set_plain(struct sim *sim)
{
    engine_shape(&sim->engine, 0, 0);
    network_set_plain(&sim->net);
}

void sim_packets_free(struct sim *sim)
{
    ring_pool_free(&sim->net.rings);
    fifo_pool_free(&sim->net.pool);
    cargo_pool_free(&sim->net.cargo);
}

void sim_free(struct sim *sim)
{
    if (!sim)
        return;
    sim_sampler_free(sim);
    workload_free(&sim->workload);
    sim_relay_free(sim);
    sim_stripes_free(sim);
    free(sim->roce.dims);
    roce_free(&sim->roce);
    analytical_free(&sim->analytical);
    switches_free(&sim->switches);
    network_free(&sim->net);
    routes_free(&sim->routes);
    routes_free(&sim->first_routes);
    graph_free(&sim->graph);
    ideal_paths_free(sim->ideal);
    engine_free(&sim->engine);
    free(sim->changes);
    free(sim->change_timers);
    free(sim->fault_ports);
    free(sim->late_ps);
    free(sim->flows);
    distribution_free(&sim->stats.fct_ns);
    distribution_free(&sim->stats.slowdown);
    free(sim->captures);
    free(sim->capture_packets);
    free(sim->capture_failure);
    free(sim->tap_first);
    free(sim->tap_list);
    free(sim);
}

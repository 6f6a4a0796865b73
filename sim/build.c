// SPDX-License-Identifier: MIT
// From a spec to a network that is ready to run.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "sim/places.h"
#include "sim/sim.h"

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
        dim->kind->build(&sim->graph, d, dim->params, dim->links);
    }
    graph_seal(&sim->graph);
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
    for (uint32_t p = 0; p < sim->net.first_port[g->n_ranks]; p++) {
        // A packet's start may be settled as late as the delivery before it; a retransmission timer
        // that is shorter would be armed in the past.
        ps_t lag = g->ports[p].delay_ps + serialization_ps(2 * 9216, g->ports[p].rate_bps);
        if (lag >= sim->spec->dims[g->ports[p].dim].transport.rto_ps)
            port_set_explicit(&sim->net, p, true, 0);
    }
    ps_t span = 0; // mean time from a start to its arrival
    for (uint32_t p = 0; p < g->n_ports; p++)
        span += (g->ports[p].delay_ps + serialization_ps(1500, g->ports[p].rate_bps)) / g->n_ports;
    engine_shape(&sim->engine, g->n_ports, span);
    // Preamble and gap where the scenario counts them.
    bool gap = sim->spec->dims[0].transport.overhead == OVERHEAD_ETHERNET;
    sim->net.pfc_wire_bytes = NET_PFC_FRAME_BYTES + (gap ? 20 : 0);
}

static struct marking marking_of(const struct dim_spec *dim, uint64_t rate_bps)
{
    const struct ecn_spec *ecn = &dim->sw.ecn;
    if (ecn->mode == ECN_ON && ecn->kind == MARKING_PI)
        return (struct marking){.enabled = true,
                                .kind = MARKING_PI,
                                .pi = {.a = ecn->pi_a / 1000,
                                       .b = ecn->pi_b / 1000,
                                       .qref_bytes = ecn->qref_bytes,
                                       .interval_ps = ecn->pi_interval_ps,
                                       .next_ps = ecn->pi_interval_ps}};
    if (ecn->mode == ECN_ON)
        return (struct marking){.enabled = true,
                                .kmin_bytes = ecn->kmin_bytes,
                                .kmax_bytes = ecn->kmax_bytes,
                                .pmax = ecn->pmax};
    const struct cc_profile *profile = &dim->cc_preset->profile;
    if (ecn->mode == ECN_OFF || !profile->ecn)
        return (struct marking){0};
    double scale = profile->scaled ? (double)rate_bps / (double)profile->ref_bps : 1;
    return (struct marking){.enabled = true,
                            .kmin_bytes = (uint64_t)((double)profile->kmin_bytes * scale),
                            .kmax_bytes = (uint64_t)((double)profile->kmax_bytes * scale),
                            .pmax = profile->pmax};
}

void sim_routes_install(struct sim *sim)
{
    const struct routes *r = &sim->routes;
    for (uint32_t node = sim->graph.n_ranks; node < sim->graph.n_nodes; node++) {
        size_t first = (size_t)sim->graph.nodes[node].dim * r->n_ranks;
        switch_of(&sim->switches, node)->routes = (struct next_hops){
            .next = r->next + (size_t)(node - r->n_ranks) * r->n_groups,
            .group = r->group + first,
            .own = r->port + first,
            .sets = (const struct next_hop_set *)(const void *)r->sets,
            .ports = r->ports,
        };
    }
}

static void build_switch_port(struct sim *sim, struct switch_node *s, const struct dim_spec *dim,
                              uint32_t p)
{
    const struct network *net = &sim->net;
    struct switch_port *port = &sim->switches.ports[p];
    struct byte_time bt = port_link(net, net->cold[p].peer)->byte_time;
    struct marking marking = marking_of(dim, sim->graph.ports[p].rate_bps);
    for (uint32_t i = 0; i < net->n_data; i++)
        sim->switches.markings[p * net->n_data + i] = marking;
    if (marking.enabled && marking.kmin_bytes < s->mark_from_bytes)
        s->mark_from_bytes = marking.kmin_bytes;
    s->pi |= marking.enabled && marking.kind == MARKING_PI;
    port->rng = rng_init(sim->spec->seed, RNG_ECN, p);
    port->rate_bps = sim->graph.ports[p].rate_bps;
    if (s->int_mode == INT_PINT)
        sim->switches.pints[p].rng = rng_init(sim->spec->seed, RNG_PINT, p);
    // half of the quanta of 64 byte times, at the rate of the sender that is paused
    port->refresh_every_ps = byte_time_span(&bt, dim->sw.pfc.quanta * 64) / 2;
    if (port->refresh_every_ps < 1)
        port->refresh_every_ps = 1;
}

static void build_switch(struct sim *sim, uint32_t node, struct err *err)
{
    const struct graph_node *gn = &sim->graph.nodes[node];
    const struct dim_spec *dim = &sim->spec->dims[gn->dim];
    const struct switch_spec *spec = &dim->sw;
    struct switch_node *s = switch_of(&sim->switches, node);
    sim_buffer_init(sim, node, err);
    struct rng rng = rng_init(sim->spec->seed, RNG_ECMP, node);
    s->hash_seed = (uint64_t)rng_u32(&rng) << 32 | rng_u32(&rng);
    s->routing = (struct routing){.kind = (uint8_t)spec->routing.kind,
                                  .spray = (uint8_t)spec->routing.spray,
                                  .flowlet_gap_ps = spec->routing.flowlet_gap_ps,
                                  .rng = rng_init(sim->spec->seed, RNG_ROUTING, node)};
    s->quanta = (uint16_t)spec->pfc.quanta;
    s->mark_from_bytes = UINT64_MAX;
    bool watched = spec->pfc.enabled && spec->pfc.watchdog;
    s->watchdog_detect_ps = watched ? spec->pfc.watchdog_detect_ps : PS_NEVER;
    s->watchdog_restore_ps = spec->pfc.watchdog_restore_ps;
    if (watched && !sim->switches.watchdogs)
        watchdogs_init(&sim->switches);
    s->int_mode = (uint8_t)sim_int_mode(dim);
    s->int_rtt_ps = sim->roce.dims[gn->dim].global_rtt_ps;
    if (s->int_mode == INT_PINT && !sim->switches.pints)
        sim->switches.pints = memory_zeroed(sim->net.n_ports, sizeof *sim->switches.pints);
    for (uint32_t p = gn->first_port; p < gn->first_port + gn->n_ports; p++)
        build_switch_port(sim, s, dim, p);
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
        roce->spec.int_bytes = sim_int_bytes(dim);
        roce->hash_qp = dim->sw.routing.hash == ROUTING_HASH_QP;
        roce->full = data_sizes(&roce->spec, (uint32_t)roce->spec.mtu_bytes, false);
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
    sim->workload.transfer = (struct transfer){roce_post, &sim->roce};
    sim->workload.n_ranks = n;
    sim->workload.late_ps = sim->late_ps;
    workload_init(&sim->workload, spec->jobs, spec->n_jobs);
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
    build_network(sim);
    sim_telemetry_init(sim, err);
    sim_weights_init(sim);
    switches_init(&sim->switches, &sim->net);
    for (uint32_t n = sim->graph.n_ranks; n < sim->graph.n_nodes; n++)
        build_switch(sim, n, err);
    sim_routes_install(sim);
    sim_faults_init(sim, err);
    build_transport(sim);
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
    fifo_pool_free(&sim->net.pool);
    int_pool_free(&sim->net.ints);
}

void sim_free(struct sim *sim)
{
    if (!sim)
        return;
    sim_sampler_free(sim);
    workload_free(&sim->workload);
    free(sim->roce.dims);
    roce_free(&sim->roce);
    switches_free(&sim->switches);
    network_free(&sim->net);
    routes_free(&sim->routes);
    graph_free(&sim->graph);
    engine_free(&sim->engine);
    free(sim->changes);
    free(sim->change_timers);
    free(sim->late_ps);
    free(sim->flows);
    distribution_free(&sim->stats.fct_ns);
    distribution_free(&sim->stats.slowdown);
    free(sim->captures);
    free(sim->capture_packets);
    free(sim->tap_first);
    free(sim->tap_list);
    free(sim);
}

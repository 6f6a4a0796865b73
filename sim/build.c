// SPDX-License-Identifier: MIT
// Builds a network that is ready to run from a spec.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "sim/ideal.h"
#include "sim/parts.h"
#include "sim/port_patterns.h"
#include "sim/reduction.h"
#include "sim/sim_internal.h"

// Add switches and links to an empty graph, with room for aggregators.
static void build_dims(struct sim *sim, uint32_t aggregators)
{
    const struct spec *spec = sim->spec;
    uint32_t sizes[SPEC_MAX_DIMS];
    for (uint32_t d = 0; d < spec->n_dims; d++)
        sizes[d] = spec->dims[d].size;
    graph_init(&sim->graph, spec->n_dims, sizes);
    graph_reserve_aggregators(&sim->graph, aggregators);
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct dim_spec *dim = &spec->dims[d];
        sim->graph.dim_fabric[d] = dim->kind->fabric;
        sim->graph.dim_share[d] = dim->ranks_per_port > 1 ? dim->ranks_per_port : 1;
        if (!sim_is_analytical(sim))
            dim->kind->build(&sim->graph, d, dim->params, dim->links);
    }
}

// True if noise acts: over packets, where some job is not of raw flows.
bool sim_has_noise(const struct spec *spec)
{
    bool any = false;
    for (size_t j = 0; j < spec->n_jobs; j++)
        any |= !spec->jobs[j].kind->raw;
    return any && spec->network == NETWORK_PACKET;
}

// Cables and optics differ: each link is longer by a random delay, the same in both directions.
static void add_link_noise(struct sim *sim)
{
    struct graph *g = &sim->graph;
    ps_t most_ps = sim->spec->noise.link_delay_ps;
    if (most_ps == 0 || !sim_has_noise(sim->spec))
        return;
    for (uint32_t p = 0; p < g->n_ports; p++) {
        uint32_t link = p < g->ports[p].peer ? p : g->ports[p].peer;
        struct rng rng = rng_init(sim->spec->seed, RNG_NOISE_LINK, link);
        g->ports[p].delay_ps += (ps_t)rng_below(&rng, (uint64_t)most_ps + 1);
    }
}

// Aggregators are numbered before switches, so the graph is built again once their number is known.
static void build_graph(struct sim *sim, struct err *err)
{
    build_dims(sim, 0);
    uint32_t aggregators = sim_count_aggregators(sim);
    if (aggregators > 0) {
        graph_free(&sim->graph);
        build_dims(sim, aggregators);
        sim_add_aggregators(sim);
    }
    graph_seal(&sim->graph);
    sim_add_latencies(sim);
    if (sim_is_analytical(sim))
        return;
    add_link_noise(sim);
    sim_nics_find(sim, err);
    sim_routes_build(sim, err);
}

// The clock of a NIC deviates by up to clock_ppm.
uint64_t sim_port_rate(const struct sim *sim, uint32_t index)
{
    const struct graph_port *port = &sim->graph.ports[index];
    double ppm = sim->spec->dims[port->dim].transport.clock_ppm;
    if (ppm <= 0 && sim->spec->noise.clock_ppm > 0 && sim_has_noise(sim->spec))
        ppm = sim->spec->noise.clock_ppm;
    if (port->node >= sim->graph.n_ranks || ppm <= 0)
        return port->rate_bps;
    struct rng rng = rng_init(sim->spec->seed, RNG_CLOCK, port->node);
    double off = ppm * 1e-6 * (2 * rng_unit(&rng) - 1);
    return (uint64_t)((double)port->rate_bps * (1 + off));
}

// How late a NIC port may compute the start of a packet: at the delivery of the packet before it,
// so a propagation delay; two packets are added for safety.
static ps_t catch_up_lag_ps(const struct sim *sim, const struct graph_port *port)
{
    uint64_t full = sim_largest_packets(sim, port->dim).full_wire;
    return port->delay_ps + serialization_ps(2 * full, port->rate_bps);
}

// A lower bound of the retransmission timers that flows of a transport behind a port arm when a
// packet starts. A timer shorter than this lag would be armed in the past, so the departures of
// such a port must be scheduled as events.
static ps_t shortest_rto_ps(const struct sim *sim, const struct graph_port *port,
                            const struct transport_dim *dim)
{
    // The base RTT of a pair includes one link of the rank in both directions, not necessarily the
    // one on which the flow sends.
    uint32_t first = 0, n = graph_ports_in(&sim->graph, port->node, port->dim, &first);
    ps_t base_rtt = PS_NEVER;
    for (uint32_t p = first; p < first + n; p++) {
        const struct graph_port *link = &sim->graph.ports[p], *back = &sim->graph.ports[link->peer];
        ps_t rtt = link->delay_ps + back->delay_ps +
                   serialization_ps(dim->full.wire, link->rate_bps) +
                   serialization_ps(dim->ack.wire, back->rate_bps);
        base_rtt = rtt < base_rtt ? rtt : base_rtt;
    }
    return dim->ops->shortest_timer_ps(&dim->spec, base_rtt);
}

static bool needs_departure_events(const struct sim *sim, const struct graph_port *port)
{
    ps_t lag_ps = catch_up_lag_ps(sim, port);
    for (uint32_t t = 0; t < sim->hosts.n_transports; t++)
        if (lag_ps >= shortest_rto_ps(sim, port, hosts_dim(&sim->hosts, port->dim, t)))
            return true;
    return false;
}

static void build_network(struct sim *sim)
{
    const struct graph *g = &sim->graph;
    network_init(&sim->net, &sim->engine, g->n_ends, g->n_nodes, g->n_ports,
                 sim_classes_in_use(sim));
    for (uint32_t p = 0; p < g->n_ports; p++) {
        const struct graph_port *port = &g->ports[p];
        const struct dim_spec *dim = &sim->spec->dims[port->dim];
        struct port_config config = {.node = port->node,
                                     .local = port->local,
                                     .peer = port->peer,
                                     .peer_local = g->ports[port->peer].local,
                                     .peer_node = g->ports[port->peer].node,
                                     .rate_bps = sim_port_rate(sim, p),
                                     .delay_ps = port->delay_ps,
                                     .header_bytes = sim_header_bytes(sim, p)};
        network_set_port(&sim->net, p, &config);
        network_set_pfc_response(&sim->net, p, dim->sw.pfc.response_ps);
    }
    for (uint32_t p = 0; p < sim->net.first_port[g->n_ends]; p++)
        if (needs_departure_events(sim, &g->ports[p]))
            port_pin_departure_events(&sim->net, p);
    ps_t span = 0; // mean time from a start to its arrival
    for (uint32_t p = 0; p < g->n_ports; p++)
        span += (g->ports[p].delay_ps + serialization_ps(1500, g->ports[p].rate_bps)) / g->n_ports;
    engine_shape(&sim->engine, g->n_ports, span);
    // Count preamble and inter-frame gap only if the scenario does.
    bool gap = sim->spec->dims[0].transport.overhead == OVERHEAD_ETHERNET;
    sim->net.pfc_wire_bytes = NET_PFC_FRAME_BYTES + (gap ? 20 : 0);
}

// A fault that takes lanes of a link adds a kind of link for each of its ports at most.
static void check_link_kinds(const struct sim *sim, struct err *err)
{
    if (sim->net.n_links + sim->n_fault_ports > NET_MAX_LINKS)
        err_add(
            err, "topology",
            "%u links of different rate, delay or clock, and %zu ports with faults; the maximum "
            "is %u together",
            sim->net.n_links, sim->n_fault_ports, NET_MAX_LINKS);
}

static void prepare_transport(const struct spec *spec, uint32_t d, uint32_t t,
                              struct transport_dim *out)
{
    const struct dim_spec *dim = &spec->dims[d];
    const struct stack_spec *stack = &dim->stacks[t];
    *out = (struct transport_dim){.ops = stack->transport.ops,
                                  .spec = stack->transport,
                                  .nic = &dim->nic,
                                  .cc = stack->cc,
                                  .cc_params = stack->cc_params,
                                  .hash_connection = dim->sw.routing.hash == ROUTING_HASH_QP,
                                  .numbers_paths = dim->sw.routing.kind == ROUTING_SOURCE &&
                                                   dim->sw.routing.source == SOURCE_ENTROPY};
    out->spec.int_bytes = sim_int_bytes(dim, t);
    out->trimmed = sim_trims(spec, d, t);
    transport_complete(&out->spec, stack->cc_preset);
}

// Resolve the transports of each dimension before the network is built, since sizes depend on them.
static void prepare_hosts(struct sim *sim)
{
    const struct spec *spec = sim->spec;
    struct hosts *hosts = &sim->hosts;
    hosts->n_transports = spec->dims[0].n_stacks;
    hosts->n_dims = spec->n_dims * hosts->n_transports;
    hosts->dims = memory_zeroed(hosts->n_dims, sizeof *hosts->dims);
    for (uint32_t d = 0; d < spec->n_dims; d++)
        for (uint32_t t = 0; t < hosts->n_transports; t++)
            prepare_transport(spec, d, t, hosts_dim(hosts, d, t));
    hosts_prepare(hosts);
}

// A policy of a plugin has broken its contract.
static void on_violation(void *ctx, const char *text)
{
    struct sim *sim = ctx;
    sim->policy_failure = memory_text(text);
    engine_stop(&sim->engine);
}

static void build_hosts(struct sim *sim)
{
    sim->cc_watch = (struct cc_watch){sim, on_violation, false};
    sim->hosts.cc_watch = &sim->cc_watch;
    sim->hosts.paths = (struct host_paths){sim_joining_dim, sim_path, sim};
    hosts_init(&sim->hosts, &sim->net);
    if (sim->switches.n_routers > 0)
        routers_attach(&sim->switches);
}

// Stack the layers of messages, each a client of the layer below: workload, relay, admission,
// stripes, ledger, hosts.
static void build_message_layers(struct sim *sim)
{
    sim->client = workload_client(&sim->workload);
    sim_ledger_init(sim);
    if (sim->spec->dims[0].sw.routing.relay)
        sim_relay_init(sim);
    sim_admission_init(sim);
    sim_stripes_init(sim);
    sim_admission_attach(sim);
    sim_ledger_set_client(sim, sim->client);
}

static void build_workload(struct sim *sim)
{
    const struct spec *spec = sim->spec;
    uint32_t n = sim->graph.n_ranks;
    sim->start_jitter_ps = memory_zeroed(n, sizeof *sim->start_jitter_ps);
    ps_t jitter = spec->dims[0].transport.start_jitter_ps;
    for (uint32_t r = 0; jitter > 0 && r < n; r++) {
        struct rng rng = rng_init(spec->seed, RNG_JITTER, r);
        sim->start_jitter_ps[r] = (ps_t)rng_below(&rng, (uint64_t)jitter + 1);
    }
    if (sim_has_noise(spec) && jitter == 0 && spec->noise.start_ps > 0) {
        sim->start_noise_ps = memory_zeroed(n, sizeof *sim->start_noise_ps);
        for (uint32_t r = 0; r < n; r++) {
            struct rng rng = rng_init(spec->seed, RNG_NOISE_START, r);
            sim->start_noise_ps[r] = (ps_t)rng_below(&rng, (uint64_t)spec->noise.start_ps + 1);
        }
    }
    sim->workload.engine = &sim->engine;
    sim->workload.path_book = &sim->path_book;
    if (sim_is_analytical(sim)) {
        sim->workload.transfer = analytical_transfer(&sim->analytical);
    } else {
        build_message_layers(sim);
        if (!sim->relay)
            sim->workload.transfer = sim->transfer;
    }
    sim->workload.n_ranks = n;
    sim->workload.start_jitter_ps = sim->start_jitter_ps;
    sim->workload.start_noise_ps = sim->start_noise_ps;
    if (sim_has_noise(spec))
        sim->workload.noise = spec->noise.step;
    sim->workload.seed = spec->seed;
    sim->workload.bandwidth = sim_bandwidth;
    sim->workload.reduce = sim_reduce;
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
    check_link_kinds(sim, err);
    build_hosts(sim);
    sim_credits_init(sim, err);
    sim_adapters_init(sim, err);
}

struct sim *sim_new(const struct spec *spec, struct err *err)
{
    struct sim *sim = memory_zeroed(1, sizeof *sim);
    size_t errors = err->n_errors;
    sim->spec = spec;
    sim_jobs_init(sim);
    sim->stats.fct_ns.limit = sim->stats.slowdown.limit = (size_t)spec->report.flows_max;
    engine_init(&sim->engine, spec->seed);
    path_book_init(&sim->path_book);
    sim->path_book.keep_steps = spec->report.timeline;
    prepare_hosts(sim);
    build_graph(sim, err);
    if (!sim_is_analytical(sim) && err->n_errors == errors)
        sim_circuits_init(sim, err);
    sim->stats.ranks = memory_zeroed(sim->graph.n_ends, sizeof *sim->stats.ranks);
    if (err->n_errors > errors) { // without a valid buffer nothing else can be built
        sim_free(sim);
        return NULL;
    }
    if (sim_is_analytical(sim))
        sim_analytical_init(sim);
    else
        build_packet_network(sim, err);
    sim_reductions_init(sim);
    build_workload(sim);
    sim_reductions_settle(sim, err);
    if (err->n_errors == errors)
        sim_circuits_start(sim, err);
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
    network_set_reference(&sim->net);
}

void sim_set_threads(struct sim *sim, uint32_t n) { sim->threads = n; }

void sim_explain_threads(struct sim *sim, const char *why)
{
    snprintf(sim->why, sizeof sim->why, "%s", why);
}

bool sim_failed_in_parts(const struct sim *sim)
{
    return sim->parts && sim->workload.failure && sim->end == LOOP_DONE;
}

void sim_packets_free(struct sim *sim) { network_free_packets(&sim->net); }

void sim_free(struct sim *sim)
{
    if (!sim)
        return;
    sim_sampler_free(sim);
    workload_free(&sim->workload);
    sim_reductions_free(sim);
    sim_relay_free(sim);
    sim_admission_free(sim);
    sim_circuits_free(sim);
    sim_stripes_free(sim);
    sim_completions_free(sim);
    sim_ledger_free(sim);
    hosts_free(&sim->hosts);
    analytical_free(&sim->analytical);
    switches_free(&sim->switches);
    sim_parts_free(sim);
    network_free(&sim->net);
    routes_free(&sim->routes);
    routes_free(&sim->first_routes);
    graph_free(&sim->graph);
    ideal_paths_free(sim->ideal);
    engine_free(&sim->engine);
    path_book_free(&sim->path_book);
    free(sim->changes);
    free(sim->change_timers);
    free(sim->quality_timers);
    free(sim->fault_ports);
    free(sim->start_jitter_ps);
    free(sim->start_noise_ps);
    free(sim->nic_at);
    free(sim->flows);
    sim_jobs_free(sim);
    distribution_free(&sim->stats.fct_ns);
    distribution_free(&sim->stats.slowdown);
    free(sim->stats.ranks);
    free(sim->flow_order);
    sim_free_captures(sim);
    free(sim->capture_failure);
    free(sim->policy_failure);
    free(sim);
}

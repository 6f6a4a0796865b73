// SPDX-License-Identifier: MIT
// Builds the packet network of a spec, and frees it.
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/cores/cores.h"
#include "sim/fabric/fabric_internal.h"
#include "sim/fabric/port_patterns.h"
#include "switch/telemetry.h"
#include "transport/nic/stack.h"

/* ---- graph ---- */

// Builds the graph of a network: switches, links, aggregators, routes.

// Add switches and links to an empty graph, with room for aggregators.
static void build_dims(struct fabric *fabric, uint32_t aggregators)
{
    const struct spec *spec = fabric->spec;
    uint32_t sizes[SPEC_MAX_DIMS];
    for (uint32_t d = 0; d < spec->n_dims; d++)
        sizes[d] = spec->dims[d].size;
    graph_init(&fabric->graph, spec->n_dims, sizes);
    graph_reserve_aggregators(&fabric->graph, aggregators);
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct dim_spec *dim = &spec->dims[d];
        fabric->graph.dim_fabric[d] = dim->kind->fabric;
        fabric->graph.dim_share[d] = dim->ranks_per_port > 1 ? dim->ranks_per_port : 1;
        // In closed form there are ranks, but no switches and links.
        if (!fabric_is_analytical(fabric))
            dim->kind->build(&fabric->graph, d, dim->params, dim->links);
    }
}

struct rate_change {
    struct graph *graph;
    const struct rate_spec *spec;
};

static void set_rate(void *ctx, uint32_t port)
{
    const struct rate_change *change = ctx;
    struct graph_port *ports = change->graph->ports;
    ports[port].rate_bps = change->spec->rate_bps;
    if (!change->spec->one_way)
        ports[ports[port].peer].rate_bps = change->spec->rate_bps;
}

// Give the links that the scenario lists their rates; the last one that names a link counts.
static void change_rates(struct fabric *fabric, struct err *err)
{
    char place[32];
    for (size_t i = 0; i < fabric->spec->n_links; i++) {
        struct rate_change change = {&fabric->graph, &fabric->spec->links[i]};
        snprintf(place, sizeof place, "links[%zu].at", i);
        if (port_patterns_match(&fabric->graph, change.spec->at, set_rate, &change) == 0)
            port_patterns_unknown(&fabric->graph, change.spec->at, place, err);
    }
}

// Aggregators are numbered before switches, so the graph is built again once their number is known.
static void fabric_build_graph(struct fabric *fabric, struct err *err)
{
    build_dims(fabric, 0);
    uint32_t aggregators = fabric_count_aggregators(fabric);
    if (aggregators > 0) {
        graph_free(&fabric->graph);
        build_dims(fabric, aggregators);
        fabric_add_aggregators(fabric);
    }
    graph_seal(&fabric->graph);
    fabric_add_latencies(fabric);
    if (fabric_is_analytical(fabric))
        return;
    change_rates(fabric, err);
    fabric_add_link_noise(fabric);
    fabric_nics_find(fabric, err);
    fabric_routes_build(fabric, err);
}

/* ---- telemetry ---- */

// Decides whether and in which form INT is used, and checks that packets have room for it.

// Memory hints pay from this number of ports on: a smaller network mostly fits into the
// second-level cache. The number is lower if packets collect INT records.
#define HINT_PORTS 1024
#define HINT_PORTS_INT 256

// Set a transport's use of INT records and the base RTT of the longest path. Returns false if it
// uses neither.
static bool transport_init(struct fabric *fabric, uint32_t d, uint32_t t, struct err *err)
{
    const struct dim_spec *dim = &fabric->spec->dims[d];
    struct transport_dim *transport = hosts_dim(&fabric->hosts, d, t);
    bool carries = transport->ops->provides & CC_NEEDS_INT;
    enum int_mode mode = carries ? fabric_int_mode(dim) : INT_OFF;
    transport->int_records = mode == INT_EXACT || mode == INT_HPCC64;
    if (mode == INT_OFF && !(transport->cc->needs & CC_NEEDS_GLOBAL_RTT))
        return false;
    struct longest_path path = fabric_longest_path(fabric, d, t);
    char src[GRAPH_NAME], dst[GRAPH_NAME];
    transport->global_rtt_ps = path.base_rtt_ps;
    // The INT of the sender's own NIC is not counted: a path of n links crosses n - 1 switches.
    if (transport->int_records && path.hops > dim->sw.int_hops + 1)
        err_add(err, "switch.int_hops",
                "%s -> %s crosses %u switches, and a packet has room for the INT of %u",
                graph_node_name(&fabric->graph, path.src, src),
                graph_node_name(&fabric->graph, path.dst, dst), path.hops - 1,
                (unsigned)dim->sw.int_hops);
    return true;
}

// After network and routes.
static void fabric_telemetry_init(struct fabric *fabric, struct err *err)
{
    const struct spec *spec = fabric->spec;
    uint32_t per_slot = 1;
    bool records = false, any = false;
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct dim_spec *dim = &spec->dims[d];
        bool uses = fabric_int_mode(dim) != INT_OFF;
        for (uint32_t t = 0; t < dim->n_stacks; t++) {
            uses |= transport_init(fabric, d, t, err);
            records |= hosts_dim(&fabric->hosts, d, t)->int_records;
        }
        any |= uses;
        // All packets have one format of meta-data, so there is room for the largest number of
        // records.
        if (uses && dim->sw.int_hops > per_slot)
            per_slot = (uint32_t)dim->sw.int_hops;
    }
    fabric->net.meta.per_slot = per_slot;
    fabric->net.meta.keeps_hops = any;
    network_set_hints(&fabric->net, fabric->net.n_ports >= (records ? HINT_PORTS_INT : HINT_PORTS));
}

/* ---- build ---- */

// A fault that takes lanes of a link adds a kind of link for each of its ports at most.
static void check_link_kinds(const struct fabric *fabric, struct err *err)
{
    if (fabric->net.n_links + fabric->n_fault_ports > NET_MAX_LINKS)
        err_add(
            err, "topology",
            "%u links of different rate, delay or clock, and %zu ports with faults; the maximum "
            "is %u together",
            fabric->net.n_links, fabric->n_fault_ports, NET_MAX_LINKS);
}

// A policy of a plugin has broken its contract.
static void on_violation(void *ctx, const char *text)
{
    struct fabric *fabric = ctx;
    fabric->policy_failure = memory_text(text);
    engine_stop(&fabric->engine);
}

// What messages cost the cores of hosts.
static void attach_stack(struct fabric *fabric)
{
    const struct host_spec *host = &fabric->spec->host;
    if (!host->given)
        return;
    // Without costs, messages need not pass the cores.
    if (host_stack_costs(&host->send) || host_stack_costs(&host->receive))
        stack_attach(&fabric->hosts, host, fabric->cores);
}

static void build_hosts(struct fabric *fabric)
{
    fabric->cc_watch = (struct cc_watch){fabric, on_violation, false};
    fabric->hosts.cc_watch = &fabric->cc_watch;
    fabric->hosts.paths = (struct host_paths){fabric_joining_dim, fabric_path, fabric_arrives, fabric};
    hosts_init(&fabric->hosts, &fabric->net);
    attach_stack(fabric);
    if (fabric->switches.n_routers > 0)
        routers_attach(&fabric->switches);
}

// State that the order of events is needed, if a transport or a policy needs it.
static void state_needs(struct fabric *fabric)
{
    for (uint32_t d = 0; d < fabric->hosts.n_dims; d++)
        if (fabric->hosts.dims[d].fails_at_once)
            fabric_needs_order(
                fabric, "a flow fails at its first timeout (recovery, retry_limit, retries)");
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        for (uint32_t t = 0; t < fabric->spec->dims[d].n_stacks; t++)
            if (cc_extras_of(fabric->spec->dims[d].stacks[t].cc)->host)
                fabric_needs_order(fabric, "a policy of a plugin is watched on one thread");
}

void fabric_init(struct fabric *fabric, const struct spec *spec, struct err *err)
{
    size_t errors = err->n_errors;
    fabric->spec = spec;
    engine_init(&fabric->engine, spec->seed);
    fabric_prepare_hosts(fabric);
    fabric_build_graph(fabric, err);
    fabric->cores = cores_new(&fabric->engine, fabric->graph.n_ends,
                              spec->host.ranks > 0 ? (uint32_t)spec->host.ranks : 1,
                              (uint32_t)spec->host.cores);
    // Circuits need sound routes.
    if (!fabric_is_analytical(fabric) && err->n_errors == errors)
        fabric_circuits_init(fabric, err);
}

#define BUFFER_MOST 4e9 // the largest that a scenario can give
#define BUFFER_RATE_BPS UINT64_C(400000000000)

// A buffer that is "auto" grows with the fastest link of its dimension, as marking thresholds and
// headroom do.
static void find_buffers(struct fabric *fabric)
{
    const struct graph *g = &fabric->graph;
    for (uint32_t d = 0; d < g->n_dims; d++)
        fabric->buffer_bytes[d] = FABRIC_BUFFER_BYTES;
    for (uint32_t p = 0; p < g->n_ports; p++) {
        uint64_t *bytes = &fabric->buffer_bytes[g->ports[p].dim];
        double grown =
            (double)FABRIC_BUFFER_BYTES * (double)g->ports[p].rate_bps / (double)BUFFER_RATE_BPS;
        grown = grown < BUFFER_MOST ? grown : BUFFER_MOST;
        if ((uint64_t)grown > *bytes)
            *bytes = (uint64_t)grown;
    }
    for (uint32_t d = 0; d < g->n_dims; d++)
        if (fabric->spec->dims[d].sw.buffer_bytes != PARAM_AUTO)
            fabric->buffer_bytes[d] = fabric->spec->dims[d].sw.buffer_bytes;
}

void fabric_build(struct fabric *fabric, struct err *err)
{
    find_buffers(fabric);
    fabric_build_network(fabric);
    fabric_telemetry_init(fabric, err);
    fabric_weights_init(fabric);
    fabric_build_switches(fabric, err);
    fabric_meters_init(fabric, err);
    fabric_faults_init(fabric, err);
    check_link_kinds(fabric, err);
    build_hosts(fabric);
    fabric_credits_init(fabric, err);
    fabric_adapters_init(fabric, err);
    state_needs(fabric);
    fabric_longest_keep(fabric);
}

void fabric_free(struct fabric *fabric)
{
    fabric_reductions_free(fabric);
    fabric_circuits_free(fabric);
    hosts_free(&fabric->hosts);
    switches_free(&fabric->switches);
    if (fabric->shards)
        hosts_shards_free(fabric->shard_hosts, fabric->shards->n);
    cores_free(fabric->cores);
    free(fabric->shard_switches);
    shards_free(fabric->shards);
    network_free(&fabric->net);
    routes_free(&fabric->routes);
    routes_free(&fabric->first_routes);
    graph_free(&fabric->graph);
    engine_free(&fabric->engine);
    free(fabric->longest);
    free(fabric->changes);
    free(fabric->change_timers);
    free(fabric->quality_timers);
    free(fabric->fault_ports);
    free(fabric->nic_at);
    free(fabric->flow_order);
    free(fabric->policy_failure);
}

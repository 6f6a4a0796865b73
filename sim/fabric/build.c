// SPDX-License-Identifier: MIT
// Builds the packet network of a spec, and frees it.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/cores/cores.h"
#include "sim/fabric/fabric_internal.h"
#include "transport/nic/stack.h"

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
    if (host_stack_costs(&host->send) || host_stack_costs(&host->receive))
        stack_attach(&fabric->hosts, host, fabric->cores);
}

static void build_hosts(struct fabric *fabric)
{
    fabric->cc_watch = (struct cc_watch){fabric, on_violation, false};
    fabric->hosts.cc_watch = &fabric->cc_watch;
    fabric->hosts.paths = (struct host_paths){fabric_joining_dim, fabric_path, fabric};
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
    if (!fabric_is_analytical(fabric) && err->n_errors == errors)
        fabric_circuits_init(fabric, err);
}

void fabric_build(struct fabric *fabric, struct err *err)
{
    fabric_build_network(fabric);
    fabric_telemetry_init(fabric, err);
    fabric_weights_init(fabric);
    fabric_build_switches(fabric, err);
    fabric_faults_init(fabric, err);
    check_link_kinds(fabric, err);
    build_hosts(fabric);
    fabric_credits_init(fabric, err);
    fabric_adapters_init(fabric, err);
    state_needs(fabric);
}

void fabric_free(struct fabric *fabric)
{
    fabric_reductions_free(fabric);
    fabric_circuits_free(fabric);
    hosts_free(&fabric->hosts);
    switches_free(&fabric->switches);
    if (fabric->partition)
        hosts_shards_free(fabric->shard_hosts, fabric->partition->n);
    cores_free(fabric->cores);
    free(fabric->shard_switches);
    partition_free(fabric->partition);
    network_free(&fabric->net);
    routes_free(&fabric->routes);
    routes_free(&fabric->first_routes);
    graph_free(&fabric->graph);
    engine_free(&fabric->engine);
    free(fabric->changes);
    free(fabric->change_timers);
    free(fabric->quality_timers);
    free(fabric->fault_ports);
    free(fabric->nic_at);
    free(fabric->flow_order);
    free(fabric->policy_failure);
}

// SPDX-License-Identifier: MIT
// Decides whether INT is used, in which form, and checks that packets have room for it.
#include "switch/telemetry.h"

#include "sim/sim_internal.h"

enum int_mode sim_int_mode(const struct dim_spec *dim)
{
    bool needed = dim->cc->needs & CC_NEEDS_INT;
    if (dim->sw.telemetry == TELEMETRY_OFF || (dim->sw.telemetry == TELEMETRY_AUTO && !needed))
        return INT_OFF;
    if (dim->cc->wants_pint && dim->cc->wants_pint(dim->cc_params))
        return INT_PINT;
    return dim->sw.int_encoding == INT_ENCODING_HPCC64 ? INT_HPCC64 : INT_EXACT;
}

uint32_t sim_int_bytes(const struct dim_spec *dim)
{
    enum int_mode mode = sim_int_mode(dim);
    return mode == INT_OFF ? 0 : mode == INT_PINT ? 1 : 2 + 8 * (uint32_t)dim->sw.int_hops;
}

// Memory hints pay from this number of ports on: a smaller network mostly fits into the
// second-level cache. The number is lower if packets collect INT records.
#define HINT_PORTS 1024
#define HINT_PORTS_INT 256

void sim_telemetry_init(struct sim *sim, struct err *err)
{
    const struct spec *spec = sim->spec;
    uint32_t per_slot = 1;
    bool records = false;
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct dim_spec *dim = &spec->dims[d];
        struct transport_dim *transport = &sim->hosts.dims[d];
        enum int_mode mode = sim_int_mode(dim);
        transport->int_records = mode == INT_EXACT || mode == INT_HPCC64;
        records |= transport->int_records;
        if (mode == INT_OFF && !(dim->cc->needs & CC_NEEDS_GLOBAL_RTT))
            continue;
        struct sim_longest path = sim_longest_path(sim, d);
        char src[GRAPH_NAME], dst[GRAPH_NAME];
        transport->global_rtt_ps = path.base_rtt_ps;
        if (transport->int_records && path.hops > dim->sw.int_hops + 1)
            err_add(err, "switch.int_hops",
                    "%s -> %s crosses %u switches, and a packet has room for the INT of %u",
                    graph_node_name(&sim->graph, path.src, src),
                    graph_node_name(&sim->graph, path.dst, dst), path.hops - 1,
                    (unsigned)dim->sw.int_hops);
        if (dim->sw.int_hops > per_slot)
            per_slot = (uint32_t)dim->sw.int_hops;
    }
    sim->net.meta.per_slot = per_slot;
    network_set_hints(&sim->net, sim->net.n_ports >= (records ? HINT_PORTS_INT : HINT_PORTS));
}

// SPDX-License-Identifier: MIT
// Decides whether and in which form INT is used, and checks that packets have room for it.
#include "switch/telemetry.h"

#include "sim/fabric/fabric_internal.h"

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
    if (transport->int_records && path.hops > dim->sw.int_hops + 1)
        err_add(err, "switch.int_hops",
                "%s -> %s crosses %u switches, and a packet has room for the INT of %u",
                graph_node_name(&fabric->graph, path.src, src),
                graph_node_name(&fabric->graph, path.dst, dst), path.hops - 1,
                (unsigned)dim->sw.int_hops);
    return true;
}

void fabric_telemetry_init(struct fabric *fabric, struct err *err)
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
        if (uses && dim->sw.int_hops > per_slot)
            per_slot = (uint32_t)dim->sw.int_hops;
    }
    fabric->net.meta.per_slot = per_slot;
    fabric->net.meta.keeps_hops = any;
    network_set_hints(&fabric->net, fabric->net.n_ports >= (records ? HINT_PORTS_INT : HINT_PORTS));
}

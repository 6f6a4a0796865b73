// SPDX-License-Identifier: MIT
// The transports of each dimension: their settings from the spec, and their kinds.
#include <string.h>

#include "engine/base/memory.h"
#include "sim/fabric/fabric_internal.h"

bool fabric_is_pieced(const struct transport_spec *t, uint64_t bytes)
{
    return t->admission == ADMISSION_CTS && bytes > t->slot_bytes;
}

bool fabric_is_tcp(const struct transport_dim *dim) { return strcmp(dim->ops->name, "tcp") == 0; }

bool fabric_is_uec(const struct transport_dim *dim)
{
    return strcmp(dim->ops->name, "uec") == 0 || strcmp(dim->ops->name, "mrc") == 0;
}

static void prepare_transport(const struct spec *spec, uint32_t d, uint32_t t,
                              struct transport_dim *out)
{
    const struct dim_spec *dim = &spec->dims[d];
    const struct stack_spec *stack = &dim->stacks[t];
    *out = (struct transport_dim){.ops = stack->transport.ops,
                                  .spec = stack->transport,
                                  .cc = stack->cc,
                                  .cc_params = stack->cc_params,
                                  .hash_connection = dim->sw.routing.hash == ROUTING_HASH_QP,
                                  .numbers_paths = dim->sw.routing.kind == ROUTING_SOURCE &&
                                                   dim->sw.routing.source == SOURCE_ENTROPY};
    out->spec.int_bytes = fabric_int_bytes(dim, t);
    out->trimmed = fabric_trims(spec, d, t);
    transport_complete(&out->spec, stack->cc_preset, dim->nic.preset);
}

// Resolve the transports of each dimension before the network is built, since sizes depend on them.
void fabric_prepare_hosts(struct fabric *fabric)
{
    const struct spec *spec = fabric->spec;
    struct hosts *hosts = &fabric->hosts;
    hosts->n_transports = spec->dims[0].n_stacks;
    hosts->n_dims = spec->n_dims * hosts->n_transports;
    hosts->dims = memory_zeroed(hosts->n_dims, sizeof *hosts->dims);
    for (uint32_t d = 0; d < spec->n_dims; d++)
        for (uint32_t t = 0; t < hosts->n_transports; t++)
            prepare_transport(spec, d, t, hosts_dim(hosts, d, t));
    hosts_prepare(hosts);
}

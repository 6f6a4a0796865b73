// SPDX-License-Identifier: MIT
// Facts that follow from the spec and the graph of a fabric: classes and their flow control,
// telemetry, largest packets, names of switches; and the needs that features state.
#include "sim/fabric/fabric_internal.h"

/* ---- classes ---- */

unsigned fabric_job_class(const struct spec *spec, uint32_t dim, size_t job)
{
    // The class of the transport in this dimension replaces the class of the job.
    uint64_t own = spec->dims[dim].stacks[spec->jobs[job].transport].transport.cls;
    return (unsigned)(own != PARAM_AUTO ? own : spec->jobs[job].cls);
}

uint8_t fabric_job_classes(const struct spec *spec, uint32_t dim, size_t job)
{
    // Copies to memory tiers have classes of their own, unless the transport fixes one for all.
    bool fixed = spec->dims[dim].stacks[spec->jobs[job].transport].transport.cls != PARAM_AUTO;
    return (uint8_t)(1u << fabric_job_class(spec, dim, job) |
                     (fixed ? 0 : spec->jobs[job].tier_classes));
}

// True if a job sends data of this class over transport number `t`.
static bool carries(const struct fabric *fabric, uint32_t dim, uint32_t t, unsigned cls)
{
    for (size_t j = 0; j < fabric->spec->n_jobs; j++) {
        if (fabric->spec->jobs[j].transport == t &&
            (fabric_job_classes(fabric->spec, dim, j) >> cls & 1) != 0)
            return true;
    }
    return false;
}

const struct stack_spec *fabric_stack_of_class(const struct fabric *fabric, uint32_t dim,
                                               unsigned cls)
{
    const struct dim_spec *spec = &fabric->spec->dims[dim];
    const struct stack_spec *found = NULL;
    // If several transports share a class, their packets share a queue, which has one marking. A
    // policy that needs marks fails without them, and one that ignores marks is not harmed by them,
    // so a stack with ECN is preferred.
    for (uint32_t t = 0; spec->n_stacks > 1 && t < spec->n_stacks; t++) {
        const struct stack_spec *stack = &spec->stacks[t];
        if (carries(fabric, dim, t, cls) &&
            (!found || (!found->cc_preset->profile.ecn && stack->cc_preset->profile.ecn)))
            found = stack;
    }
    return found ? found : &spec->stacks[0];
}

bool fabric_is_lossless(const struct switch_spec *sw, unsigned cls)
{
    if (!sw->pfc.enabled || cls >= NET_DATA_CLASSES)
        return false;
    int choice = sw->classes[cls].lossless;
    return choice == LOSSLESS_ON || (choice == LOSSLESS_AUTO && cls == NET_CLASS_DATA);
}

uint8_t fabric_classes_in_use(const struct fabric *fabric)
{
    const struct spec *spec = fabric->spec;
    uint8_t classes = 0;
    for (size_t j = 0; j < spec->n_jobs; j++)
        classes |= (uint8_t)(1u << spec->jobs[j].cls | spec->jobs[j].tier_classes);
    if (classes == 0)
        classes = 1u << NET_CLASS_DATA;
    for (uint32_t d = 0; d < fabric->hosts.n_dims; d++) {
        const struct transport_dim *dim = &fabric->hosts.dims[d];
        if (dim->spec.cls != PARAM_AUTO)
            classes |= (uint8_t)(1u << dim->spec.cls);
        if (dim->uses_control_class)
            classes |= 1u << NET_CLASS_CONTROL;
    }
    // A trimmed packet continues in the control class, ahead of the queue that had no room for it.
    for (uint32_t d = 0; d < spec->n_dims; d++)
        if (spec->dims[d].sw.trimming.enabled)
            classes |= 1u << NET_CLASS_CONTROL;
    return classes;
}

uint8_t fabric_lossless(const struct fabric *fabric, uint32_t dim)
{
    uint8_t classes = 0;
    for (unsigned cls = 0; cls < NET_DATA_CLASSES; cls++)
        // A class that nothing uses has no queue at the ports.
        if (fabric->net.slot_of_class[cls] != NET_NO_SLOT &&
            fabric_is_lossless(&fabric->spec->dims[dim].sw, cls))
            classes |= (uint8_t)(1u << cls);
    return classes;
}

bool fabric_uses_credits(const struct fabric *fabric, uint32_t dim)
{
    return fabric->spec->dims[dim].sw.flow_control == FLOW_CONTROL_CREDIT &&
           fabric_lossless(fabric, dim) != 0;
}

bool fabric_trims(const struct spec *spec, uint32_t d, uint32_t t)
{
    // A switch trims what it would otherwise drop, which happens only in lossy classes, and only
    // for transports that can read a trimmed packet.
    const struct dim_spec *dim = &spec->dims[d];
    bool lossy = false;
    for (size_t j = 0; j < spec->n_jobs; j++)
        lossy |= spec->jobs[j].transport == t &&
                 !fabric_is_lossless(&dim->sw, fabric_job_class(spec, d, j));
    return dim->sw.trimming.enabled && lossy && dim->stacks[t].transport.ops->on_trimmed;
}

/* ---- telemetry ---- */

// The stack whose policy needs telemetry, or the first.
static const struct stack_spec *stack_with_int(const struct dim_spec *dim)
{
    for (uint32_t t = 0; t < dim->n_stacks; t++)
        if (dim->stacks[t].cc->needs & CC_NEEDS_INT)
            return &dim->stacks[t];
    return &dim->stacks[0];
}

enum int_mode fabric_int_mode(const struct dim_spec *dim)
{
    const struct stack_spec *stack = stack_with_int(dim);
    bool needed = stack->cc->needs & CC_NEEDS_INT;
    if (dim->sw.telemetry == TELEMETRY_OFF || (dim->sw.telemetry == TELEMETRY_AUTO && !needed))
        return INT_OFF;
    if (cc_wants_pint(stack->cc, stack->cc_params))
        return INT_PINT;
    return dim->sw.int_encoding == INT_ENCODING_HPCC64 ? INT_HPCC64 : INT_EXACT;
}

uint32_t fabric_int_bytes(const struct dim_spec *dim, uint32_t transport)
{
    enum int_mode mode = fabric_int_mode(dim);
    if (!(dim->stacks[transport].transport.ops->provides & CC_NEEDS_INT))
        return 0;
    // PINT adds one byte for the whole path. HPCC's format has 2 bytes, then 8 for each hop, which
    // are 42 bytes for five hops (Li et al., SIGCOMM 2019).
    return mode == INT_OFF ? 0 : mode == INT_PINT ? 1 : 2 + 8 * (uint32_t)dim->sw.int_hops;
}

/* ---- packets ---- */

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

struct largest_packets fabric_largest_packets(const struct fabric *fabric, uint32_t dim)
{
    struct largest_packets most = {0};
    // Transports share the ports of a dimension, so buffers and headroom are made for the largest
    // packets of all of them.
    for (uint32_t t = 0; t < fabric->hosts.n_transports; t++) {
        const struct transport_dim *d = hosts_dim(&fabric->hosts, dim, t);
        most.first_wire = larger(most.first_wire, d->first.wire);
        most.full_wire = larger(most.full_wire, d->full.wire);
        most.full_frame = larger(most.full_frame, d->full.frame);
        most.ack_wire = larger(most.ack_wire, d->ack.wire);
        most.frame =
            larger(most.frame, larger(d->first.frame, larger(d->full.frame, d->ack.frame)));
    }
    return most;
}

/* ---- switches ---- */

uint32_t fabric_switch_dim(const struct fabric *fabric, uint32_t index)
{
    return fabric->graph.ports[fabric->switches.nodes[index].first_port].dim;
}

const char *fabric_switch_name(const struct fabric *fabric, uint32_t index, char buf[GRAPH_NAME])
{
    uint32_t node = fabric->graph.ports[fabric->switches.nodes[index].first_port].node;
    // The router of a rank in a direct dimension has no node of its own. It is named after the rank
    // and the dimension, since a rank has one in each direct dimension.
    if (node >= fabric->graph.n_ends)
        return graph_node_name(&fabric->graph, node, buf);
    snprintf(buf, GRAPH_NAME, "rank%u:dim%u", node, fabric_switch_dim(fabric, index));
    return buf;
}

/* ---- statements ---- */

void fabric_needs_order(struct fabric *fabric, const char *why)
{
    if (!fabric->threads_obstacle)
        fabric->threads_obstacle = why;
}

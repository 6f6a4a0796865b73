// SPDX-License-Identifier: MIT
// Describes the values that are derived from a scenario, before the run.
#include <stdio.h>
#include <stdlib.h>

#include "sim/simulation.h"

// Describe the retransmission timeout of a path.
static void describe_timeout(FILE *out, const struct transport_dim *dim,
                             const struct transport_path *path)
{
    char first[UNIT_TEXT], least[UNIT_TEXT];
    ps_t least_ps = 0;
    if (dim->ops->rto_ps == NULL)
        return;
    ps_t first_ps = dim->ops->rto_ps(dim, path, &least_ps);
    fprintf(out, "  retransmission timeout %s", human_time(least_ps, least));
    if (first_ps != least_ps)
        fprintf(out, " or twice the RTT, %s before the first report", human_time(first_ps, first));
    fprintf(out, "\n");
}

static void describe_pair(FILE *out, const struct sim *sim, uint32_t src, uint32_t dst)
{
    // The dimension of a message may depend on its size, so it is that of the message described
    // here.
    uint32_t dim = fabric_message_dim(&sim->fabric, src, dst, 1000000);
    for (uint32_t t = 0; dim != GRAPH_NONE && t < sim->fabric.hosts.n_transports; t++) {
        // fabric_path() is called through a table of functions whose context is not const; it only
        // reads.
        struct transport_path path =
            fabric_path((void *)(uintptr_t)&sim->fabric, src, dst, dim, t, 0);
        const char *name = sim->spec->dims[dim].stacks[t].transport.name;
        bool several = sim->fabric.hosts.n_transports > 1;
        char rtt[UNIT_TEXT], rate[UNIT_TEXT], bdp[UNIT_TEXT], ideal[UNIT_TEXT];
        fprintf(out,
                "rank%u -> rank%u%s%s: dimension %u, %u hops, %s, base RTT %s, BDP %s; 1 MB "
                "takes %s alone\n",
                src, dst, several ? ", " : "", several ? name : "", dim, path.hops,
                human_rate((double)path.line_bps, rate), human_time(path.base_rtt_ps, rtt),
                human_bytes(bytes_in_ps(path.base_rtt_ps, path.line_bps), bdp),
                human_time(ideal_message_ps(&sim->ideals, src, dst, dim, t, 1000000, NULL), ideal));
        describe_timeout(out, hosts_dim(&sim->fabric.hosts, dim, t), &path);
    }
}

static void describe_marking(FILE *out, const struct marking *marking)
{
    char a[UNIT_TEXT], b[UNIT_TEXT];
    if (!marking->enabled)
        fputs(", no ECN", out);
    else if (marking->kind == MARKING_PI)
        fprintf(out, ", ECN holds a queue of %s (PI)", human_bytes(marking->pi.qref_bytes, a));
    else
        fprintf(out, ", ECN from %s to %s at %g", human_bytes(marking->kmin_bytes, a),
                human_bytes(marking->kmax_bytes, b), marking->pmax);
}

static void describe_switch(FILE *out, const struct sim *sim, uint32_t index)
{
    const struct switch_node *s = &sim->fabric.switches.nodes[index];
    uint32_t last = s->first_port + s->n_ports - 1;
    const struct marking *markings = &sim->fabric.switches.markings[last * sim->fabric.net.n_data];
    bool by_class = sim->fabric.hosts.n_transports > 1; // each policy has its own marking
    char name[GRAPH_NAME], a[UNIT_TEXT], b[UNIT_TEXT], c[UNIT_TEXT];
    fprintf(out, "%s: %u ports, %s shared", fabric_switch_name(&sim->fabric, index, name),
            s->n_ports, human_bytes(switch_fullest(s)->shared_bytes, a));
    if (s->slices)
        fprintf(out, " in each of %u slices", s->n_slices);
    for (unsigned slot = sim->fabric.net.data_slot; slot < sim->fabric.net.n_slots; slot++) {
        // Slot 0 of a port is for PFC frames; the classes of the buffer begin with the slot after
        // it.
        uint64_t limit =
            (uint64_t)(s->mmu.alpha[slot - 1] * (double)switch_fullest(s)->shared_bytes);
        const struct mmu_ingress *in =
            &s->mmu.ingress[(s->n_ports - 1) * s->mmu.n_classes + slot - 1];
        if (sim->fabric.net.n_data > 1)
            fprintf(out, "; class %u", sim->fabric.net.class_of_slot[slot]);
        if (in->headroom_limit > 0)
            fprintf(out, ", XOFF at %s of shared when empty, headroom %s at its last port",
                    human_bytes(limit, b), human_bytes(in->headroom_limit, c));
        else
            fprintf(out, ", drops above %s at an egress when empty", human_bytes(limit, b));
        if (by_class)
            describe_marking(out, &markings[slot - sim->fabric.net.data_slot]);
    }
    if (!by_class)
        describe_marking(out, &markings[0]);
    fputs("\n", out);
}

static unsigned role_of(const struct sim *sim, uint32_t index)
{
    uint32_t port = sim->fabric.switches.nodes[index].first_port;
    return sim->fabric.graph.nodes[sim->fabric.graph.ports[port].node].role;
}

char *sim_describe(const struct sim *sim)
{
    struct text text;
    FILE *out = text_open(&text);
    const struct graph *g = &sim->fabric.graph;
    if (fabric_is_analytical(&sim->fabric)) {
        delivery_describe(&sim->delivery, out);
        return text_close(out, &text);
    }
    const struct switches *sw = &sim->fabric.switches;
    fprintf(out, "%u ranks, %u switches, ", g->n_ranks, sw->n_switches);
    if (sw->n_routers > 0)
        fprintf(out, "%u routers of ranks, ", sw->n_routers);
    fprintf(out, "%u links\n", g->n_ports / 2);
    if (g->n_ranks > 1) {
        describe_pair(out, sim, 0, 1);
        if (g->n_ranks > 2)
            describe_pair(out, sim, 0, g->n_ranks - 1);
    }
    for (uint32_t i = 0; i < sw->n_switches + sw->n_routers; i++) // one switch of each role
        if (i == 0 || role_of(sim, i) != role_of(sim, i - 1) ||
            fabric_switch_dim(&sim->fabric, i) != fabric_switch_dim(&sim->fabric, i - 1))
            describe_switch(out, sim, i);
    return text_close(out, &text);
}

// SPDX-License-Identifier: MIT
// Divides a simulation among threads, and puts its results together.
#include "sim/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cc/registry.h"
#include "engine/memory.h"
#include "net/crossing.h"

static bool retries(const struct sim *sim)
{
    for (uint32_t p = 0; p < sim->net.n_ports; p++)
        if (sim->net.cold[p].special & SPECIAL_RETRY)
            return true;
    return false;
}

// Whether the numbers or ports of a flow may change while it has packets on their way: captures show those of
// the flow's description.
static bool names_change(const struct sim *sim)
{
    for (uint32_t d = 0; d < sim->hosts.n_dims; d++) {
        const struct transport_dim *dim = &sim->hosts.dims[d];
        if (dim->fresh_connections || (dim->ops->change_path && cc_moves_flows(dim->cc)))
            return true;
    }
    return false;
}

// What keeps a simulation on one thread, or NULL.
static const char *obstacle(const struct sim *sim)
{
    const struct spec *spec = sim->spec;
    if (sim_is_analytical(sim))
        return "a network in closed form has no packets to share out";
    if (sim->engine.queue.shift == 0)
        return "the reference engine has one thread";
    if (sim->hosts.flows.cap < HOSTS_FLOWS_MAX)
        return "address space is limited (ulimit -v)";
    if (sim->captures && names_change(sim))
        return "captures with transports or policies that give flows other names";
    if (spec->report.timeline)
        return "the timeline is recorded in the order of events";
    if (sim->nic_at)
        return "NICs that are not ideal need the order of events";
    if (sim->net.credits)
        return "credits of a link reach its sender without delay of a packet";
    if (retries(sim))
        return "link-level retry knows at one end of a link what is lost at the other";
    if (sim->circuits)
        return "circuits change the light of ports everywhere at once";
    if (sim->admission)
        return "clear-to-send admission needs the order of events";
    if (sim->workload.takes_order)
        return "collectives are planned by when they are issued, or ranks share resources";
    for (uint32_t d = 0; d < sim->hosts.n_dims; d++)
        if (sim->hosts.dims[d].fails_at_once)
            return "a flow fails at its first timeout (recovery, retry_limit, retries)";
    for (uint32_t d = 0; d < spec->n_dims; d++)
        for (uint32_t t = 0; t < spec->dims[d].n_stacks; t++)
            if (spec->dims[d].stacks[t].cc->host)
                return "a policy of a plugin is watched on one thread";
    return NULL;
}

struct network *sim_net_of(struct sim *sim, uint32_t node)
{
    return sim->parts ? &sim->net.parts->nets[sim->parts->partition->part_of[node]] : &sim->net;
}

struct hosts *sim_hosts_of(struct sim *sim, uint32_t rank)
{
    return sim->parts ? &sim->parts->hosts[sim->parts->partition->part_of[rank]] : &sim->hosts;
}

/* ---- hooks of the partition ---- */

static void send(void *ctx, uint32_t part, ps_t until_ps)
{
    const struct sim *sim = ctx;
    crossing_depart(&sim->net.parts->nets[part], until_ps - 1);
}

static ps_t receive(void *ctx, uint32_t part)
{
    const struct sim *sim = ctx;
    struct network *net = &sim->net.parts->nets[part];
    crossing_receive(net);
    return crossing_next_ps(net);
}

static bool alone(void *ctx, ps_t until_ps) { return sim_may_be_quiet(ctx, until_ps); }

/* ---- division ---- */

// Each part's engine calls the handlers with the part's network.
static uint64_t frames_per_window(const struct sim *sim, ps_t window_ps)
{
    uint64_t n = 0;
    for (uint32_t p = 0; p < sim->net.n_ports; p++) {
        const struct byte_time *bt = &port_link(&sim->net, p)->byte_time;
        ps_t frame_ps = byte_time_span(bt, NET_PFC_FRAME_BYTES / 8);
        n += (uint64_t)(window_ps / (frame_ps > 0 ? frame_ps : 1)) + 2;
    }
    return n;
}

static void set_handlers(struct sim *sim)
{
    const struct partition *p = sim->parts->partition;
    for (uint32_t i = 0; i < p->n; i++) {
        struct network *net = &sim->net.parts->nets[i];
        net->engine = p->engines[i];
        network_handle_events(net);
        if (sim->engine.hint)
            network_set_hints(net, true);
    }
}

static void note_cut(const struct sim *sim, const struct cut_result *cut, char why[SIM_WHY])
{
    char now[UNIT_TEXT], longer[UNIT_TEXT];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (cut->parts < sim->threads && cut->parts < 2)
        snprintf(why, SIM_WHY, "no link with a delay divides the network");
    else if (cut->parts < sim->threads)
        snprintf(why, SIM_WHY, "links with a delay divide the network into %u parts", cut->parts);
    else if (cut->longer > 0)
        snprintf(
            why, SIM_WHY,
            "%u parts are joined by links that take %s, so threads meet that often; with %u it "
            "would be every %s",
            cut->parts, human_time(cut->lookahead_ps, now), cut->longer,
            human_time(cut->longer_ps, longer));
    else if (cpus > 0 && sim->threads > (uint32_t)cpus)
        snprintf(why, SIM_WHY, "the machine has %ld processors: threads wait for each other", cpus);
}

void sim_divide(struct sim *sim, char why[SIM_WHY])
{
    const char *text = obstacle(sim);
    why[0] = '\0';
    if (text) {
        snprintf(why, SIM_WHY, "%s", text);
        return;
    }
    uint32_t n_nodes = sim->graph.n_nodes;
    uint16_t *part_of = memory_zeroed(n_nodes + 1, sizeof *part_of);
    struct cut_result cut = sim_cut(sim, sim->threads, part_of);
    uint32_t n = cut.parts;
    note_cut(sim, &cut, why);
    if (n < 2) {
        free(part_of);
        return;
    }
    part_of[n_nodes] = (uint16_t)n;
    sim_faults_prepare(sim);
    sim->parts = memory_zeroed(1, sizeof *sim->parts);
    struct network_parts *nets = network_divide(&sim->net, n, part_of);
    struct partition_hooks hooks = {.send = send, .receive = receive, .alone = alone, .ctx = sim};
    nets->partition = sim->parts->partition =
        partition_new(&sim->engine, n, part_of, n_nodes, cut.lookahead_ps, &hooks);
    sim->parts->partition->trial.never = sim->always_together;
    set_handlers(sim);
    sim_divide_captures(sim);
    sim->parts->frames_per_window = frames_per_window(sim, cut.lookahead_ps);
    sim->parts->switches = switches_divide(&sim->switches);
    sim->parts->hosts = hosts_divide(&sim->hosts);
}

void sim_unite(struct sim *sim)
{
    if (!sim->parts)
        return;
    hosts_unite(&sim->hosts, sim->parts->hosts);
    switches_unite(&sim->switches, sim->parts->switches);
    network_unite(&sim->net);
    partition_rest(sim->parts->partition);
    sim->cpu_s += sim->parts->partition->counts.cpu_s;
}

struct threads_result sim_threads_result(const struct sim *sim)
{
    struct threads_result r = {.used = 1, .note = sim->why[0] != '\0' ? sim->why : NULL};
    if (!sim->parts)
        return r;
    const struct partition *p = sim->parts->partition;
    const struct partition_counts *c = &p->counts;
    if (2 * c->chosen > c->windows)
        r.note = "for most windows one thread was faster than several";
    double together_s = c->together_s * p->n;
    r.used = p->n;
    r.windows = c->windows;
    r.lookahead_ps = p->lookahead_ps;
    r.events_per_window = c->windows > 0 ? (double)c->events / (double)c->windows : 0;
    r.parallel = c->windows > 0 ? (double)(c->windows - c->alone) / (double)c->windows : 0;
    r.waiting = together_s > 0 ? c->wait_s / together_s : 0;
    r.imbalance =
        c->together_events > 0 ? (double)c->largest_sum * p->n / (double)c->together_events : 1;
    for (uint32_t i = 0; i < p->n * p->n; i++)
        r.crossings += p->boxes[i].letters;
    return r;
}

void sim_parts_free(struct sim *sim)
{
    if (!sim->parts)
        return;
    uint32_t n = sim->parts->partition->n;
    hosts_parts_free(sim->parts->hosts, n);
    free(sim->parts->switches);
    partition_free(sim->parts->partition);
    free(sim->parts);
}

// SPDX-License-Identifier: MIT
// Divides a simulation among threads, and puts its results together.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/base/memory.h"
#include "net/crossing.h"
#include "net/passage.h"
#include "sim/parallel/parallel_internal.h"

// Returns the reason why several processes cannot simulate a network, or NULL.
static const char *obstacle_of_processes(const struct parallel *parallel)
{
    const struct workload *w = parallel->workload;
    if (w->reads_ahead && parallel->fabric->graph.n_nodes == w->n_ranks)
        return "programs read on where all ranks wait, and there is no switch";
    if (parallel->fabric->hosts.stack)
        return "messages cost time of the cores of hosts (`host`)";
    return NULL;
}

// Returns the reason why a simulation has to stay on one thread, or NULL.
static const char *obstacle(const struct parallel *parallel)
{
    const struct fabric *fabric = parallel->fabric;
    if (fabric_is_analytical(fabric))
        return "a network in closed form has no packets to share out";
    // sim_set_plain() sets the shift to 0.
    if (fabric->engine.queue.shift == 0)
        return "the reference engine has one thread";
    // Threads open flows at the same time, so the arrays of flows must never move. Their address
    // space is therefore reserved for the largest number of flows, unless the process may not have
    // so much.
    if (fabric->hosts.flows.cap < HOSTS_FLOWS_MAX)
        return "address space is limited (ulimit -v)";
    if (fabric->threads_obstacle)
        return fabric->threads_obstacle;
    if (parallel->workload->takes_order)
        return "collectives are run by MPI or planned by when they are issued, or ranks share "
               "resources";
    return parallel->processes ? obstacle_of_processes(parallel) : NULL;
}

void parallel_init(struct parallel *parallel, struct delivery *delivery, struct workload *workload)
{
    parallel->fabric = delivery->fabric;
    parallel->delivery = delivery;
    parallel->workload = workload;
}

/* ---- hooks of the shards ---- */

static struct network *net_of(void *ctx, uint32_t shard)
{
    return &((const struct parallel *)ctx)->fabric->net.shards->nets[shard];
}

static void enter(void *ctx, uint32_t tile)
{
    const struct parallel *parallel = ctx;
    crossing_enter(net_of(ctx, parallel->fabric->shards->tiles[tile].shard), tile);
}

// The instant until_ps itself belongs to the next window.
static ps_t send(void *ctx, uint32_t shard, ps_t until_ps)
{
    return crossing_depart(net_of(ctx, shard), until_ps - 1);
}

static void receive(void *ctx, uint32_t shard) { crossing_receive(net_of(ctx, shard)); }

static enum shards_order order(void *ctx, ps_t until_ps) { return quiet_order(ctx, until_ps); }

static void close_letters(void *ctx, uint32_t shard) { passage_close(net_of(ctx, shard)); }

static void arrive(void *ctx, uint32_t shard, const struct mailbox *letters)
{
    crossing_arrive(((const struct parallel *)ctx)->fabric->net.shards, shard, letters);
}

static void call(void *ctx, unsigned kind, const void *args)
{
    replica_call(((const struct parallel *)ctx)->delivery, kind, args);
}

/* ---- division ---- */

// Returns the most frames that all ports together can send in a window.
static uint64_t frames_per_window(const struct fabric *fabric, ps_t window_ps)
{
    uint64_t n = 0;
    for (uint32_t p = 0; p < fabric->net.n_ports; p++) {
        const struct byte_time *bt = &port_link(&fabric->net, p)->byte_time;
        ps_t frame_ps = byte_time_span(bt, NET_PFC_FRAME_BYTES / 8);
        n += (uint64_t)(window_ps / (frame_ps > 0 ? frame_ps : 1)) + 2;
    }
    return n;
}

// Each shard's engine calls the handlers with the shard's network.
static void set_handlers(struct fabric *fabric)
{
    const struct shards *p = fabric->shards;
    for (uint32_t i = 0; i < p->n; i++) { // shards that stand for other processes have nets too
        struct network *net = &fabric->net.shards->nets[i];
        net->engine = p->engines[i];
        network_handle_events(net);
        if (fabric->engine.hint)
            network_set_hints(net, true);
    }
    shards_look_ahead(fabric->shards);
}

void parallel_note_cut(struct parallel *parallel, uint32_t wanted, const struct cut_result *cut)
{
    char now[UNIT_TEXT], longer[UNIT_TEXT], *why = parallel->why;
    size_t room = sizeof parallel->why;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (cut->shards < wanted && cut->shards < 2)
        snprintf(why, room, "no link with a delay divides the network");
    else if (cut->shards < wanted)
        snprintf(why, room, "links with a delay divide the network into %u parts", cut->shards);
    else if (cut->longer > 0)
        snprintf(
            why, room,
            "%u parts are joined by links that take %s, so threads meet that often; with %u it "
            "would be every %s",
            cut->shards, human_time(cut->lookahead_ps, now), cut->longer,
            human_time(cut->longer_ps, longer));
    else if (cpus > 0 && parallel->threads > (uint32_t)cpus)
        snprintf(why, room, "the machine has %ld processors: threads wait for each other", cpus);
}

static void divide(struct parallel *parallel, const struct shards_cut *cut)
{
    struct fabric *fabric = parallel->fabric;
    uint32_t n_nodes = fabric->graph.n_nodes;
    fabric_faults_prepare(fabric);
    struct network_shards *nets = network_shard(&fabric->net, cut);
    struct shards_hooks hooks = {.enter = enter,
                                 .send = send,
                                 .receive = receive,
                                 .order = order,
                                 .close = close_letters,
                                 .arrive = arrive,
                                 .call = call,
                                 .facts = quiet_facts,
                                 .ctx = parallel};
    nets->all = fabric->shards = shards_new(&fabric->engine, cut, n_nodes, &hooks);
    fabric->shards->trial.never = fabric->shards->in_order.never = parallel->always_together;
    fabric->shards->limit_events = fabric->spec->limits.events;
    if (cut->processes)
        replica_attach(parallel->delivery, cut->processes->n);
    set_handlers(fabric);
    parallel->frames_per_window = frames_per_window(fabric, cut->lookahead_ps);
    fabric->shard_switches = switches_shard(&fabric->switches);
    if (fabric->shards->n > 1 && !cut->processes && delivery_shard(parallel->delivery, cut->shards))
        workload_share(parallel->workload, cut->shards);
    fabric->shard_hosts = hosts_shard(&fabric->hosts);
    parallel->delivery->watch =
        (struct delivery_watch){.posted = quiet_posted, .failed = quiet_failed, .ctx = parallel};
}

// Find how the simulation is to be divided. Returns false if it is not; parallel->why then states
// the reason, if it was to be.
static bool find_cut(struct parallel *parallel, struct shards_cut *cut)
{
    const char *text = obstacle(parallel);
    bool notes = parallel->threads > 1 || parallel->processes;
    if (!notes && parallel->tiles == 1)
        return false; // a reason that was given (sim_explain_threads) stays
    snprintf(parallel->why, sizeof parallel->why, "%s", text && notes ? text : "");
    if (text)
        return false;
    parallel->fabric->server_ranks = parallel->workload->server_ranks;
    *cut = parallel_tiles(parallel);
    if (parallel->processes ? cut->processes != NULL : cut->tiles > 1)
        return true;
    free(cut->shard_of);
    free(cut->tile_of);
    return false;
}

int parallel_check(struct parallel *parallel)
{
    struct shards_cut cut;
    if (!find_cut(parallel, &cut))
        return -1;
    free(cut.shard_of);
    free(cut.tile_of);
    return 0;
}

bool parallel_shard(struct parallel *parallel)
{
    struct shards_cut cut;
    if (!find_cut(parallel, &cut))
        return false;
    divide(parallel, &cut);
    return true;
}

double parallel_unite(struct parallel *parallel)
{
    struct fabric *fabric = parallel->fabric;
    if (!fabric->shards)
        return 0;
    hosts_unite(&fabric->hosts, fabric->shard_hosts);
    switches_unite(&fabric->switches, fabric->shard_switches);
    network_unite(&fabric->net);
    shards_rest(fabric->shards);
    return fabric->shards->counts.cpu_s;
}

struct threads_result parallel_result(const struct parallel *parallel)
{
    struct threads_result r = {.processes = 1,
                               .used = 1,
                               .tiles = 1,
                               .note = parallel->why[0] != '\0' ? parallel->why : NULL};
    if (!parallel->fabric->shards)
        return r;
    const struct shards *p = parallel->fabric->shards;
    const struct shards_counts *c = &p->counts;
    if (2 * c->chosen > c->windows)
        r.note = p->n_own > 1 ? "for most windows one thread was faster than several"
                              : "for most windows the whole network was faster than tiles";
    // wait_s is a sum over threads, so the wall time of the windows counts once for each of them.
    double together_s = c->together_s * p->n_own;
    r.processes = p->processes ? p->processes->n : 1;
    r.used = p->n_own;
    r.tiles = p->n_tiles;
    r.windows = c->windows;
    r.lookahead_ps = p->lookahead_ps;
    r.events_per_window = c->windows > 0 ? (double)c->events / (double)c->windows : 0;
    r.parallel = c->windows > 0 ? (double)(c->windows - c->alone) / (double)c->windows : 0;
    r.waiting = together_s > 0 ? c->wait_s / together_s : 0;
    // 1 = all shards have as many events; their number = one shard has all events.
    r.imbalance =
        c->together_events > 0 ? (double)c->largest_sum * p->n_own / (double)c->together_events : 1;
    for (uint32_t i = 0; i < p->n * p->n; i++)
        r.crossings += p->boxes[i].letters;
    return r;
}

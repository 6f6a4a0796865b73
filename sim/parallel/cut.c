// SPDX-License-Identifier: MIT
// The cut of a network into shards that have about the same number of events, at links with long
// delays.
//
// Nodes joined by links with a delay below a threshold stay together, as do ranks of a server or
// a host whose state they share, ranks that share a NIC, aggregators and their switches, and a
// rank and its only switch. The threshold is the longest delay at which enough groups of such
// nodes are left. The groups with ranks are divided in the order of ranks, into runs of equal
// weight; each other group (spines, cores) goes to the shard with most of its bandwidth, and
// among equal shards to the shard with the least weight. The weight of a node is the sum of its
// links' rates.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/parallel/parallel.h"

struct cut {
    const struct fabric *fabric;
    uint32_t *group;      // [node] parent in a union-find tree; the root is the lowest node
    double *weight;       // [node that names a group]
    bool *has_ranks;      // [same]
    double *pull, *loads; // [part]
    double total;
    uint32_t frame_bytes; // lower bound of a frame's length
};

static uint32_t group_of(struct cut *c, uint32_t node)
{
    // Path compression keeps the trees flat.
    while (c->group[node] != node)
        node = c->group[node] = c->group[c->group[node]];
    return node;
}

static void join(struct cut *c, uint32_t a, uint32_t b)
{
    a = group_of(c, a);
    b = group_of(c, b);
    // The lowest node names the group, so that the result does not depend on the order of joins.
    c->group[a > b ? a : b] = a > b ? b : a;
}

// Half of the smallest ACK, data packet or pause: other kinds of packets are not smaller.
static uint32_t least_frame_bytes(const struct fabric *fabric)
{
    uint32_t least = fabric->net.pfc_wire_bytes;
    for (uint32_t d = 0; d < fabric->hosts.n_dims; d++) {
        const struct transport_dim *t = &fabric->hosts.dims[d];
        uint32_t data = t->ops->data_sizes(&t->spec, 1, false).wire;
        least = t->ack.wire < least ? t->ack.wire : least;
        least = data < least ? data : least;
    }
    // A bound that is too low costs time; one that is too high would break the order of events.
    return least / 2;
}

// The least time from the start of a transmission to its arrival. Credit that returns on a link
// takes its delay only.
static ps_t least_ps(const struct cut *c, uint32_t port)
{
    const struct network *net = &c->fabric->net;
    const struct link *link = port_link(net, port);
    bool returns_credit = net->credits && net->credits[net->cold[port].peer].classes != 0;
    return returns_credit ? link->delay_ps : link_flight_ps(link, c->frame_bytes);
}

static double rate_of(const struct fabric *fabric, uint32_t port)
{
    return (double)fabric->graph.ports[port].rate_bps;
}

static void weigh(struct cut *c)
{
    const struct graph *g = &c->fabric->graph;
    memset(c->weight, 0, g->n_nodes * sizeof *c->weight);
    memset(c->has_ranks, 0, g->n_nodes * sizeof *c->has_ranks);
    c->total = 0;
    for (uint32_t p = 0; p < g->n_ports; p++) {
        c->weight[group_of(c, g->ports[p].node)] += rate_of(c->fabric, p);
        c->total += rate_of(c->fabric, p);
    }
    for (uint32_t r = 0; r < g->n_ranks; r++)
        c->has_ranks[group_of(c, r)] = true;
}

// Join runs of `n` ranks, those of a server or a host; 0 = none.
static void join_runs(struct cut *c, uint32_t n)
{
    for (uint32_t r = 0; n > 1 && r < c->fabric->graph.n_ranks; r++)
        join(c, r, r - r % n);
}

// Join the nodes that no cut may separate; a cut link needs a delay of at least `threshold_ps`.
static void group_nodes(struct cut *c, ps_t threshold_ps)
{
    const struct graph *g = &c->fabric->graph;
    for (uint32_t node = 0; node < g->n_nodes; node++)
        c->group[node] = node;
    for (uint32_t p = 0; p < g->n_ports; p++)
        // A link without delay cannot be cut, whatever the threshold: events would have to cross at
        // once.
        if (g->ports[p].delay_ps == 0 || least_ps(c, p) < threshold_ps)
            join(c, g->ports[p].node, g->ports[g->ports[p].peer].node);
    for (uint32_t a = g->n_ranks; a < g->n_ends; a++)
        join(c, a, graph_switch_of(g, a));
    join_runs(c, c->fabric->server_ranks);
    join_runs(c, (uint32_t)c->fabric->spec->host.ranks);
    for (uint32_t d = 0; d < g->n_dims; d++)
        for (uint32_t r = 0; r < g->n_ranks; r++)
            join(c, r, graph_owner(g, r, d));
    weigh(c);
}

// Join each group of ranks with the one group that it is linked to, unless that would be too large.
static void join_leaves(struct cut *c, double most)
{
    const struct graph *g = &c->fabric->graph;
    uint32_t *only = memory_zeroed(g->n_nodes, sizeof *only); // 1 + group; 0 = none, MAX = several
    for (uint32_t p = 0; p < g->n_ports; p++) {
        uint32_t here = group_of(c, g->ports[p].node);
        uint32_t there = group_of(c, g->ports[g->ports[p].peer].node);
        if (here == there || !c->has_ranks[here])
            // Groups without ranks are assigned later, by bandwidth.
            continue;
        only[here] = only[here] == 0 || only[here] == there + 1 ? there + 1 : UINT32_MAX;
    }
    for (uint32_t node = 0; node < g->n_nodes; node++) {
        if (only[node] == 0 || only[node] == UINT32_MAX || c->group[node] != node)
            continue;
        uint32_t there = group_of(c, only[node] - 1);
        // A group that is too large would leave the shards unequal.
        double sum = c->weight[node] + c->weight[there];
        if (there == node || sum > most)
            continue;
        join(c, node, there);
        c->weight[group_of(c, node)] = sum;
    }
    free(only);
    weigh(c);
}

// Weight of all groups that have ranks, and of the heaviest group.
static double ranks_weight(const struct cut *c, double *heaviest)
{
    double sum = 0;
    *heaviest = 0;
    for (uint32_t node = 0; node < c->fabric->graph.n_nodes; node++) {
        if (c->group[node] != node)
            continue;
        sum += c->has_ranks[node] ? c->weight[node] : 0;
        *heaviest = c->weight[node] > *heaviest ? c->weight[node] : *heaviest;
    }
    return sum;
}

#define NO_SHARD UINT16_MAX

// Divide the groups with ranks, in the order of their lowest nodes, into runs of equal weight.
static uint32_t assign_ranks(struct cut *c, uint32_t n, double sum, uint16_t *shard_of,
                             double *loads)
{
    double before = 0;
    uint32_t used = 0;
    for (uint32_t node = 0; node < c->fabric->graph.n_nodes; node++) {
        shard_of[node] = NO_SHARD;
        if (c->group[node] != node || !c->has_ranks[node])
            continue;
        // The middle of a group decides, so that a heavy group goes to the part that gets most of
        // it.
        uint32_t shard = (uint32_t)((before + c->weight[node] / 2) / sum * n);
        shard = shard < n ? shard : n - 1;
        shard = shard <= used ? shard
                              : used; // at most one above the last, so that no number is left out
        used = shard + 1 > used ? shard + 1 : used;
        shard_of[node] = (uint16_t)shard;
        loads[shard] += c->weight[node];
        before += c->weight[node];
    }
    return used;
}

// Bandwidth from a group to each shard; returns true if there is any.
static bool pulls_of(struct cut *c, uint32_t group, const uint32_t *ports, size_t n_ports,
                     uint32_t n, const uint16_t *shard_of, double *pull)
{
    const struct graph *g = &c->fabric->graph;
    bool any = false;
    memset(pull, 0, n * sizeof *pull);
    for (size_t i = 0; i < n_ports; i++) {
        uint32_t there = group_of(c, g->ports[g->ports[ports[i]].peer].node);
        if (there == group || shard_of[there] == NO_SHARD)
            continue;
        pull[shard_of[there]] += rate_of(c->fabric, ports[i]);
        any = true;
    }
    return any;
}

// Returns the shard with most bandwidth to a group (pull[shard]) among shards whose load is below
// `most`. Of shards with equal bandwidth it is the one with the least load.
static uint32_t best_shard(const double *pull, const double *loads, uint32_t n, double most)
{
    uint32_t best = 0;
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
        bool fits = loads[i] < most;
        // Rates are sums of floating-point numbers, so equal ones may differ by rounding.
        bool more = pull[i] > pull[best] * 1.001;
        bool same = pull[i] > pull[best] * 0.999 && loads[i] < loads[best];
        if (fits && (!found || more || same)) {
            best = i;
            found = true;
        }
    }
    return best;
}

// Assign the groups without ranks, those next to assigned ones first.
static void assign_switches(struct cut *c, uint32_t n, uint16_t *shard_of, double *loads)
{
    const struct graph *g = &c->fabric->graph;
    uint32_t *order = memory_zeroed(g->n_ports + 1, sizeof *order); // ports by group
    uint32_t *first = memory_zeroed(g->n_nodes + 2, sizeof *first);
    double *pull = c->pull;
    // Counting sort of the ports by group.
    for (uint32_t p = 0; p < g->n_ports; p++)
        first[group_of(c, g->ports[p].node) + 2]++;
    for (uint32_t node = 0; node < g->n_nodes; node++)
        first[node + 2] += first[node + 1];
    for (uint32_t p = 0; p < g->n_ports; p++)
        order[first[group_of(c, g->ports[p].node) + 1]++] = p;
    // Switches far from ranks have neighbours with a shard only after a few rounds.
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t node = 0; node < g->n_nodes; node++) {
            if (c->group[node] != node || shard_of[node] != NO_SHARD ||
                !pulls_of(c, node, order + first[node], first[node + 1] - first[node], n, shard_of,
                          pull))
                continue;
            // A shard may exceed its share by 5 %, so that a switch stays beside the switches that
            // it is linked to.
            uint32_t shard = best_shard(pull, loads, n, 1.05 * c->total / n);
            shard_of[node] = (uint16_t)shard;
            loads[shard] += c->weight[node];
            changed = true;
        }
    }
    for (uint32_t node = 0; node < g->n_nodes; node++)
        if (c->group[node] == node && shard_of[node] == NO_SHARD)
            shard_of[node] = 0; // it has no link
    free(order);
    free(first);
}

static int descending(const void *a, const void *b)
{
    ps_t x = *(const ps_t *)a, y = *(const ps_t *)b;
    return (x < y) - (x > y);
}

// The delays of links, from the longest to the shortest, each once. Returns their number.
static uint32_t thresholds(const struct cut *c, ps_t **list)
{
    const struct fabric *fabric = c->fabric;
    uint32_t n = 0, all = fabric->graph.n_ports;
    *list = memory_zeroed(all + 1, sizeof **list);
    for (uint32_t p = 0; p < all; p++)
        (*list)[p] = fabric->graph.ports[p].delay_ps > 0 ? least_ps(c, p) : 0;
    qsort(*list, all, sizeof **list, descending);
    // A delay of 0 is left out, since no cut is possible there.
    for (uint32_t i = 0; i < all; i++)
        if ((*list)[i] > 0 && (n == 0 || (*list)[i] != (*list)[n - 1]))
            (*list)[n++] = (*list)[i];
    return n;
}

static uint32_t try_cut(struct cut *c, uint32_t n, ps_t threshold_ps, bool last, uint16_t *shard_of)
{
    double heaviest, sum, *loads = c->loads;
    memset(loads, 0, n * sizeof *loads);
    group_nodes(c, threshold_ps);
    ranks_weight(c, &heaviest);
    // A group far heavier than its share would leave one thread with most of the work. A lower
    // threshold separates it further; the last threshold has to be taken as it is.
    if (!last && heaviest > 1.25 * c->total / n)
        return 1;
    join_leaves(c, 0.5 * c->total / n);
    sum = ranks_weight(c, &heaviest);
    uint32_t used = assign_ranks(c, n, sum, shard_of, loads);
    assign_switches(c, used, shard_of, loads);
    for (uint32_t node = 0; node < c->fabric->graph.n_nodes; node++)
        shard_of[node] = shard_of[group_of(c, node)];
    return used;
}

static ps_t lookahead(const struct cut *c, const uint16_t *shard_of)
{
    const struct graph *g = &c->fabric->graph;
    ps_t least = PS_NEVER;
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (shard_of[g->ports[p].node] != shard_of[g->ports[g->ports[p].peer].node] &&
            least_ps(c, p) < least)
            least = least_ps(c, p);
    return least;
}

struct cut_result parallel_cut(const struct fabric *fabric, uint32_t n, uint32_t enough,
                               uint16_t *shard_of)
{
    uint32_t n_nodes = fabric->graph.n_nodes;
    struct cut_result r = {.shards = 1, .lookahead_ps = PS_NEVER};
    struct cut c = {.fabric = fabric, .frame_bytes = least_frame_bytes(fabric)};
    c.group = memory_zeroed(n_nodes, sizeof *c.group);
    c.weight = memory_zeroed(n_nodes, sizeof *c.weight);
    c.has_ranks = memory_zeroed(n_nodes, sizeof *c.has_ranks);
    ps_t *list;
    uint32_t n_thresholds = thresholds(&c, &list);
    n = n < PARTS_MAX ? n : PARTS_MAX;
    enough = enough < n ? enough : n;
    c.pull = memory_zeroed(n, sizeof *c.pull);
    c.loads = memory_zeroed(n, sizeof *c.loads);
    for (uint32_t i = 0; i < n_thresholds && r.shards < enough; i++) {
        if (r.shards > 1 && r.longer == 0) {
            r.longer = r.shards;
            r.longer_ps = list[i - 1];
        }
        bool last = i + 1 == n_thresholds || enough < n;
        r.shards = try_cut(&c, n, list[i], last, shard_of);
    }
    if (r.shards > 1)
        r.lookahead_ps = lookahead(&c, shard_of);
    free(list);
    free(c.group);
    free(c.weight);
    free(c.has_ranks);
    free(c.pull);
    free(c.loads);
    return r;
}

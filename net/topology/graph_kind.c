// SPDX-License-Identifier: MIT
// An arbitrary graph of ranks and switches that joins all ranks; docs/topologies.md has the file
// format.
#include "net/topology/graph_kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/topology/kinds.h"

#define MAX_RANK_PORTS 2048
#define MAX_LINK_TYPES                                                                             \
    30000 // different pairs of rate and delay; faults and clocks add kinds of links
#define ERRORS_MAX 20

static const struct param params[] = {
    PARAM_ROW("file", TEXT, offsetof(struct graph_params, file),
              .help =
                  "file of switches and links, relative to the scenario: JSON, or of htsim, HPCC's "
                  "ns-3 or SimAI"),
    PARAM_ROW("transit", BOOL, offsetof(struct graph_params, transit), .def = "false",
              .help = "ranks forward for others"),
};
_Static_assert(sizeof(struct graph_params) <= TOPOLOGY_PARAMS_BYTES, "params fit");

// ---- checks ----

struct inspection {
    const struct graph_params *p;
    uint32_t ranks;
    const char *path;
    struct err *err;
    size_t errors;   // number of errors before the checks
    uint32_t *parts; // [switches, then ranks] union-find of the nodes that forward and are
                     // connected
};

// Nodes are numbered with the switches first.
static uint32_t node_of(const struct inspection *i, struct graph_end end)
{
    return end.is_switch ? end.index : (uint32_t)i->p->switches + end.index;
}

static bool forwards(const struct inspection *i, struct graph_end end)
{
    return end.is_switch || i->p->transit;
}

static uint32_t part_of(const struct inspection *i, uint32_t node)
{
    while (i->parts[node] != node)
        node = i->parts[node] = i->parts[i->parts[node]];
    return node;
}

static void check_links(const struct inspection *i)
{
    const struct graph_params *p = i->p;
    for (size_t l = 0; l < p->n_links && i->err->n_errors < i->errors + ERRORS_MAX; l++) {
        const struct graph_end *ends = p->links[l].ends;
        for (int e = 0; e < 2; e++) {
            uint32_t n = ends[e].is_switch ? (uint32_t)p->switches : i->ranks;
            if (ends[e].index >= n)
                err_add(i->err, i->path, "%s: links[%zu].%c: there is no %s%u, only %u %s", p->file,
                        l, "ab"[e], ends[e].is_switch ? "sw" : "rank", ends[e].index, n,
                        ends[e].is_switch ? "switches" : "ranks");
        }
        if (ends[0].is_switch == ends[1].is_switch && ends[0].index == ends[1].index)
            err_add(i->err, i->path, "%s: links[%zu]: both ends are the same node", p->file, l);
    }
}

static void check_ports(const struct inspection *i)
{
    const struct graph_params *p = i->p;
    uint32_t *ports = memory_zeroed(i->ranks + p->switches, sizeof *ports);
    for (size_t l = 0; l < p->n_links; l++)
        for (int e = 0; e < 2; e++)
            ports[node_of(i, p->links[l].ends[e])]++;
    for (uint32_t n = 0; n < i->ranks + p->switches; n++) {
        bool is_switch = n < p->switches;
        uint32_t max = is_switch ? SWITCH_MAX_PORTS : MAX_RANK_PORTS;
        if (i->err->n_errors >= i->errors + ERRORS_MAX)
            break;
        if (is_switch && ports[n] == 0)
            err_add(i->err, i->path, "%s: sw%u has no link", p->file, n);
        if (ports[n] > max)
            err_add(i->err, i->path, "%s: %s%u has %u ports; the maximum is %u", p->file,
                    is_switch ? "sw" : "rank", is_switch ? n : n - (uint32_t)p->switches, ports[n],
                    max);
    }
    free(ports);
}

struct link_type {
    uint64_t rate_bps;
    ps_t delay_ps;
};

static int by_type(const void *a, const void *b)
{
    const struct link_type *x = a, *y = b;
    if (x->rate_bps != y->rate_bps)
        return x->rate_bps < y->rate_bps ? -1 : 1;
    return (x->delay_ps > y->delay_ps) - (x->delay_ps < y->delay_ps);
}

static void check_types(const struct inspection *i)
{
    const struct graph_params *p = i->p;
    struct link_type *types = memory_zeroed(2 * p->n_links, sizeof *types);
    size_t n = 0;
    for (size_t l = 0; l < p->n_links; l++) {
        const struct link_spec *link = &p->links[l].link;
        struct link_type forward = {link->rate_bps, link_delay_ps(link)};
        struct link_type reverse = {link->reverse_rate_bps, link_back_delay_ps(link)};
        types[2 * l] = forward;
        types[2 * l + 1] = link->reverse_rate_bps > 0 ? reverse : forward;
    }
    qsort(types, 2 * p->n_links, sizeof *types, by_type);
    for (size_t t = 0; t < 2 * p->n_links; t++)
        n += t == 0 || by_type(&types[t - 1], &types[t]) != 0;
    free(types);
    if (n > MAX_LINK_TYPES)
        err_add(i->err, i->path, "%s: %zu different pairs of rate and delay; the maximum is %d",
                p->file, n, MAX_LINK_TYPES);
}

// Unite the sets of two nodes that both forward and have a link.
static void unite_linked(const struct inspection *i)
{
    const struct graph_params *p = i->p;
    for (size_t l = 0; l < p->n_links; l++) {
        const struct graph_end *ends = p->links[l].ends;
        if (forwards(i, ends[0]) && forwards(i, ends[1]))
            i->parts[part_of(i, node_of(i, ends[0]))] = part_of(i, node_of(i, ends[1]));
    }
}

// Returns which ranks are attached to the set `home`: they are members, or have a link to one.
static bool *attached_to(const struct inspection *i, uint32_t home)
{
    const struct graph_params *p = i->p;
    bool *attached = memory_zeroed(i->ranks, sizeof *attached);
    for (size_t l = 0; l < p->n_links; l++)
        for (int e = 0; e < 2; e++) {
            struct graph_end here = p->links[l].ends[e], there = p->links[l].ends[!e];
            if (!here.is_switch && forwards(i, there) && part_of(i, node_of(i, there)) == home)
                attached[here.index] = true;
        }
    return attached;
}

// Add an error for each rank that is not attached. Returns true if there is none.
static bool all_attached(const struct inspection *i, const bool *attached, bool report)
{
    bool all = true;
    for (uint32_t r = 0; r < i->ranks; r++) {
        all &= attached[r];
        if (!attached[r] && report && i->err->n_errors < i->errors + ERRORS_MAX)
            err_add(i->err, i->path, "%s: no path over %s leads to rank%u", i->p->file,
                    i->p->transit ? "switches and ranks"
                                  : "switches (ranks forward with `transit`)",
                    r);
    }
    return all;
}

// Check that all ranks are attached to one set of forwarding nodes, so that every two ranks have a
// path. The set is one that rank 0 has a link to: it may have others, such as the NVSwitches of its
// server. Without any such set the errors are those of rank 0's first link.
static void check_connected(const struct inspection *i)
{
    const struct graph_params *p = i->p;
    uint32_t first = UINT32_MAX, before = UINT32_MAX;
    bool all = i->ranks == 1;
    for (uint32_t n = 0; n < i->ranks + p->switches; n++)
        i->parts[n] = n;
    unite_linked(i);
    for (size_t l = 0; l < p->n_links && !all; l++)
        for (int e = 0; e < 2 && !all; e++) {
            struct graph_end here = p->links[l].ends[e], there = p->links[l].ends[!e];
            uint32_t home = part_of(i, node_of(i, there));
            if (here.is_switch || here.index != 0 || !forwards(i, there) || home == before)
                continue;
            first = first == UINT32_MAX ? home : first;
            before = home;
            bool *attached = attached_to(i, home);
            all = all_attached(i, attached, false);
            free(attached);
        }
    if (all)
        return;
    bool *attached = attached_to(i, first);
    all_attached(i, attached, true);
    free(attached);
}

static void check(const void *params_of, uint32_t size, uint32_t ranks, const char *path,
                  struct err *err)
{
    (void)size;
    const struct graph_params *p = params_of;
    char file_path[256];
    snprintf(file_path, sizeof file_path, "%s.file", path);
    struct inspection i = {
        .p = p, .ranks = ranks, .path = file_path, .err = err, .errors = err->n_errors};
    if (p->hosts > 0 && p->hosts != ranks) {
        err_add(err, file_path,
                "%s has %" PRIu64 " hosts, and the sizes of all dimensions multiply to %u ranks: "
                "give \"size\": %" PRIu64,
                p->file, p->hosts, ranks, p->hosts);
        return;
    }
    check_links(&i);
    if (err->n_errors > i.errors)
        return;
    i.parts = memory_zeroed(ranks + p->switches, sizeof *i.parts);
    check_ports(&i);
    check_types(&i);
    check_connected(&i);
    free(i.parts);
}

// ---- building ----

static void build(struct graph *g, uint32_t dim, const void *params_of,
                  const struct link_spec *links)
{
    (void)links; // the reader has filled in the defaults of links
    const struct graph_params *p = params_of;
    uint32_t first = g->n_nodes;
    g->dim_direct[dim] = p->transit;
    for (uint32_t s = 0; s < p->switches; s++)
        graph_add_switch(g, NODE_SWITCH, dim, s, 0);
    for (size_t l = 0; l < p->n_links; l++) {
        const struct graph_link *link = &p->links[l];
        uint32_t ends[2];
        for (int e = 0; e < 2; e++)
            ends[e] = (link->ends[e].is_switch ? first : 0) + link->ends[e].index;
        graph_add_link(g, ends[0], ends[1], dim, &link->link);
    }
}

const struct topology_kind topology_graph = {
    .direct = true,
    .name = "graph",
    .doc = "one fabric joining all ranks, given link by link in a file",
    .source = "docs/topologies.md",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .params_bytes = sizeof(struct graph_params),
    .fabric = true,
    .check = check,
    .build = build,
};

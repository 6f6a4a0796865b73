// SPDX-License-Identifier: MIT
// Fat trees of htsim, of two or three tiers. A host has one link to its switch of tier 0; a switch
// of tier 0 has `Bundle` (of tier 1) links to each switch of tier 1 of its pod, or to all of them
// where there are two tiers; switch i of tier 1 in its pod has `Bundle` (of tier 2) links to the
// switches i, i + n, i + 2n, .. of tier 2, n being the switches of tier 1 in a pod. A link of a
// tier leads downwards from it.
//
// The latency of a switch is part of its links, one half at each, so that every path has the
// latencies of its switches. Left out, with a warning: the sizes of queues. A file whose ports do
// not fit together is refused, and so is a word that htsim would skip.
// Source: Broadcom/csg-htsim, sim/datacenter/fat_tree_topology.cpp and topologies/.
#include "config/object/foreign_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/memory.h"
#include "engine/text/rank_ranges.h"

#define TIERS 3
#define UNSET UINT64_MAX // no port or rate is as large

struct tree {
    uint64_t nodes, tiers, pod, tier; // of the heading; the tier that is being read
};

struct tier {
    uint64_t rate_bps, up, down, bundle, oversubscribed, queue_up, queue_down;
    ps_t link_ps, switch_ps;
    uint64_t switches; // of the whole network
    bool given;
};

#define TREE(name) offsetof(struct tree, name)
static const struct param tree_rows[] = {
    PARAM_ROW("Nodes", COUNT, TREE(nodes), .min = "1", .max = "262144"),
    PARAM_ROW("Tiers", COUNT, TREE(tiers), .min = "2", .max = "3"),
    PARAM_ROW("Podsize", COUNT, TREE(pod), .min = "1", .max = "262144"),
    PARAM_ROW("Tier", COUNT, TREE(tier), .max = "2"),
};
enum { N_TREE_ROWS = sizeof tree_rows / sizeof *tree_rows };

#define TIER(name) offsetof(struct tier, name)
#define PORTS .min = "1", .max = "262144"
static const struct param tier_rows[] = {
    PARAM_ROW("Downlink_speed_Gbps", RATE, TIER(rate_bps), .min = "1Gbps", .max = "100Tbps"),
    PARAM_ROW("Radix_Up", COUNT, TIER(up), PORTS),
    PARAM_ROW("Radix_Down", COUNT, TIER(down), PORTS),
    PARAM_ROW("Bundle", COUNT, TIER(bundle), .def = "1", PORTS),
    PARAM_ROW("Oversubscribed", COUNT, TIER(oversubscribed), .def = "1", PORTS),
    PARAM_ROW("Queue_Up", COUNT, TIER(queue_up), .def = "0"),
    PARAM_ROW("Queue_Down", COUNT, TIER(queue_down), .def = "0"),
    PARAM_ROW("Downlink_Latency_ns", TIME, TIER(link_ps), .max = "1s"),
    PARAM_ROW("Switch_Latency_ns", TIME, TIER(switch_ps), .def = "0ns", .max = "1ms"),
};
enum { N_TIER_ROWS = sizeof tier_rows / sizeof *tier_rows };

bool htsim_graph_is(const char *text)
{
    static const char *const first[] = {"nodes ", "nodes\t", "tiers ", "podsize "};
    while (*text == '#' || *text == '\n' || *text == '\r' || *text == ' ' || *text == '\t')
        text += *text == '#' ? strcspn(text, "\n") : 1;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (strncasecmp(text, first[i], strlen(first[i])) == 0)
            return true;
    return false;
}

/* ---- the file ---- */

struct reading {
    struct text_file *file;
    struct tree tree;
    struct tier tiers[TIERS];
    struct tier *tier;        // that is being read; NULL = the heading
    uint64_t seen[TIERS + 1]; // rows of the heading, and of each tier, as bits
};

// Read a line "WORD VALUE". Returns -1 after an error.
static int read_line(struct reading *r, char *line)
{
    char *words[2];
    size_t n = words_cut(line, words, 2);
    if (words[0][0] == '#')
        return 0;
    bool of_tree = text_file_row(tree_rows, N_TREE_ROWS, words[0]).name != NULL;
    const struct param *rows = of_tree ? tree_rows : tier_rows;
    struct param row = text_file_row(rows, of_tree ? N_TREE_ROWS : N_TIER_ROWS, words[0]);
    if (row.name == NULL)
        return text_file_error(r->file, "\"%.40s\" is not a word of a fat tree of htsim", words[0]);
    if (n != 2)
        return text_file_error(r->file, "%s has %zu values, and needs one", row.name, n - 1);
    if (!of_tree && r->tier == NULL)
        return text_file_error(r->file, "%s is before \"Tier 0\"", row.name);
    size_t part = of_tree ? TIERS : (size_t)(r->tier - r->tiers), at = 0;
    while (strcmp(rows[at].name, row.name) != 0)
        at++;
    bool tier = of_tree && strcmp(row.name, "Tier") == 0;
    if (!tier && (r->seen[part] & UINT64_C(1) << at) != 0)
        return text_file_error(r->file, "%s is given twice", row.name);
    r->seen[part] |= UINT64_C(1) << at;
    const char *unit = row.type == PARAM_RATE ? "Gbps" : row.type == PARAM_TIME ? "ns" : "";
    if (text_file_value(r->file, &row, of_tree ? (void *)&r->tree : (void *)r->tier, words[1],
                        unit) != 0)
        return -1;
    if (!tier)
        return 0;
    r->tier = &r->tiers[r->tree.tier];
    if (r->tier->given)
        return text_file_error(r->file, "tier %" PRIu64 " is given twice", r->tree.tier);
    r->tier->given = true;
    return 0;
}

/* ---- whether it fits ---- */

static int misfit(const struct reading *r, unsigned tier, const char *what)
{
    return err_add(r->file->err, r->file->path, "%s, tier %u: %s", r->file->name, tier, what);
}

static int check_values(const struct reading *r)
{
    const struct tree *t = &r->tree;
    if (t->nodes == UNSET || t->tiers == UNSET || t->pod == UNSET)
        return err_add(r->file->err, r->file->path, "%s: %s is missing", r->file->name,
                       t->nodes == UNSET   ? "Nodes"
                       : t->tiers == UNSET ? "Tiers"
                                           : "Podsize");
    for (unsigned i = 0; i < TIERS; i++) {
        const struct tier *tier = &r->tiers[i];
        bool used = i < t->tiers, top = i + 1 == t->tiers;
        if (used != tier->given)
            return misfit(r, i, used ? "is missing" : "is above the tiers that the file announces");
        if (!used)
            continue;
        if (tier->rate_bps == UNSET || tier->down == UNSET || tier->link_ps < 0)
            return misfit(r, i, "needs Downlink_speed_Gbps, Radix_Down and Downlink_Latency_ns");
        if (top ? tier->up != UNSET && t->tiers == TIERS : tier->up == UNSET)
            return misfit(r, i, top ? "the highest tier has no Radix_Up" : "needs Radix_Up");
    }
    if (r->tiers[0].bundle != 1)
        return misfit(r, 0, "a host has one link: Bundle must be 1");
    return 0;
}

// Count the switches of each tier by their ports.
static int count_switches(struct reading *r)
{
    const struct tree *t = &r->tree;
    struct tier *tiers = r->tiers;
    uint64_t ports = t->nodes, pods = t->nodes / t->pod;
    if (t->nodes % t->pod != 0 || (t->tiers == 2 && pods != 1))
        return err_add(r->file->err, r->file->path,
                       "%s: Nodes must be a multiple of Podsize, and with two tiers equal to it",
                       r->file->name);
    for (unsigned i = 0; i < t->tiers; i++) {
        struct tier *tier = &tiers[i], *above = &tiers[i + 1 < TIERS ? i + 1 : i];
        // the highest tier belongs to no pod
        uint64_t parts = i + 1 == t->tiers ? 1 : pods;
        tier->switches = ports / tier->down;
        if (ports % tier->down != 0 || tier->switches == 0 || tier->switches % parts != 0)
            return misfit(r, i, "Radix_Down does not divide the links from below");
        if (i + 1 == t->tiers)
            break;
        ports = tier->switches * tier->up;
        if (tier->up % above->bundle != 0 || above->down % above->bundle != 0)
            return misfit(r, i + 1, "Bundle does not divide the ports of its links");
        if (tier->down * tier->rate_bps != tier->up * above->rate_bps * tier->oversubscribed)
            return misfit(r, i,
                          "Oversubscribed is not what ports and rates give: downlinks by "
                          "uplinks");
    }
    return 0;
}

// Every two switches of neighbouring tiers that are joined are so by one bundle.
static int check_wiring(const struct reading *r)
{
    const struct tree *t = &r->tree;
    const struct tier *low = &r->tiers[0], *mid = &r->tiers[1], *top = &r->tiers[2];
    uint64_t pods = t->nodes / t->pod;
    if (low->up != mid->switches / pods * mid->bundle)
        return misfit(r, 0, "Radix_Up is not a bundle to each switch of tier 1 of the pod");
    if (mid->down != low->switches / pods * mid->bundle)
        return misfit(r, 1, "Radix_Down is not a bundle to each switch of tier 0 of the pod");
    if (t->tiers < 3)
        return 0;
    if (mid->up / top->bundle * (mid->switches / pods) != top->switches)
        return misfit(r, 1, "Radix_Up does not reach the switches of tier 2, each once");
    if (top->down != pods * top->bundle)
        return misfit(r, 2, "Radix_Down is not a bundle to each pod");
    return 0;
}

/* ---- links ---- */

struct building {
    struct foreign_links links;
    const struct tier *tiers;
};

// Join a node below a tier with switch `to` of the tier, by the tier's bundle.
static void join(struct building *b, unsigned tier, uint64_t from, uint64_t to)
{
    uint64_t first[TIERS + 1] = {0};
    for (unsigned i = 0; i < TIERS; i++)
        first[i + 1] = first[i] + b->tiers[i].switches;
    struct graph_end low = {(uint32_t)from, false}, high = {(uint32_t)(first[tier] + to), true};
    ps_t switches_ps = b->tiers[tier].switch_ps;
    if (tier > 0) {
        low = (struct graph_end){(uint32_t)(first[tier - 1] + from), true};
        switches_ps += b->tiers[tier - 1].switch_ps;
    }
    for (uint64_t i = 0; i < b->tiers[tier].bundle; i++) {
        struct graph_link *link = foreign_link_add(&b->links, low, high);
        if (link == NULL)
            return;
        link->link.rate_bps = b->tiers[tier].rate_bps;
        link->link.delay_ps = b->tiers[tier].link_ps + switches_ps / 2;
    }
}

static void build(struct building *b, const struct tree *t)
{
    const struct tier *low = &b->tiers[0], *mid = &b->tiers[1];
    uint64_t pods = t->nodes / t->pod, lows = low->switches / pods, mids = mid->switches / pods;
    for (uint64_t host = 0; host < t->nodes; host++)
        join(b, 0, host, host / low->down);
    for (uint64_t s = 0; s < low->switches; s++)
        for (uint64_t m = 0; m < mids; m++)
            join(b, 1, s, s / lows * mids + m);
    for (uint64_t m = 0; m < mid->switches && t->tiers == 3; m++)
        for (uint64_t c = m % mids; c < b->tiers[2].switches; c += mids)
            join(b, 2, m, c);
}

void htsim_graph_read(struct text_file *file, struct graph_params *params)
{
    struct reading r = {.file = file, .tree = {UNSET, UNSET, UNSET, 0}};
    char *line;
    for (unsigned i = 0; i < TIERS; i++) {
        params_default(tier_rows, N_TIER_ROWS, &r.tiers[i]);
        r.tiers[i].rate_bps = r.tiers[i].up = r.tiers[i].down = UNSET;
        r.tiers[i].link_ps = -1;
    }
    while ((line = text_file_next(file)) != NULL)
        if (read_line(&r, line) != 0)
            return;
    if (check_values(&r) != 0 || count_switches(&r) != 0 || check_wiring(&r) != 0)
        return;
    uint64_t links = r.tree.nodes + r.tiers[0].switches * r.tiers[0].up;
    if (r.tree.tiers == 3)
        links += r.tiers[1].switches * r.tiers[1].up;
    else
        r.tiers[2].switches = 0;
    params->hosts = r.tree.nodes;
    params->switches = r.tiers[0].switches + r.tiers[1].switches + r.tiers[2].switches;
    if (links > FOREIGN_LINKS_MAX || params->switches > FOREIGN_SWITCHES_MAX) {
        err_add(file->err, file->path, "%s: %" PRIu64 " links are too many", file->name, links);
        return;
    }
    build(&(struct building){{params, 0}, r.tiers}, &r.tree);
    for (unsigned i = 0; i < r.tree.tiers; i++)
        if (r.tiers[i].queue_up + r.tiers[i].queue_down > 0) {
            err_warn(file->err, file->path,
                     "%s: sizes of queues are not read: `switch.queue_limit` has them for all "
                     "ports",
                     file->name);
            break;
        }
}

// SPDX-License-Identifier: MIT
// Matches names of ports with patterns.
#include "sim/fabric/port_patterns.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static bool node_matches(const struct graph *g, const char *pattern, uint32_t node, uint32_t dim)
{
    char name[GRAPH_NAME], with_dim[GRAPH_NAME + 16];
    graph_node_name(g, node, name);
    if (fnmatch(pattern, name, 0) == 0)
        return true;
    // A node has ports in several dimensions; `rank3:dim1` means those of one dimension.
    snprintf(with_dim, sizeof with_dim, "%s:dim%u", name, dim);
    return fnmatch(pattern, with_dim, 0) == 0;
}

size_t port_patterns_match(const struct graph *g, const char *pattern,
                           void (*each)(void *ctx, uint32_t port), void *ctx)
{
    size_t n = 0;
    bool link = strstr(pattern, "->") != NULL;
    for (uint32_t p = 0; p < g->n_ports; p++) {
        char name[2 * GRAPH_NAME];
        bool hit = link ? fnmatch(pattern, graph_port_name(g, p, name), 0) == 0
                        : node_matches(g, pattern, g->ports[p].node, g->ports[p].dim);
        if (!hit)
            continue;
        each(ctx, p);
        n++;
    }
    return n;
}

char *port_patterns_next(char **rest)
{
    char *pattern = strsep(rest, ",");
    if (!pattern)
        return NULL;
    pattern += strspn(pattern, " ");
    pattern[strcspn(pattern, " ")] = '\0';
    return pattern;
}

/* ---- patterns that match nothing ---- */

enum { NAMED = 6 }; // nodes that an error names

// A pattern of two names with something between them that is meant as a link.
struct two_names {
    char from[GRAPH_NAME], to[GRAPH_NAME];
};

static bool two_names_read(const char *pattern, struct two_names *names)
{
    // The first sign that occurs is used, so a sign stands before those that are a part of it.
    static const struct {
        const char *text;
        bool back;
    } signs[] = {{"<->", false},  {"->", false}, {"<-", true}, {"=>", false}, {"--", false},
                 {" to ", false}, {">", false},  {"/", false}, {"-", false}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const char *at = strstr(pattern, signs[i].text);
        if (at == NULL)
            continue;
        const char *left = pattern + strspn(pattern, " "), *right = at + strlen(signs[i].text);
        int n = (int)(at - left);
        while (n > 0 && left[n - 1] == ' ')
            n--;
        right += strspn(right, " ");
        snprintf(names->from, GRAPH_NAME, "%.*s", signs[i].back ? (int)strcspn(right, " ") : n,
                 signs[i].back ? right : left);
        snprintf(names->to, GRAPH_NAME, "%.*s", signs[i].back ? n : (int)strcspn(right, " "),
                 signs[i].back ? left : right);
        return true;
    }
    return false;
}

// The nodes that a node has links to, as "leaf0, rank5, ..".
static void neighbours_text(const struct graph *g, uint32_t node, char *buf, size_t room)
{
    uint32_t last = GRAPH_NONE, named = 0;
    size_t used = 0;
    char name[GRAPH_NAME];
    const struct graph_node *of = &g->nodes[node];
    for (uint32_t p = of->first_port; p < of->first_port + of->n_ports && named <= NAMED; p++) {
        uint32_t peer = g->ports[g->ports[p].peer].node;
        if (peer == last) // of parallel links
            continue;
        last = peer;
        used += (size_t)snprintf(buf + used, room - used, "%s%s", named > 0 ? ", " : "",
                                 named < NAMED ? graph_node_name(g, peer, name) : "..");
        named++;
    }
}

// The names of all nodes as "rank0 to rank31, leaf0 to leaf3".
static void nodes_text(const struct graph *g, char *buf, size_t room)
{
    char first[GRAPH_NAME], name[GRAPH_NAME], kind[GRAPH_NAME] = "";
    size_t used = 0, named = 0;
    buf[0] = '\0';
    for (uint32_t n = 0, end; n < g->n_nodes && named <= NAMED; n = end) {
        graph_node_name(g, n, first);
        size_t stem = strlen(first);
        while (stem > 0 && first[stem - 1] >= '0' && first[stem - 1] <= '9')
            stem--;
        snprintf(kind, sizeof kind, "%.*s", (int)stem, first);
        for (end = n + 1; end < g->n_nodes; end++) {
            graph_node_name(g, end, name);
            if (strncmp(name, kind, stem) != 0 ||
                strspn(name + stem, "0123456789") != strlen(name + stem))
                break;
        }
        bool several = end > n + 1;
        used +=
            (size_t)snprintf(buf + used, room - used, "%s%s%s%s", named > 0 ? ", " : "",
                             named < NAMED ? first : "..", several && named < NAMED ? " to " : "",
                             several && named < NAMED ? graph_node_name(g, end - 1, name) : "");
        named++;
    }
}

// The rank whose ports a rank without ports of its own shares.
static uint32_t sharing_rank(const struct graph *g, uint32_t rank)
{
    uint32_t share = 1;
    for (uint32_t d = 0; d < g->n_dims; d++)
        share = g->dim_share[d] > share ? g->dim_share[d] : share;
    return rank - rank % share;
}

int port_patterns_unknown(const struct graph *g, const char *pattern, const char *path,
                          struct err *err)
{
    char text[(NAMED + 1) * (2 * GRAPH_NAME + 8)];
    struct two_names names;
    uint32_t from = GRAPH_NONE, to = GRAPH_NONE;
    if (g->n_ports == 0)
        return err_add(err, path, "this network has no links, so there is nothing at \"%s\"",
                       pattern);
    if (two_names_read(pattern, &names)) {
        from = graph_node_called(g, names.from);
        to = graph_node_called(g, names.to);
    }
    if (from == GRAPH_NONE || to == GRAPH_NONE) {
        char link[2 * GRAPH_NAME];
        nodes_text(g, text, sizeof text);
        return err_add(err, path, "no place is called \"%s\": there are %s, and links such as %s",
                       pattern, text, graph_port_name(g, 0, link));
    }
    // Both names exist and are neighbours, so only the sign between them is wrong.
    if (graph_port_to(g, from, to) != GRAPH_NONE)
        return err_add(err, path, "no place is called \"%s\": write \"%s->%s\"", pattern,
                       names.from, names.to);
    // With ranks_per_port, several ranks use the links of one.
    if (g->nodes[from].n_ports == 0) {
        char shared[GRAPH_NAME];
        return err_add(
            err, path,
            "no place is called \"%s\": %s has no links of its own, it shares those of %s", pattern,
            names.from, graph_node_name(g, sharing_rank(g, from), shared));
    }
    neighbours_text(g, from, text, sizeof text);
    return err_add(err, path, "no place is called \"%s\": the links of %s lead to %s", pattern,
                   names.from, text);
}

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

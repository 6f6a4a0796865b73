// SPDX-License-Identifier: MIT
// Names of places from which a user can choose.
#include <ctype.h>
#include <string.h>

#include "engine/base/text.h"
#include "sim/fabric/fabric_internal.h"

// Write the pattern of all nodes of the named node's kind: "dim1.leaf0.p0" becomes "dim1.leaf*".
static void name_pattern(const char *name, char *pattern)
{
    const char *plane = strstr(name, ".p");
    size_t n = plane ? (size_t)(plane - name) : strlen(name);
    while (n > 0 && isdigit((unsigned char)name[n - 1]))
        n--;
    memcpy(pattern, name, n);
    strcpy(pattern + n, "*");
}

char *fabric_place_names(const struct fabric *fabric)
{
    const struct graph *g = &fabric->graph;
    struct text text;
    FILE *out = text_open(&text);
    char last[GRAPH_NAME + 1] = "";
    bool first = true;
    for (int ranks = 0; ranks < 2; ranks++)
        for (uint32_t i = 0; i < g->n_nodes; i++) {
            char name[GRAPH_NAME], pattern[GRAPH_NAME + 1];
            if ((g->nodes[i].role == NODE_RANK) != ranks || graph_is_aggregator(g, i))
                continue;
            graph_node_name(g, i, name);
            name_pattern(name, pattern);
            // Nodes of a kind have consecutive numbers, so one name and its pattern stand for all
            // of them.
            if (strcmp(pattern, last) != 0)
                fprintf(out, "%s%s,%s", first ? "" : ",", name, pattern);
            strcpy(last, pattern);
            first = false;
        }
    return text_close(out, &text);
}

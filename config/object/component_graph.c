// SPDX-License-Identifier: MIT
#include "config/object/component_graph.h"

#include <stdlib.h>

#include "config/object/foreign_graph.h"
#include "engine/base/memory.h"

struct building {
    const struct component_graph *g;
    size_t *first, *of; // links of component i: of[first[i]] to of[first[i + 1] - 1]
    uint32_t *left;     // links of a component that are left
    bool *gone;         // of a link
};

static void list_links(struct building *b)
{
    const struct component_graph *g = b->g;
    for (size_t l = 0; l < g->n_links; l++)
        for (int e = 0; e < 2; e++)
            b->left[g->links[l].ends[e]]++;
    for (uint32_t i = 0; i < g->n; i++)
        b->first[i + 1] = b->first[i] + b->left[i];
    size_t *next = memory_zeroed(g->n + UINT32_C(1), sizeof *next);
    for (size_t l = 0; l < g->n_links; l++)
        for (int e = 0; e < 2; e++) {
            uint32_t i = g->links[l].ends[e];
            b->of[b->first[i] + next[i]++] = l;
        }
    free(next);
}

static uint32_t other_end(const struct component_link *link, uint32_t i)
{
    return link->ends[link->ends[0] == i];
}

// The link of a component that is left, other than `except`; SIZE_MAX = none.
static size_t link_left(const struct building *b, uint32_t i, size_t except)
{
    for (size_t k = b->first[i]; k < b->first[i + 1]; k++)
        if (!b->gone[b->of[k]] && b->of[k] != except)
            return b->of[k];
    return SIZE_MAX;
}

// Remove what hangs on a single link.
static void remove_ends(struct building *b)
{
    for (uint32_t i = 0; i < b->g->n; i++)
        for (uint32_t at = i; b->left[at] == 1 && b->g->kinds[at] != COMPONENT_RANK;) {
            size_t l = link_left(b, at, SIZE_MAX);
            b->gone[l] = true;
            b->left[at] = 0;
            at = other_end(&b->g->links[l], at);
            b->left[at]--;
        }
}

static bool is_part(const struct building *b, uint32_t i)
{
    return b->g->kinds[i] == COMPONENT_PORT && b->left[i] == 2;
}

// Follow link `l` from component `from` through parts of links, which are gone then. Returns the
// component at the other end.
static uint32_t follow(struct building *b, uint32_t from, size_t l, struct component_link *whole)
{
    *whole = (struct component_link){{from, from}, 0, -1};
    while (l != SIZE_MAX) {
        const struct component_link *link = &b->g->links[l];
        b->gone[l] = true;
        if (link->rate_bps > 0 && (whole->rate_bps == 0 || link->rate_bps < whole->rate_bps))
            whole->rate_bps = link->rate_bps;
        if (link->delay_ps >= 0)
            whole->delay_ps = (whole->delay_ps < 0 ? 0 : whole->delay_ps) + link->delay_ps;
        whole->ends[1] = other_end(link, whole->ends[1]);
        l = is_part(b, whole->ends[1]) ? link_left(b, whole->ends[1], l) : SIZE_MAX;
    }
    return whole->ends[1];
}

static bool add_links(struct building *b, const struct graph_end *ends,
                      const struct link_spec *base, struct graph_params *params)
{
    struct foreign_links links = {params, 0};
    for (uint32_t i = 0; i < b->g->n; i++)
        for (size_t k = b->first[i]; k < b->first[i + 1]; k++) {
            struct component_link whole;
            if (b->gone[b->of[k]] || is_part(b, i) || follow(b, i, b->of[k], &whole) == i)
                continue;
            struct graph_link *link = foreign_link_add(&links, ends[i], ends[whole.ends[1]]);
            if (link == NULL)
                return false;
            link->link = *base;
            if (whole.rate_bps > 0 || whole.delay_ps >= 0)
                link->link.reverse_rate_bps = 0;
            if (whole.rate_bps > 0)
                link->link.rate_bps = whole.rate_bps;
            if (whole.delay_ps >= 0)
                link->link.delay_ps = whole.delay_ps;
        }
    return true;
}

bool component_graph_links(const struct component_graph *g, const struct link_spec *link,
                           struct graph_params *params)
{
    struct building b = {.g = g,
                         .first = memory_zeroed(g->n + UINT32_C(1), sizeof *b.first),
                         .of = memory_zeroed(2 * g->n_links + 1, sizeof *b.of),
                         .left = memory_zeroed(g->n + UINT32_C(1), sizeof *b.left),
                         .gone = memory_zeroed(g->n_links + 1, sizeof *b.gone)};
    struct graph_end *ends = memory_zeroed(g->n + UINT32_C(1), sizeof *ends);
    list_links(&b);
    remove_ends(&b);
    for (uint32_t i = 0; i < g->n; i++)
        if (g->kinds[i] == COMPONENT_RANK)
            ends[i] = (struct graph_end){(uint32_t)params->hosts++, false};
        else if (b.left[i] > 0 && !is_part(&b, i))
            ends[i] = (struct graph_end){(uint32_t)params->switches++, true};
    bool fits = params->switches <= FOREIGN_SWITCHES_MAX && add_links(&b, ends, link, params);
    free(b.first);
    free(b.of);
    free(b.left);
    free(b.gone);
    free(ends);
    return fits;
}

// SPDX-License-Identifier: MIT
// A group of ranks reserves aggregators when its communicator is made, as SHARP allocates a tree
// and buffers to a job (Graham et al., COMHPC 2016, section IV). The root is a switch with the
// least distance to its farthest rank; groups use several such switches in turn. An aggregator's
// buffer is divided equally among the phases that its groups may run at once; a group that would
// leave a group less than one segment's places is refused, and its communicator uses another
// algorithm.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/fabric/fabric_internal.h"
#include "sim/fabric/reduction_tree.h"

struct aggregator {
    uint64_t phases;     // largest number at a time
    uint64_t slot_bytes; // size of the largest segment
    struct coll_slots slots;
};

struct reservation { // of a group
    struct coll_reduction reduction;
    struct coll_tree *trees;
    struct coll_place *places;
    struct coll_slots **slots;
    uint64_t phases, slot_bytes;
};

struct refusal {
    uint32_t job;
    char *reason;
};

struct reductions {
    uint32_t first_end;             // node of the first aggregator
    struct aggregator *aggregators; // [node - n_ranks]
    uint32_t *aggregator_of;        // [node] of a switch, GRAPH_NONE = none
    struct reservation **made;
    size_t n_made, cap_made;
    struct refusal *refused; // the first refusal of each job
    size_t n_refused, cap_refused;
};

static struct aggregator *aggregator_at(const struct reductions *r, uint32_t end)
{
    return &r->aggregators[end - r->first_end];
}

/* ---- aggregators in the graph ---- */

static bool reduces(const struct fabric *fabric, uint32_t node)
{
    return fabric->spec->dims[fabric->graph.nodes[node].dim].sw.reduction.enabled;
}

uint32_t fabric_count_aggregators(const struct fabric *fabric)
{
    uint32_t n = 0;
    for (uint32_t node = fabric->graph.n_ends; node < fabric->graph.n_nodes; node++)
        n += reduces(fabric, node);
    return n;
}

// The sum of the rates of a switch's ports; the graph is not sealed yet.
static uint64_t *switch_rates(const struct graph *g)
{
    uint64_t *rates = memory_zeroed(g->n_nodes, sizeof *rates);
    for (uint32_t p = 0; p < g->n_ports; p++)
        rates[g->ports[p].node] += g->ports[p].rate_bps;
    return rates;
}

void fabric_add_aggregators(struct fabric *fabric)
{
    struct graph *g = &fabric->graph;
    uint64_t *rates = switch_rates(g);
    uint32_t n = 0;
    for (uint32_t node = g->n_ends; node < g->n_nodes; node++) {
        const struct reduction_spec *spec = &fabric->spec->dims[g->nodes[node].dim].sw.reduction;
        if (!spec->enabled)
            continue;
        struct link_spec link = {.rate_bps =
                                     spec->rate_bps == PARAM_AUTO ? rates[node] : spec->rate_bps,
                                 .delay_ps = spec->latency_ps};
        graph_add_aggregator(g, n++, node, &link);
    }
    free(rates);
}

/* ---- refusals ---- */

static const struct coll_reduction *refuse(struct reductions *r, uint32_t job, char *reason)
{
    // Each job is warned once, of its first refusal.
    for (size_t i = 0; i < r->n_refused; i++)
        if (r->refused[i].job == job) {
            free(reason);
            return NULL;
        }
    if (r->n_refused == r->cap_refused)
        r->refused = memory_grow(r->refused, &r->cap_refused, sizeof *r->refused);
    r->refused[r->n_refused++] = (struct refusal){job, reason};
    return NULL;
}

// The dimension that joins all ranks of a group: the common dimension of all pairs, or else a
// fabric. May be GRAPH_NONE.
static uint32_t dim_of_group(const struct graph *g, const uint32_t *ranks, uint32_t n)
{
    uint32_t dim = graph_joining_dim(g, ranks[0], ranks[1]), i = 2;
    while (i < n && graph_joining_dim(g, ranks[0], ranks[i]) == dim)
        i++;
    if (i == n)
        return dim;
    // A fabric joins ranks that differ in several dimensions.
    for (dim = 0; dim < g->n_dims; dim++)
        if (g->dim_fabric[dim])
            return dim;
    return GRAPH_NONE;
}

// Returns why a dimension cannot reduce, NULL if it can; to be freed.
static char *lacks(const struct fabric *fabric, uint32_t dim)
{
    if (dim == GRAPH_NONE)
        return text_format("no dimension of the network joins all ranks of a group");
    const struct dim_spec *spec = &fabric->spec->dims[dim];
    if (fabric_is_analytical(fabric) ? spec->kind->shape != SHAPE_SWITCH : spec->kind->direct)
        return text_format("dimension %u (%s) has no switches", dim, spec->kind->name);
    if (!spec->sw.reduction.enabled)
        return text_format("the switches of dimension %u do not reduce (switch.reduction.enabled)",
                           dim);
    return NULL;
}

/* ---- trees ---- */

// The roots of a group's trees.
struct roots {
    uint32_t *switches; // candidates of least height
    uint32_t n, height;
};

static struct roots find_roots(const struct reductions *r, struct tree_search *s,
                               const struct comm_reduce_request *request)
{
    const struct graph *g = s->g;
    struct roots roots = {.switches = memory_zeroed(g->n_nodes, sizeof *roots.switches),
                          .height = GRAPH_NONE};
    for (uint32_t sw = g->n_ends; sw < g->n_nodes; sw++) {
        if (g->nodes[sw].dim != s->dim || r->aggregator_of[sw] == GRAPH_NONE)
            continue;
        uint32_t height = tree_search_from(s, sw, request->ranks, request->n);
        if (height == GRAPH_NONE || height > roots.height)
            continue;
        roots.n = height < roots.height ? 0 : roots.n;
        roots.height = height;
        roots.switches[roots.n++] = sw;
    }
    return roots;
}

static uint32_t n_planes(const struct graph *g, const struct roots *roots)
{
    uint32_t planes = 0;
    for (uint32_t i = 0; i < roots->n; i++)
        if (g->nodes[roots->switches[i]].plane + 1 > planes)
            planes = g->nodes[roots->switches[i]].plane + 1;
    return planes;
}

// Returns candidate number `turn`, modulo their number, in a plane; in any plane if it has none.
static uint32_t root_in_plane(const struct graph *g, const struct roots *roots, uint32_t plane,
                              size_t turn)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < roots->n; i++)
        n += g->nodes[roots->switches[i]].plane == plane;
    uint32_t at = n > 0 ? (uint32_t)(turn % n) : 0;
    for (uint32_t i = 0; n > 0 && i < roots->n; i++)
        if (g->nodes[roots->switches[i]].plane == plane && at-- == 0)
            return roots->switches[i];
    return roots->switches[turn % roots->n];
}

static struct reservation *reservation_new(uint32_t n_ranks, uint32_t n_trees)
{
    struct reservation *v = memory_zeroed(1, sizeof *v);
    v->trees = memory_zeroed(n_trees, sizeof *v->trees);
    v->reduction = (struct coll_reduction){
        .n_ranks = n_ranks, .n_trees = n_trees, .n_members = n_ranks, .trees = v->trees};
    return v;
}

static void reservation_free(struct reservation *v)
{
    for (uint32_t t = 0; t < v->reduction.n_trees; t++) {
        free((void *)(uintptr_t)v->trees[t].parent);
        free((void *)(uintptr_t)v->trees[t].first);
        free((void *)(uintptr_t)v->trees[t].children);
    }
    free(v->trees);
    free(v->places);
    free(v->slots);
    free(v);
}

// Add the two members of each aggregator of tree number `t`. `ends`: [aggregator] its node, or NULL
// in closed form.
static void add_members(struct reductions *r, struct reservation *v, uint32_t t,
                        const uint32_t *ends, uint32_t n_ranks)
{
    struct coll_tree *tree = &v->trees[t];
    uint32_t before = v->reduction.n_members - n_ranks, count = before + 2 * tree->n_aggregators;
    tree->first_member = v->reduction.n_members;
    v->reduction.n_members += 2 * tree->n_aggregators;
    v->places = memory_resize(v->places, count, sizeof *v->places);
    v->slots = memory_resize(v->slots, count, sizeof(struct coll_slots *));
    v->reduction.places = v->places;
    for (uint32_t i = before; i < count; i++) {
        uint32_t a = (i - before) / 2, end = ends ? ends[a] : 0;
        v->places[i] = (struct coll_place){
            .tree = t, .node = n_ranks + a, .down = (i - before) % 2, .endpoint = end};
        v->slots[i] = ends ? &aggregator_at(r, end)->slots : NULL;
    }
}

static void plant(struct fabric *fabric, struct reservation *v, uint32_t t, uint32_t root,
                  struct tree_search *s, const struct comm_reduce_request *request)
{
    struct reductions *r = fabric->reductions;
    uint32_t *ends;
    tree_search_from(s, root, request->ranks, request->n);
    v->trees[t] = tree_of_search(s, root, request->ranks, request->n, &ends);
    for (uint32_t a = 0; a < v->trees[t].n_aggregators; a++)
        ends[a] = r->aggregator_of[ends[a]];
    add_members(r, v, t, ends, request->n);
    free(ends);
}

static struct reservation *plant_all(struct fabric *fabric, uint32_t dim,
                                     const struct comm_reduce_request *request)
{
    struct reductions *r = fabric->reductions;
    const struct graph *g = &fabric->graph;
    struct reservation *v = NULL;
    struct tree_search s;
    tree_search_init(&s, g, dim);
    struct roots roots = find_roots(r, &s, request);
    if (roots.n > 0) {
        uint32_t planes = n_planes(g, &roots);
        uint32_t trees = request->trees == PARAM_AUTO ? planes : (uint32_t)request->trees;
        v = reservation_new(request->n, trees);
        for (uint32_t t = 0; t < trees; t++) {
            // Trees use the planes in turn. Trees of one plane, and groups, use different roots.
            size_t turn = r->n_made + t / planes;
            plant(fabric, v, t, root_in_plane(g, &roots, t % planes, turn), &s, request);
        }
    }
    free(roots.switches);
    tree_search_free(&s);
    return v;
}

// In closed form one aggregator has all ranks as children.
static struct reservation *star(struct fabric *fabric, const struct comm_reduce_request *request)
{
    struct reservation *v = reservation_new(request->n, 1);
    uint32_t *parent = memory_zeroed(request->n + 1, sizeof *parent);
    uint32_t *first = memory_zeroed(2, sizeof *first);
    uint32_t *children = memory_zeroed(request->n, sizeof *children);
    for (uint32_t i = 0; i < request->n; i++) {
        parent[i] = request->n;
        children[i] = i;
    }
    parent[request->n] = COLL_NO_PARENT;
    first[1] = request->n;
    v->trees[0] = (struct coll_tree){
        .n_aggregators = 1, .parent = parent, .first = first, .children = children};
    add_members(fabric->reductions, v, 0, NULL, request->n);
    return v;
}

/* ---- buffers ---- */

// Call `each` for the aggregator of every adding member of a reservation.
static void each_aggregator(struct fabric *fabric, struct reservation *v,
                            void (*each)(struct aggregator *a, struct reservation *v))
{
    uint32_t n = v->reduction.n_members - v->reduction.n_ranks;
    for (uint32_t i = 0; i < n; i++)
        // An aggregator has a member for each direction and counts once.
        if (!v->places[i].down)
            each(aggregator_at(fabric->reductions, v->places[i].endpoint), v);
}

static void join(struct aggregator *a, struct reservation *v)
{
    a->phases += v->phases;
    a->slot_bytes = v->slot_bytes > a->slot_bytes ? v->slot_bytes : a->slot_bytes;
}

static void leave(struct aggregator *a, struct reservation *v) { a->phases -= v->phases; }

static uint64_t buffer_of(const struct fabric *fabric, uint32_t endpoint)
{
    return fabric->spec->dims[fabric->graph.nodes[endpoint].dim].sw.reduction.slots_bytes;
}

// The first aggregator of a reservation whose buffer is too small for all its groups, or
// GRAPH_NONE.
static uint32_t crowded(const struct fabric *fabric, const struct reservation *v)
{
    uint32_t n = v->reduction.n_members - v->reduction.n_ranks;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = v->places[i].endpoint;
        const struct aggregator *a = aggregator_at(fabric->reductions, end);
        if (buffer_of(fabric, end) / a->phases < a->slot_bytes)
            return end;
    }
    return GRAPH_NONE;
}

static const struct coll_reduction *keep(struct reductions *r, struct reservation *v)
{
    if (r->n_made == r->cap_made)
        r->made = memory_grow(r->made, &r->cap_made, sizeof(struct reservation *));
    r->made[r->n_made++] = v;
    return &v->reduction;
}

static char *crowd_text(const struct fabric *fabric, uint32_t end, const struct reservation *v)
{
    char name[GRAPH_NAME], buffer[UNIT_TEXT], slot[UNIT_TEXT];
    const struct aggregator *a = aggregator_at(fabric->reductions, end);
    return text_format(
        "the buffer of %s, %s, is too small for %llu phases at once, whose segments take %s each",
        graph_node_name(&fabric->graph, end, name), human_bytes(buffer_of(fabric, end), buffer),
        (unsigned long long)a->phases, human_bytes(v->slot_bytes, slot));
}

static const struct coll_reduction *reduce_in_closed_form(struct fabric *fabric, uint32_t dim,
                                                          const struct comm_reduce_request *request)
{
    const struct reduction_spec *spec = &fabric->spec->dims[dim].sw.reduction;
    uint64_t slot = coll_slot_bytes(request->segment_bytes), share = spec->slots_bytes;
    share /= request->phases;
    if (share < slot)
        return refuse(fabric->reductions, request->job,
                      text_format("switch.reduction.buffer is too small for %llu phases at once",
                                  (unsigned long long)request->phases));
    struct reservation *v = star(fabric, request);
    v->reduction.buffer_bytes = share;
    v->reduction.latency_ps = spec->latency_ps;
    return keep(fabric->reductions, v);
}

const struct coll_reduction *fabric_reduce(struct fabric *fabric,
                                           const struct comm_reduce_request *request)
{
    struct reductions *r = fabric->reductions;
    uint32_t dim = dim_of_group(&fabric->graph, request->ranks, request->n);
    char *reason = lacks(fabric, dim);
    if (reason)
        return refuse(r, request->job, reason);
    if (fabric_is_analytical(fabric))
        return reduce_in_closed_form(fabric, dim, request);
    struct reservation *v = plant_all(fabric, dim, request);
    if (!v)
        return refuse(r, request->job,
                      text_format("no switch of dimension %u reaches all ranks of a group", dim));
    v->phases = request->phases;
    v->slot_bytes = coll_slot_bytes(request->segment_bytes);
    // The group joins first, so that the check includes it, and leaves again if a buffer is too
    // small.
    each_aggregator(fabric, v, join);
    uint32_t full = crowded(fabric, v);
    if (full == GRAPH_NONE)
        return keep(r, v);
    refuse(r, request->job, crowd_text(fabric, full, v));
    each_aggregator(fabric, v, leave);
    reservation_free(v);
    return NULL;
}

/* ---- life ---- */

void fabric_reductions_init(struct fabric *fabric)
{
    const struct graph *g = &fabric->graph;
    struct reductions *r = fabric->reductions = memory_zeroed(1, sizeof *r);
    r->first_end = g->n_ranks;
    r->aggregators = memory_zeroed(g->n_ends - g->n_ranks + 1, sizeof *r->aggregators);
    r->aggregator_of = memory_zeroed(g->n_nodes, sizeof *r->aggregator_of);
    for (uint32_t node = 0; node < g->n_nodes; node++)
        r->aggregator_of[node] = GRAPH_NONE;
    for (uint32_t end = g->n_ranks; end < g->n_ends; end++)
        r->aggregator_of[graph_switch_of(g, end)] = end;
}

void fabric_reductions_free(struct fabric *fabric)
{
    struct reductions *r = fabric->reductions;
    if (!r)
        return;
    for (size_t i = 0; i < r->n_made; i++)
        reservation_free(r->made[i]);
    for (size_t i = 0; i < r->n_refused; i++)
        free(r->refused[i].reason);
    free(r->made);
    free(r->refused);
    free(r->aggregators);
    free(r->aggregator_of);
    free(r);
}

void fabric_reductions_settle(struct fabric *fabric, struct err *err)
{
    const struct reductions *r = fabric->reductions;
    char place[32];
    for (size_t i = 0; !fabric_is_analytical(fabric) && i < r->n_made; i++) {
        struct reservation *v = r->made[i];
        v->reduction.slots = (struct coll_slots *const *)v->slots;
        v->reduction.buffer_bytes = UINT64_MAX;
        uint32_t n = v->reduction.n_members - v->reduction.n_ranks;
        // A segment needs a place in every aggregator on its way, so the smallest share counts.
        for (uint32_t m = 0; m < n; m++) {
            uint32_t end = v->places[m].endpoint;
            uint64_t share = buffer_of(fabric, end) / aggregator_at(r, end)->phases;
            if (share < v->reduction.buffer_bytes)
                v->reduction.buffer_bytes = share;
        }
    }
    for (size_t i = 0; i < r->n_refused; i++) {
        snprintf(place, sizeof place, fabric->spec->n_jobs > 1 ? "workload[%u]" : "workload",
                 r->refused[i].job);
        err_warn(err, place, "algorithm in_network falls back to ring: %s", r->refused[i].reason);
    }
}

void fabric_reductions_collect(const struct fabric *fabric, struct result *r)
{
    char name[GRAPH_NAME];
    uint32_t n = fabric->graph.n_ends - fabric->graph.n_ranks;
    r->aggregators = memory_zeroed(n, sizeof *r->aggregators);
    r->n_aggregators = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = fabric->graph.n_ranks + i;
        const struct coll_slots *slots = &aggregator_at(fabric->reductions, end)->slots;
        r->aggregators[i] = (struct aggregator_result){
            .at = memory_text(graph_node_name(&fabric->graph, end, name)),
            .buffer_bytes = buffer_of(fabric, end),
            .max_bytes = slots->max_bytes,
            .reduced_bytes = slots->reduced_bytes};
    }
}

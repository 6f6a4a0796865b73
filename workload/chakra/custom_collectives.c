// SPDX-License-Identifier: MIT
// A member's trace has the number of its rank among the sorted ranks of its group; a peer in a
// trace is the member at that place of the group's list. Source: ASTRA-sim 2, CustomAlgorithm.cc,
// CommunicatorGroup.cc (get_position_in_group).
#include "workload/chakra/custom_collectives.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "workload/chakra/chakra_job.h"
#include "workload/read/job_ranks.h"
#include "workload/trace/trace_collective.h"

struct custom {
    struct reader *r;
    const struct place *at;
    const struct job_spec *job;
    const char *prefix, *path;
    struct trace_graph traces;
    const struct coll_graph *plain; // of members in the order of their ranks; NULL = not made yet
};

// The members of a group are in the order of its list, or, where it has all ranks, of the ranks.
static bool in_order(const struct trace_group *group)
{
    for (uint32_t i = 0; group->ranks != NULL && i + 1 < group->n; i++)
        if (group->ranks[i] > group->ranks[i + 1])
            return false;
    return true;
}

// [place in the list] the place in the order of the ranks
static uint32_t *sorted_places(const struct trace_group *group, uint32_t n_ranks)
{
    uint32_t *of_rank = memory_zeroed((size_t)n_ranks + 1, sizeof *of_rank), place = 0;
    uint32_t *places = memory_zeroed(group->n, sizeof *places);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        of_rank[rank] = place;
        place += group->member[rank];
    }
    for (uint32_t i = 0; i < group->n; i++)
        places[i] = of_rank[group->ranks[i]];
    free(of_rank);
    return places;
}

static bool pairs_check(const struct custom *c, const struct coll_graph *graph,
                        const uint32_t *ranks)
{
    bool good = true;
    for (uint32_t m = 0; m < graph->n && good; m++)
        for (uint32_t i = graph->first[m]; i < graph->first[m + 1] && good; i++) {
            uint32_t peer = graph->nodes[i].peer;
            if (graph->nodes[i].kind == COLL_GRAPH_SEND)
                good = pair_check(c->r, c->at, c->job, ranks ? ranks[m] : m,
                                  ranks ? ranks[peer] : peer);
        }
    return good;
}

static const struct coll_graph *graph_of(struct custom *c, const struct trace_group *group,
                                         bool all, const char *what)
{
    struct trace_members members = {NULL, NULL};
    bool plain = in_order(group);
    if (plain && c->plain != NULL)
        return c->plain;
    uint32_t *places = plain ? NULL : sorted_places(group, job_size(c->r, c->job));
    if (all)
        members.member = places == NULL ? NULL : group->ranks;
    else
        members.file = places;
    struct coll_graph *graph =
        trace_collective_make(&c->traces, &members, what, c->path, c->r->err);
    free(places);
    if (graph == NULL)
        return NULL;
    reader_keep(c->r, graph);
    if (plain)
        c->plain = graph;
    return graph;
}

static void group_set(struct custom *c, struct node_group *group, const struct trace_group *from,
                      enum coll_op op)
{
    char what[PLACE_TEXT];
    bool all = group->ranks == NULL;
    snprintf(what, sizeof what, "%s in group %.100s", c->prefix, group->name);
    if (c->traces.n_ranks != from->n) {
        place_error(c->r->err, c->at, "%s has the traces of %u ranks, and %s%.100s has %u",
                    c->prefix, c->traces.n_ranks, all ? "the job" : "group ",
                    all ? "" : group->name, from->n);
        return;
    }
    const struct coll_graph *graph = graph_of(c, from, all, what);
    if (graph != NULL && pairs_check(c, graph, group->ranks))
        group->schedule.choice[op][group->schedule.n_dims] = coll_graph_choice(graph);
}

static void op_read(struct custom *c, struct chakra_settings *s, enum coll_op op)
{
    size_t errors = c->r->err->n_errors;
    bool read = false;
    for (uint32_t g = 0; g < s->program.n_groups && c->r->err->n_errors == errors; g++) {
        const struct trace_group *from = &s->set.groups.items[g];
        if ((s->set.used[g] >> op & 1) == 0 || from->n == 1)
            continue;
        if (!read && !trace_graph_read(&c->traces, c->r->dir, c->prefix, c->path, c->r->err))
            break;
        read = true;
        group_set(c, &s->program.groups[g], from, op);
    }
    trace_graph_free(&c->traces);
}

void custom_collectives_read(struct reader *r, const struct place *system,
                             const struct astra2_system *astra, const struct job_spec *job)
{
    for (unsigned op = 0; op < COLL_OPS; op++) {
        if (astra->custom[op] == NULL)
            continue;
        char path[PLACE_TEXT];
        struct place list = place_key(system, astra2_custom_keys[op]), at = place_item(&list, 0);
        struct custom c = {.r = r,
                           .at = &at,
                           .job = job,
                           .prefix = astra->custom[op],
                           .path = place_text(&at, path)};
        op_read(&c, job->settings, (enum coll_op)op);
    }
}

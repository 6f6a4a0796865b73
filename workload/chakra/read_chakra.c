// SPDX-License-Identifier: MIT
// Reads chakra jobs: traces, their communicators, and the costs of collectives and computations.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "engine/text/json_file.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"
#include "workload/chakra/chakra_job.h"
#include "workload/chakra/set_internal.h"
#include "workload/kind.h"
#include "workload/read/astra2_system.h"
#include "workload/read/group_algorithms.h"
#include "workload/read/job_ranks.h"
#include "workload/read/job_reader.h"
#include "workload/trace/trace_collective.h"

/* ---- custom collectives ---- */

// A member's trace has the number of its rank among the sorted ranks of its group; a peer in a
// trace is the member at that place of the group's list. Source: ASTRA-sim 2, CustomAlgorithm.cc,
// CommunicatorGroup.cc (get_position_in_group).

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

// Set the graphs of the operations that groups of the job use, whose schedules are known; errors
// are at the keys of `system`.
static void custom_collectives_read(struct reader *r, const struct place *system,
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

/* ---- source ---- */

// The nodes of a checked set of traces, read from the files when the run needs them.

struct source_cursor {
    struct trace_set *set;
    struct trace *traces; // [rank]
};

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void *source_open(const void *self)
{
    struct trace_set *const *set = self;
    struct source_cursor *cursor = memory_zeroed(1, sizeof *cursor);
    cursor->set = *set;
    cursor->traces = memory_zeroed(cursor->set->n_ranks, sizeof *cursor->traces);
    for (uint32_t r = 0; r < cursor->set->n_ranks; r++)
        cursor->traces[r].records.file = cursor->set->files[r];
    return cursor;
}

// Leave out dependencies on nodes that the file does not have.
static void after_cut(const struct trace_ids *missing, struct trace *t, struct node *node)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < node->n_after; i++) {
        uint64_t id = node->after[i];
        if (bsearch(&id, missing->items, missing->n, sizeof id, compare_ids) == NULL)
            t->after[kept++] = id;
    }
    node->n_after = kept;
}

static int source_next(void *cursor, uint32_t rank, struct node *node, struct err *err)
{
    struct source_cursor *c = cursor;
    struct trace *t = &c->traces[rank];
    struct trace_node from;
    int result = trace_next(t, &from, NULL, err);
    if (result == 1 && trace_convert(c->set, rank, t, &from, node, NULL, err) != 0)
        return -1;
    const struct trace_ids *missing = &c->set->missing[c->set->same[rank]];
    if (result == 1 && missing->n > 0)
        after_cut(missing, t, node);
    return result;
}

static void source_close(void *cursor)
{
    struct source_cursor *c = cursor;
    for (uint32_t r = 0; r < c->set->n_ranks; r++)
        trace_free(&c->traces[r]);
    free(c->traces);
    free(c);
}

static const struct node_source_ops source_ops = {
    .open = source_open, .next = source_next, .close = source_close, .free = free};

static char **words_copy(const struct trace_words *words)
{
    char **copy = memory_zeroed(words->n + 1, sizeof *copy);
    for (uint32_t i = 0; i < words->n; i++)
        copy[i] = memory_text(words->items[i]);
    return copy;
}

// The nodes of a checked set, which must outlive the program. Its groups are those of the set;
// their schedules are the caller's to fill.
static struct node_program trace_set_program(struct trace_set *set)
{
    struct trace_set **self = memory_zeroed(1, sizeof(struct trace_set *));
    *self = set;
    struct node_program p = {.source = &source_ops,
                             .self = self,
                             .n_ranks = set->n_ranks,
                             .n_groups = (uint32_t)set->groups.n,
                             .n_uses = set->uses.n,
                             .n_layers = set->layers.n};
    p.groups = memory_zeroed(p.n_groups + 1, sizeof *p.groups);
    for (uint32_t g = 0; g < p.n_groups; g++) {
        const struct trace_group *group = &set->groups.items[g];
        p.groups[g].name = memory_text(group->name[0] ? group->name : "all");
        if (group->ranks == NULL)
            continue;
        p.groups[g].ranks = memory_zeroed(group->n, sizeof *group->ranks);
        for (uint32_t m = 0; m < group->n; m++)
            p.groups[g].ranks[m] = group->ranks[m];
    }
    const struct trace_program *exported = &set->exported;
    for (uint32_t g = 1; g < p.n_groups && exported->known; g++) {
        char *end;
        unsigned long id = strtoul(p.groups[g].name, &end, 10);
        if (*end != '\0' || id == 0 || id > exported->n_groups)
            continue;
        free(p.groups[g].name);
        p.groups[g].name = memory_text(exported->groups[id - 1]);
        p.groups[g].inner = (uint32_t)exported->inner[id - 1];
    }
    p.in_order = exported->in_order;
    p.idle_use = exported->known ? exported->idle_use : set->uses.n;
    p.uses = words_copy(&set->uses);
    p.layers = words_copy(&set->layers);
    return p;
}

/* ---- read chakra ---- */

// Keys that a job with `system` cannot have.
static const char *const without_system[] = {"algorithm",   "chunks",           "endpoint_delay",
                                             "reduce_rate", "comm_streams",     "peak_tflops",
                                             "order",       "memory_bandwidth", NULL};

// The rules of a job with `system`.
static struct trace_rules astra_rules(const struct astra2_system *system)
{
    struct trace_rules rules = {.astra = true,
                                .streams = 1,
                                .n_dims = system->whole.n_dims,
                                .roofline = system->roofline,
                                .peak_ops = system->peak_ops,
                                .memory_bytes = system->memory_bytes};
    for (uint32_t d = 0; d < rules.n_dims; d++)
        rules.dim_size[d] = system->whole.dim_size[d];
    for (unsigned op = 0; op < COLL_OPS; op++) {
        rules.op_dims[op] = system->whole.op_dims[op];
        rules.over_all |= system->custom[op] != NULL ? UINT32_C(1) << op : 0;
    }
    return rules;
}

static void common_rules(const struct chakra_params *params, struct trace_rules *rules)
{
    rules->cut = params->missing == 1;
    rules->remote = params->remote_bps != PARAM_AUTO;
    rules->remote_latency_ps = params->remote_latency_ps;
    rules->remote_share = (uint32_t)params->remote_share;
    rules->remote_bytes = (double)params->remote_bps / 8e9;
}

// Check that the algorithm of each operation can run in the dimension.
static void powers_check(struct reader *r, const struct place *place, const struct coll_schedule *s,
                         uint32_t used, const char *group)
{
    for (unsigned op = 0; op < COLL_OPS; op++)
        for (uint32_t d = 0; d <= s->n_dims && (used >> op & 1) != 0; d++) {
            bool whole = d == s->n_dims;
            uint32_t n = coll_group_size(s, d);
            const char *name = s->choice[op][d].algorithm->name;
            if (whole != s->flat[op] || (!whole && (s->op_dims[op] >> d & 1) == 0))
                continue;
            bool tree = strcmp(name, "double_binary_tree") == 0;
            if ((tree || strcmp(name, "halving_doubling") == 0) && (n & (n - 1)) != 0)
                place_error(r->err, place,
                            "%s over %u ranks%s%s: their number must be a power of two", name, n,
                            group[0] ? " of group " : "", group);
            else if (tree && s->streams.local)
                place_error(r->err, place, "%s cannot run in group %s, only over all ranks", name,
                            group);
        }
}

static void astra_schedules(struct reader *r, const struct place *system,
                            const struct astra2_system *astra, struct chakra_settings *s)
{
    for (uint32_t g = 0; g < s->program.n_groups; g++) {
        struct node_group *group = &s->program.groups[g];
        uint32_t n = s->set.groups.items[g].n;
        if (n == s->set.n_ranks) { // the order of its ranks does not matter
            free(group->ranks);
            group->ranks = NULL;
            group->schedule = astra->whole;
        } else {
            group->schedule = astra2_group_schedule(astra, n);
        }
        powers_check(r, system, &group->schedule, s->set.used[g], group->ranks ? group->name : "");
    }
}

struct sending {
    struct reader *r;
    const struct place *place;
    const struct job_spec *job;
};

static bool reaches(void *ctx, uint32_t src, uint32_t dst)
{
    const struct sending *s = ctx;
    return pair_check(s->r, s->place, s->job, src, dst);
}

static void traces_read(struct reader *r, const struct place *place, const struct job_spec *job,
                        struct trace_rules rules)
{
    struct chakra_settings *s = job->settings;
    struct place prefix = place_key(place, "prefix"), groups = place_key(place, "comm_groups");
    char path[PLACE_TEXT], groups_path[PLACE_TEXT];
    bool grouped = s->params.comm_groups[0] != '\0';
    char *files = path_from(r->dir, s->params.prefix);
    char *groups_file = grouped ? path_from(r->dir, s->params.comm_groups) : NULL;
    place_text(&prefix, path);
    struct sending sending = {r, &prefix, job};
    rules.reaches = reaches;
    rules.reaches_ctx = &sending;
    if (trace_set_open(&s->set, files, job_size(r, job), groups_file, &rules, path,
                       place_text(&groups, groups_path), r->err) == 0 &&
        trace_set_check(&s->set, path, r->err) == 0)
        s->program = trace_set_program(&s->set);
    s->set.rules.reaches = NULL;
    s->set.rules.reaches_ctx = NULL;
    s->program.window = s->params.window == PARAM_AUTO ? 0 : s->params.window;
    free(files);
    free(groups_file);
}

// Read a job with `system`: the rules of ASTRA-sim 2.
static void read_astra(struct reader *r, const struct place *place, const struct place *system,
                       struct job_spec *job)
{
    struct chakra_settings *s = job->settings;
    struct astra2_system astra = {0};
    size_t errors = r->err->n_errors;
    for (size_t i = 0; without_system[i] != NULL; i++) {
        struct place other = place_key(place, without_system[i]);
        if (other.json != NULL)
            place_error(r->err, &other, "cannot be combined with `system`");
    }
    read_job_dims(r, &(struct place){.parent = place, .key = "dims"}, job_size(r, job),
                  &astra.whole);
    astra2_system_read(r, system, &astra);
    if (r->err->n_errors > errors)
        return;
    struct trace_rules rules = astra_rules(&astra);
    common_rules(&s->params, &rules);
    s->rendezvous = astra.rendezvous;
    traces_read(r, place, job, rules);
    s->program.in_order = false;
    if (r->err->n_errors == errors)
        astra_schedules(r, system, &astra, s);
    if (r->err->n_errors == errors)
        custom_collectives_read(r, system, &astra, job);
}

// Read a job without `system`: its groups are like those of programs.
static void read_gpu(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct chakra_settings *s = job->settings;
    const struct chakra_params *params = &s->params;
    struct place algorithm = place_key(place, "algorithm");
    size_t errors = r->err->n_errors;
    struct trace_rules rules = {.streams = (uint32_t)params->comm_streams,
                                .n_dims = 1,
                                .dim_size = {job_size(r, job)},
                                .roofline = params->peak_tflops > 0,
                                .peak_ops = params->peak_tflops * 1e12,
                                .memory_bytes =
                                    params->memory_gbps > 0 ? params->memory_gbps * 1e9 : INFINITY};
    for (unsigned op = 0; op < COLL_OPS; op++)
        rules.op_dims[op] = 1;
    common_rules(params, &rules);
    traces_read(r, place, job, rules);
    if (params->order <= PROGRAM_AS_READY)
        s->program.in_order = params->order == PROGRAM_IN_ORDER;
    for (uint32_t g = 0; g < s->program.n_groups && r->err->n_errors == errors; g++) {
        struct node_group *group = &s->program.groups[g];
        group->schedule = group_schedule(&s->choice, s->set.groups.items[g].n);
        for (unsigned op = 0; op < COLL_OPS; op++)
            if ((s->set.used[g] >> op & 1) != 0)
                group_check(r, &algorithm, job, &group->schedule,
                            (struct coll_shape){.op = (enum coll_op)op, .bytes = 1 << 20},
                            group->ranks);
    }
}

static void read_chakra(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct chakra_settings *s = job->settings;
    struct place system = place_key(place, "system");
    size_t errors = r->err->n_errors;
    map_ranks(r, place, job, &s->params.mapping);
    s->choice.params = s->params.group;
    group_algorithms_read(r, place, &s->choice);
    if (r->err->n_errors > errors || job_size(r, job) == 0 || s->params.prefix == NULL)
        return;
    if (system.json != NULL)
        read_astra(r, place, &system, job);
    else
        read_gpu(r, place, job);
}

static void trim(json_t *json, const struct job_spec *job, const json_t *given)
{
    struct param rows[ALGORITHM_ROWS_MAX];
    size_t n = algorithms_table(rows);
    (void)job;
    if (json_object_get(given, "system") == NULL)
        return;
    parts_remove(json, without_system);
    json_object_del(json, "library");
    for (size_t i = 0; i < n; i++)
        json_object_del(json, rows[i].name);
}

static json_t *system_schema(void) { return json_pack("{s:s}", "type", "object"); }

static const struct job_part chakra_parts[] = {
    GROUP_PARTS(struct chakra_settings, choice),
    PART_ROW("system", "object", "none",
             "keys of a system file of ASTRA-sim 2, whose rules then hold for nodes and "
             "collectives",
             .schema = system_schema),
    PARTS_END,
};
const struct job_reader chakra_reader = {
    .read = read_chakra,
    .parts = chakra_parts,
    .algorithms = offsetof(struct chakra_settings, choice.algorithms),
    .trim = trim,
};

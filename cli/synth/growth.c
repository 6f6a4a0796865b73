// SPDX-License-Identifier: MIT
#include "cli/synth/growth.h"

#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define NONE UINT32_MAX

/* ---- which groups grow ---- */

// Words in names of uses by which frameworks call groups that sum gradients, or shards of them.
static bool data_parallel(const char *use)
{
    static const char *const words[] = {"data", "dp", "ddp", "fsdp", "zero", "gradient", "replica"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(use, words[i]) != NULL)
            return true;
    return false;
}

static const char *use_of(const struct node_program *p, const struct synth_survey *s, uint32_t g)
{
    return s->group_use[g] < p->n_uses ? p->uses[s->group_use[g]] : "";
}

static uint32_t size_of(const struct node_group *group) { return coll_ranks(&group->schedule); }

static uint32_t member(const struct node_group *group, uint32_t m)
{
    return group->ranks != NULL ? group->ranks[m] : m;
}

static uint32_t stride(const struct node_group *group)
{
    uint32_t a = member(group, 0), b = size_of(group) < 2 ? a : member(group, 1);
    return a > b ? a - b : b - a;
}

// Marks the groups for which `wanted` holds. Returns their number.
static uint32_t mark_uses(struct synth_growth *g, const struct node_program *from,
                          const struct synth_survey *s, char **names, size_t n_names)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < from->n_groups; i++) {
        const char *use = use_of(from, s, i);
        for (size_t k = 0; k < n_names; k++)
            g->grows[i] |= strcmp(names[k], use) == 0;
        g->grows[i] |= names == NULL && data_parallel(use);
        g->grows[i] &= g->used[i];
        n += g->grows[i];
    }
    return n;
}

static void mark_widest(struct synth_growth *g, const struct node_program *from)
{
    uint32_t most = 0;
    bool all = false;
    for (uint32_t i = 0; i < from->n_groups; i++) {
        uint32_t wide = g->used[i] ? stride(&from->groups[i]) : 0;
        g->grows[i] = g->used[i] && size_of(&from->groups[i]) == from->n_ranks;
        all |= g->grows[i];
        most = wide > most ? wide : most;
    }
    for (uint32_t i = 0; i < from->n_groups && !all; i++)
        g->grows[i] = most > 0 && g->used[i] && stride(&from->groups[i]) == most;
}

static int mark(struct synth_growth *g, const struct node_program *from,
                const struct synth_survey *s, const char *uses, struct err *err)
{
    if (uses != NULL) {
        char **names;
        size_t n = text_split(uses, ',', &names);
        uint32_t marked = mark_uses(g, from, s, names, n);
        texts_free(names, n);
        return marked > 0 ? 0
                          : err_add(err, "--grow", "no group of the program has the use %s", uses);
    }
    if (mark_uses(g, from, s, NULL, 0) == 0)
        mark_widest(g, from);
    for (uint32_t i = 0; i < from->n_groups; i++) // every rank is in it, so it cannot stay
        g->grows[i] |= g->used[i] && size_of(&from->groups[i]) == from->n_ranks;
    return 0;
}

/* ---- ranks ---- */

// Leave out the ranks beyond the kept share of a growing group.
static void keep_share(struct synth_growth *g, const struct node_group *group, uint32_t times)
{
    uint32_t size = size_of(group);
    for (uint32_t m = size / times; m < size; m++)
        g->place[member(group, m)] = NONE;
}

static int place_ranks(struct synth_growth *g, const struct node_program *from, uint32_t times,
                       struct err *err)
{
    bool narrowed = false;
    for (uint32_t i = 0; i < from->n_groups && times > 1; i++)
        if (g->grows[i] && size_of(&from->groups[i]) < from->n_ranks) {
            keep_share(g, &from->groups[i], times);
            narrowed = true;
        }
    uint32_t kept = 0, limit = narrowed ? from->n_ranks : from->n_ranks / times;
    for (uint32_t r = 0; r < from->n_ranks; r++)
        g->place[r] = r < limit && g->place[r] != NONE ? kept++ : NONE;
    g->per_replica = kept;
    if (times > 1 && kept != from->n_ranks / times)
        return err_add(err, "--ranks",
                       "the groups that grow leave %u ranks of %u, not %u: the set cannot be made "
                       "so small",
                       kept, from->n_ranks, from->n_ranks / times);
    return 0;
}

/* ---- groups ---- */

static struct node_group *group_add(struct node_program *made, const struct node_group *like,
                                    uint32_t size)
{
    struct node_group *group = &made->groups[made->n_groups++];
    *group = (struct node_group){.name = text_format("g%u", made->n_groups),
                                 .ranks = memory_zeroed(size + 1, sizeof *group->ranks),
                                 .schedule = like->schedule};
    group->schedule.n_dims = 1;
    group->schedule.dim_size[0] = size;
    return group;
}

// Append the kept members of a replica. Returns how many are left out.
static uint32_t fill(const struct synth_growth *g, const struct node_group *from, uint32_t replica,
                     struct node_group *to, uint32_t *n)
{
    uint32_t left = 0;
    for (uint32_t m = 0; m < size_of(from); m++) {
        uint32_t place = g->place[member(from, m)];
        if (place == NONE)
            left++;
        else
            to->ranks[(*n)++] = replica * g->per_replica + place;
    }
    return left;
}

static uint32_t kept_of(const struct synth_growth *g, const struct node_group *group)
{
    uint32_t kept = 0;
    for (uint32_t m = 0; m < size_of(group); m++)
        kept += g->place[member(group, m)] != NONE;
    return kept;
}

static int make_group(struct synth_growth *g, struct node_program *made,
                      const struct node_program *from, uint32_t i, struct err *err)
{
    const struct node_group *group = &from->groups[i];
    uint32_t kept = kept_of(g, group), n = 0;
    if (kept == 0 || !g->used[i])
        return 0;
    if (!g->grows[i] && kept < size_of(group))
        return err_add(err, "--ranks", "group %s would lose members, and does not grow",
                       group->name != NULL ? group->name : "of all ranks");
    struct node_group *to = NULL;
    for (uint32_t j = 0; j < g->n_replicas; j++) {
        if (to == NULL || !g->grows[i]) {
            to = group_add(made, group, g->grows[i] ? kept * g->n_replicas : kept);
            n = 0;
        }
        fill(g, group, j, to, &n);
        g->number[j * from->n_groups + i] = made->n_groups - 1;
    }
    return 0;
}

int synth_grow(struct synth_growth *g, struct node_program *made, const struct node_program *from,
               const struct synth_survey *survey, uint32_t n_ranks, const char *uses,
               struct err *err)
{
    uint32_t more = n_ranks / from->n_ranks, fewer = n_ranks > 0 ? from->n_ranks / n_ranks : 0;
    if (n_ranks == 0 ||
        (more * from->n_ranks != n_ranks && (fewer == 0 || fewer * n_ranks != from->n_ranks)))
        return err_add(err, "--ranks",
                       "must be a multiple of the %u ranks of the set, or divide them",
                       from->n_ranks);
    *g = (struct synth_growth){.n_ranks = n_ranks,
                               .of_source = from->n_ranks,
                               .source = memory_zeroed(n_ranks, sizeof *g->source),
                               .place = memory_zeroed(from->n_ranks, sizeof *g->place),
                               .n_replicas = more > 0 ? more : 1,
                               .n_source_groups = from->n_groups,
                               .grows = memory_zeroed(from->n_groups + 1, sizeof *g->grows),
                               .used = memory_zeroed(from->n_groups + 1, sizeof *g->used)};
    for (uint32_t i = 0; i < from->n_groups; i++)
        g->used[i] = survey->group_use[i] < from->n_uses;
    size_t numbers = (size_t)g->n_replicas * (from->n_groups + 1);
    g->number = memory_zeroed(numbers, sizeof *g->number);
    memset(g->number, 0xff, numbers * sizeof *g->number);
    made->groups = memory_zeroed(numbers, sizeof *made->groups);
    made->n_ranks = n_ranks;
    if (mark(g, from, survey, uses, err) != 0 ||
        place_ranks(g, from, more > 0 ? 1 : fewer, err) != 0)
        return -1;
    for (uint32_t j = 0; j < g->n_replicas; j++)
        for (uint32_t r = 0; r < from->n_ranks; r++)
            if (g->place[r] != NONE)
                g->source[j * g->per_replica + g->place[r]] = r;
    int result = 0;
    for (uint32_t i = 0; i < from->n_groups; i++)
        result |= make_group(g, made, from, i, err);
    return result;
}

uint32_t synth_growth_root(const struct synth_growth *g, const struct node_group *from,
                           uint32_t root)
{
    uint32_t before = 0;
    if (g->place[member(from, root)] == NONE)
        return NONE;
    for (uint32_t m = 0; m < root; m++)
        before += g->place[member(from, m)] != NONE;
    return before;
}

void synth_growth_free(struct synth_growth *g)
{
    free(g->source);
    free(g->place);
    free(g->grows);
    free(g->used);
    free(g->number);
}

// SPDX-License-Identifier: MIT
// Ranks that do not share a group may give the same name to different groups, as ranks of PyTorch
// do; so a group is found by its name and one of its members.
#include "workload/chakra/groups.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"

static struct trace_group *group_add(struct trace_groups *groups, const char *name)
{
    if (groups->n == groups->cap)
        groups->items = memory_grow(groups->items, &groups->cap, sizeof *groups->items);
    struct trace_group *group = &groups->items[groups->n++];
    *group = (struct trace_group){.name = memory_text(name)};
    group->member = memory_zeroed(groups->n_ranks, sizeof *group->member);
    return group;
}

static void group_all(struct trace_groups *groups, const char *name)
{
    struct trace_group *group = group_add(groups, name);
    group->n = groups->n_ranks;
    memset(group->member, 1, groups->n_ranks);
}

void trace_groups_init(struct trace_groups *groups, uint32_t n_ranks)
{
    *groups = (struct trace_groups){.n_ranks = n_ranks};
    group_all(groups, "");
}

static void group_free(struct trace_group *group)
{
    free(group->name);
    free(group->ranks);
    free(group->member);
}

void trace_groups_free(struct trace_groups *groups)
{
    for (size_t i = 0; i < groups->n; i++)
        group_free(&groups->items[i]);
    free(groups->items);
    *groups = (struct trace_groups){0};
}

static bool same_members(const struct trace_group *a, const struct trace_group *b)
{
    if (a->n != b->n || (a->ranks == NULL) != (b->ranks == NULL))
        return false;
    return a->ranks == NULL || memcmp(a->ranks, b->ranks, a->n * sizeof *a->ranks) == 0;
}

// Read the list of ranks of one group, whose earlier definition may be the same. A group of all
// ranks in order has no list.
static int group_read(struct trace_groups *groups, const char *name, const json_t *ranks,
                      const char *where, const char *path, struct err *err)
{
    if (!json_is_array(ranks))
        return err_add(err, path, "%s: group \"%s\" must be a list of ranks", where, name);
    size_t n = json_array_size(ranks);
    if (n == 0 || n > groups->n_ranks)
        return err_add(err, path, "%s: group \"%s\" lists %zu ranks of %u", where, name, n,
                       groups->n_ranks);
    struct trace_group *group = group_add(groups, name);
    group->n = (uint32_t)n;
    group->ranks = memory_zeroed(n, sizeof *group->ranks);
    bool ordered = n == groups->n_ranks;
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(ranks, i);
        json_int_t rank = json_integer_value(item);
        if (!json_is_integer(item) || rank < 0 || rank >= groups->n_ranks)
            return err_add(err, path, "%s: group \"%s\" lists a rank that is not one of %u", where,
                           name, groups->n_ranks);
        if (group->member[rank])
            return err_add(err, path, "%s: group \"%s\" lists rank %lld twice", where, name,
                           (long long)rank);
        group->member[rank] = true;
        group->ranks[i] = (uint32_t)rank;
        ordered = ordered && rank == (json_int_t)i;
    }
    if (ordered) {
        free(group->ranks);
        group->ranks = NULL;
    }
    return 0;
}

static void group_remove_last(struct trace_groups *groups)
{
    group_free(&groups->items[--groups->n]);
}

int trace_groups_read(struct trace_groups *groups, const char *file, const char *path,
                      struct err *err)
{
    json_error_t error;
    int result = 0;
    const char *name, *why;
    FILE *in = regular_file_stream(file, &why);
    if (in == NULL)
        return err_add(err, path, "%s cannot be opened: %s", file, why);
    json_t *root = json_loadf(in, JSON_REJECT_DUPLICATES, &error), *ranks;
    fclose(in);
    if (root == NULL)
        return err_add(err, path, "%s, line %d: %s", file, error.line, error.text);
    if (!json_is_object(root))
        result = err_add(err, path, "%s must be an object of groups: {\"1\": [0, 1]}", file);
    json_object_foreach(root, name, ranks)
    {
        if (name[0] == '\0' || strcmp(name, "0") == 0)
            result =
                err_add(err, path, "%s: \"%s\" always names the group of all ranks", file, name);
        else if (group_read(groups, name, ranks, file, path, err) != 0)
            result = -1;
    }
    json_decref(root);
    return result;
}

static int item_read(struct trace_groups *groups, const json_t *item, const char *where,
                     const char *path, struct err *err)
{
    const char *name = json_string_value(json_object_get(item, "pg_name"));
    const json_t *ranks = json_object_get(item, "ranks");
    if (name == NULL || ranks == NULL || name[0] == '\0' || strcmp(name, "0") == 0)
        return 0;
    size_t before = groups->n;
    if (json_is_array(ranks) && json_array_size(ranks) == 0)
        group_all(groups, name);
    else if (group_read(groups, name, ranks, where, path, err) != 0)
        return -1;
    for (size_t i = 1; i < before; i++) {
        const struct trace_group *other = &groups->items[i], *added = &groups->items[before];
        if (strcmp(other->name, name) == 0 && same_members(other, added)) {
            group_remove_last(groups); // every member lists it
            return 0;
        }
        for (uint32_t r = 0; r < groups->n_ranks && strcmp(other->name, name) == 0; r++)
            if (other->member[r] && added->member[r])
                return err_add(err, path,
                               "%s: group \"%s\" has other ranks than where it is defined "
                               "first, and both have rank %u",
                               where, name, r);
    }
    return 0;
}

int trace_groups_metadata(struct trace_groups *groups, const char *text, const char *where,
                          const char *path, struct err *err)
{
    size_t length = strlen(text), i;
    int result = 0;
    if (length < 4)
        return 0;
    json_t *list = json_loadb(text + 2, length - 4, 0, NULL), *item;
    json_array_foreach(list, i, item)
    {
        if (item_read(groups, item, where, path, err) != 0)
            result = -1;
    }
    json_decref(list);
    return result;
}

const struct trace_group *trace_groups_find(const struct trace_groups *groups, const char *name,
                                            uint32_t rank, bool *exists)
{
    *exists = name[0] == '\0' || strcmp(name, "0") == 0;
    if (*exists)
        return &groups->items[0];
    size_t guess = strtoul(name, NULL, 10); // groups are often named by their number
    if (guess < groups->n && guess > 0 && groups->items[guess].member[rank] &&
        strcmp(groups->items[guess].name, name) == 0) {
        *exists = true;
        return &groups->items[guess];
    }
    for (size_t i = 1; i < groups->n; i++)
        if (strcmp(groups->items[i].name, name) == 0) {
            *exists = true;
            if (groups->items[i].member[rank])
                return &groups->items[i];
        }
    return NULL;
}

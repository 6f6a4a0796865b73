// SPDX-License-Identifier: MIT
// "algorithm": "ring", or {"all_reduce": "double_binary_tree", "all_to_all": "direct"}.
#include "config/group_algorithms.h"

#include <string.h>

#include "collective/grid.h"
#include "config/schema_parts.h"

static const struct coll_choice *choice_named(const struct group_choice *choice, const char *name)
{
    for (size_t i = 0; coll_registry[i] != NULL; i++)
        if (strcmp(coll_registry[i]->name, name) == 0)
            return &choice->algorithms[i];
    return NULL;
}

static void read_name(struct reader *r, const struct place *place,
                      const struct group_choice *choice, struct coll_choice *out)
{
    struct keys words = {0};
    for (size_t i = 0; coll_registry[i] != NULL; i++)
        keys_add(&words, coll_registry[i]->name);
    int word = read_word(r, place, "algorithm", words.names);
    if (word >= 0)
        *out = choice->algorithms[word];
}

void group_algorithms_read(struct reader *r, const struct place *place, struct keys *keys,
                           struct group_choice *choice)
{
    struct place at = place_key(place, "algorithm");
    struct keys ops = {0};
    algorithms_read(r, place, keys, choice->algorithms);
    keys_add(keys, "algorithm");
    for (unsigned op = 0; op < COLL_OPS; op++) {
        choice->by_op[op] = *choice_named(choice, op == COLL_ALL_TO_ALL ? "direct" : "ring");
        keys_add(&ops, coll_op_name((enum coll_op)op));
    }
    if (at.json == NULL)
        return;
    if (!json_is_object(at.json)) {
        read_name(r, &at, choice, &choice->by_op[0]);
        for (unsigned op = 1; op < COLL_OPS; op++)
            choice->by_op[op] = choice->by_op[0];
        return;
    }
    keys_check(r, &at, &ops);
    for (unsigned op = 0; op < COLL_OPS; op++) {
        struct place item = place_key(&at, coll_op_name((enum coll_op)op));
        if (item.json != NULL)
            read_name(r, &item, choice, &choice->by_op[op]);
    }
}

void group_algorithms_write(json_t *json, const struct group_choice *choice)
{
    json_t *all = json_object();
    algorithms_write(json, choice->algorithms);
    for (unsigned op = 0; op < COLL_OPS; op++)
        json_object_set_new(all, coll_op_name((enum coll_op)op),
                            json_string(choice->by_op[op].algorithm->name));
    json_object_set_new(json, "algorithm", all);
}

void group_algorithms_schema(json_t *object)
{
    struct keys names = {0};
    json_t *each = schema_object();
    algorithms_schema(object);
    for (size_t i = 0; coll_registry[i] != NULL; i++)
        keys_add(&names, coll_registry[i]->name);
    for (unsigned op = 0; op < COLL_OPS; op++)
        schema_key(each, coll_op_name((enum coll_op)op), schema_words(names.names), false);
    schema_key(object, "algorithm",
               json_pack("{s:[o,o]}", "anyOf", schema_words(names.names), each), false);
}

// Check all pairs of members that exchange messages, up to the first that no dimension connects.
static bool pairs_check(struct reader *r, const struct place *place, const struct job_spec *job,
                        const struct coll_choice *choice, const struct coll_shape *shape,
                        const uint32_t *members)
{
    const struct coll_algorithm *a = choice->algorithm;
    struct coll_shape fallback = *shape;
    fallback.params = NULL;
    if (a->fallback) // where aggregators are missing; they reach all ranks of their dimension
        a = coll_find(a->fallback), shape = &fallback;
    uint32_t steps = a->steps(shape);
    for (uint32_t step = 0; step < steps; step++)
        for (uint32_t m = 0; m < shape->ranks; m++) {
            uint32_t n = a->n_sends(shape, m, step);
            for (uint32_t k = 0; k < n; k++) {
                uint32_t peer = a->send(shape, m, step, k).peer;
                if (!pair_check(r, place, job, members ? members[m] : m,
                                members ? members[peer] : peer))
                    return false;
            }
        }
    return true;
}

bool group_check(struct reader *r, const struct place *place, const struct job_spec *job,
                 const struct coll_schedule *s, enum coll_op op, uint64_t bytes,
                 const struct coll_uneven *uneven, const uint32_t *members)
{
    const struct coll_choice *choice = &s->choice[op][0];
    const char *why = "";
    struct coll_shape shape = {.op = op,
                               .ranks = coll_ranks(s),
                               .bytes = bytes,
                               .params = choice->params,
                               .inner = 1,
                               .uneven = uneven};
    if (shape.ranks < 2)
        return true;
    if (!choice->algorithm->supports(&shape, &why))
        return place_error(r->err, place, "%s cannot run %s over %u ranks: %s",
                           choice->algorithm->name, coll_op_name(op), shape.ranks, why) == 0;
    for (uint32_t d = 0; d < r->ranks.n_dims; d++)
        if (r->ranks.n_dims == 1 || r->ranks.dim_fabric[d])
            return true; // it connects all ranks
    return pairs_check(r, place, job, choice, &shape, members);
}

// SPDX-License-Identifier: MIT
// "algorithm": "ring", or {"all_reduce": "double_binary_tree", "all_to_all": "direct"}.
#include "workload/read/group_algorithms.h"

#include "collective/algorithm/grid.h"
#include "engine/text/schema_parts.h"

// A name that is not known leaves the operation's default, so that reading can go on.
static void choose(struct reader *r, const struct place *place, struct group_choice *choice,
                   unsigned op)
{
    struct coll_choice read = algorithm_read(r, place, choice->algorithms);
    if (read.algorithm != NULL)
        choice->by_op[op] = read;
}

void group_algorithms_read(struct reader *r, const struct place *place, struct group_choice *choice)
{
    struct place at = place_key(place, "algorithm");
    struct keys ops = {0};
    algorithms_read(r, place, choice->algorithms);
    executor_read(r, place, &choice->library);
    for (unsigned op = 0; op < COLL_OPS; op++) {
        choice->by_op[op] =
            algorithm_named(choice->algorithms, op == COLL_ALL_TO_ALL ? "direct" : "ring");
        keys_add(&ops, coll_op_name((enum coll_op)op));
    }
    if (at.json == NULL)
        return;
    if (executor_is_given(&choice->library))
        place_error(r->err, &at, "is decided by the library: leave it out");
    if (!json_is_object(at.json)) {
        choose(r, &at, choice, 0);
        for (unsigned op = 1; op < COLL_OPS; op++)
            choice->by_op[op] = choice->by_op[0];
        return;
    }
    keys_check(r, &at, &ops);
    for (unsigned op = 0; op < COLL_OPS; op++) {
        struct place item = place_key(&at, coll_op_name((enum coll_op)op));
        if (item.json != NULL)
            choose(r, &item, choice, op);
    }
}

void group_algorithms_write(json_t *json, const char *key, const void *value, const json_t *given)
{
    const struct group_choice *choice = value;
    (void)given;
    if (executor_is_given(&choice->library))
        return;
    json_t *all = json_object();
    for (unsigned op = 0; op < COLL_OPS; op++)
        json_object_set_new(all, coll_op_name((enum coll_op)op),
                            json_string(choice->by_op[op].algorithm->name));
    json_object_set_new(json, key, all);
}

json_t *group_algorithms_schema(void)
{
    struct keys names = {0};
    json_t *each = schema_object();
    algorithm_words(&names);
    for (unsigned op = 0; op < COLL_OPS; op++)
        schema_key(each, coll_op_name((enum coll_op)op), schema_words(names.names), false);
    return json_pack("{s:[o,o]}", "anyOf", schema_words(names.names), each);
}

bool group_check(struct reader *r, const struct place *place, const struct job_spec *job,
                 const struct coll_schedule *s, struct coll_shape shape, const uint32_t *members)
{
    const struct coll_choice *choice = &s->choice[shape.op][0];
    shape.ranks = coll_ranks(s);
    shape.params = choice->params;
    shape.inner = 1;
    if (s->library != NULL && shape.uneven != NULL) {
        place_error(r->err, place, "the library's all-to-all has no vectors of different sizes");
        return false;
    }
    if (s->library != NULL) {
        shape.bytes = EXECUTOR_ANY_BYTES; // the next operation of the group may have others
        return executor_check(r, place, job, s->library, &shape, members);
    }
    return shape.ranks < 2 || (algorithm_supports(r, place, choice->algorithm, &shape) &&
                               algorithm_pairs(r, place, job, choice->algorithm, shape, members));
}

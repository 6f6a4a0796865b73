// SPDX-License-Identifier: MIT
// Algorithms combined with their settings.
#include <string.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/schedule.h"
#include "engine/base/assert.h"

const struct param coll_pieces_params[] = {
    {.name = "pieces",
     .type = PARAM_COUNT,
     .def = "auto",
     .min = "1",
     .max = "65536",
     .can_auto = true,
     .help = "trees and chains: the vector goes in so many, one behind the other; auto = one in "
             "a tree, as many as ranks along a ring, and as NCCL cuts them (32 to 512 KiB) in a "
             "double binary tree"},
    {.name = NULL},
};

struct coll_choice coll_choice_of(const struct coll_algorithm *algorithm)
{
    struct coll_choice choice = {.algorithm = algorithm};
    if (algorithm == NULL)
        return choice;
    if (algorithm->params_bytes > COLL_PARAMS_BYTES)
        sim_assert_fail("the settings of an algorithm fit", __FILE__, __LINE__, 0, -1);
    params_default(algorithm->params, algorithm->n_params, choice.params);
    return choice;
}

const struct coll_choice *coll_choice_at(const struct coll_schedule *s, enum coll_op op,
                                         const struct coll_phase *phase)
{
    return &s->choice[s->by_operation ? op : phase->op][phase->dim];
}

bool coll_choice_set(struct coll_choice *choice, const char *key, const char *text)
{
    const struct coll_algorithm *a = choice->algorithm;
    struct err err = {0};
    struct param param = {0};
    if (a != NULL)
        param = param_find(a->params, a->n_params, key);
    if (param.name == NULL)
        return false;
    if (param_set(&param, choice->params, text, key, &err) != 0)
        sim_assert_fail("a setting of an algorithm is in range", __FILE__, __LINE__, 0, -1);
    return true;
}

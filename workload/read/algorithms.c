// SPDX-License-Identifier: MIT
// Settings of collective algorithms as keys of a job: a job has the keys of all algorithms,
// whichever it uses.
//
// If several algorithms have a key of the same name, the job's key sets it in all of them.
#include <string.h>

#include "engine/base/assert.h"
#include "engine/text/schema_parts.h"
#include "workload/read/algorithms.h"
#include "workload/read/job_ranks.h"

// The choice of the first algorithm before number `n` that has a setting of this name, or NULL.
static const struct coll_choice *earlier(const struct coll_choice *choices, size_t n,
                                         const char *key)
{
    for (size_t i = 0; i < n; i++) {
        const struct coll_algorithm *a = choices[i].algorithm;
        if (param_find(a->params, a->n_params, key).name != NULL)
            return &choices[i];
    }
    return NULL;
}

void algorithm_words(struct keys *words)
{
    for (size_t i = 0; coll_registry[i] != NULL; i++)
        keys_add(words, coll_registry[i]->name);
}

struct coll_choice algorithm_read(struct reader *r, const struct place *place,
                                  const struct coll_choice *choices)
{
    struct keys words = {0};
    algorithm_words(&words);
    int word = read_word(r, place, "algorithm", words.names);
    return word >= 0 ? choices[word] : coll_choice_of(NULL);
}

struct coll_choice algorithm_named(const struct coll_choice *choices, const char *name)
{
    while (strcmp(choices->algorithm->name, name) != 0)
        choices++;
    return *choices;
}

static void choices_init(struct coll_choice *choices)
{
    for (size_t i = 0; coll_registry[i] != NULL; i++) {
        if (i == COLL_ALGORITHMS_MAX)
            sim_assert_fail("the collective algorithms fit", __FILE__, __LINE__, 0, -1);
        choices[i] = coll_choice_of(coll_registry[i]);
    }
}

void algorithms_read(struct reader *r, const struct place *place, struct keys *keys,
                     struct coll_choice *choices)
{
    choices_init(choices);
    for (size_t i = 0; coll_registry[i] != NULL; i++) {
        const struct coll_algorithm *a = coll_registry[i];
        struct param_walk walk = params_walk(a->params, a->n_params);
        for (const struct param *param; (param = params_next(&walk)) != NULL;) {
            const struct coll_choice *first = earlier(choices, i, param->name);
            if (first == NULL) {
                read_params(r, place, keys, param, 1, choices[i].params);
                continue;
            }
            char text[PARAM_TEXT_MAX];
            struct param same =
                param_find(first->algorithm->params, first->algorithm->n_params, param->name);
            coll_choice_set(&choices[i], param->name, param_text(&same, first->params, text));
        }
    }
}

void algorithms_write(json_t *json, const struct coll_choice *choices)
{
    for (size_t i = 0; coll_registry[i] != NULL; i++) {
        const struct coll_algorithm *a = coll_registry[i];
        struct param_walk walk = params_walk(a->params, a->n_params);
        for (const struct param *param; (param = params_next(&walk)) != NULL;)
            if (earlier(choices, i, param->name) == NULL)
                write_params(json, param, 1, choices[i].params);
    }
}

void algorithms_schema(json_t *object)
{
    struct coll_choice choices[COLL_ALGORITHMS_MAX];
    choices_init(choices);
    for (size_t i = 0; coll_registry[i] != NULL; i++) {
        const struct coll_algorithm *a = coll_registry[i];
        struct param_walk walk = params_walk(a->params, a->n_params);
        for (const struct param *param; (param = params_next(&walk)) != NULL;)
            if (earlier(choices, i, param->name) == NULL)
                schema_params(object, param, 1);
    }
}

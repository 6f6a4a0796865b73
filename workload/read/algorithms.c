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

size_t algorithms_table(struct param rows[ALGORITHM_ROWS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; coll_registry[i] != NULL; i++) {
        struct param_walk walk = params_walk(coll_registry[i]->params, coll_registry[i]->n_params);
        for (const struct param *param; (param = params_next(&walk)) != NULL;) {
            if (param_find(rows, n, param->name).name != NULL)
                continue;
            struct param row = *param;
            row.offset += i * sizeof(struct coll_choice) + offsetof(struct coll_choice, params);
            if (n < ALGORITHM_ROWS_MAX)
                rows[n++] = row;
            else
                sim_assert_fail("the settings of algorithms fit", __FILE__, __LINE__, 0, -1);
        }
    }
    return n;
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

void algorithms_read(struct reader *r, const struct place *place, struct coll_choice *choices)
{
    struct param rows[ALGORITHM_ROWS_MAX];
    size_t n = algorithms_table(rows);
    struct keys keys = {0}; // the job checks its keys
    char text[PARAM_TEXT_MAX];
    choices_init(choices);
    read_params(r, place, &keys, rows, n, choices);
    for (size_t s = 0; s < n; s++)
        for (size_t i = rows[s].offset / sizeof *choices + 1; coll_registry[i] != NULL; i++)
            coll_choice_set(&choices[i], rows[s].name, param_text(&rows[s], choices, text));
}

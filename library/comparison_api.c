// SPDX-License-Identifier: MIT
// Runs side by side, from their metrics.
#include "report/comparison/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "library/handles.h"
#include "library/plain_locale.h"
#include "report/metrics_brief.h"

// Rows borrow the names of their runs.
struct run_names {
    char *scenario, *policy;
};

struct collwire_comparison {
    struct rows rows;
    struct run_names *runs;
    size_t n;
};

struct collwire_comparison *collwire_comparison_new(void)
{
    return memory_zeroed(1, sizeof(struct collwire_comparison));
}

void collwire_comparison_free(struct collwire_comparison *c)
{
    if (!c)
        return;
    rows_free(&c->rows);
    for (size_t i = 0; i < c->n; i++) {
        free(c->runs[i].scenario);
        free(c->runs[i].policy);
    }
    free(c->runs);
    free(c);
}

int collwire_comparison_add(struct collwire_comparison *c, const char *policy, const char *metrics)
{
    struct plain_locale locale = plain_locale_begin();
    json_t *brief = metrics_brief(metrics);
    const char *name = json_string_value(json_object_get(brief, "name"));
    int status = name ? 0 : -1;
    if (name) {
        json_int_t seed = json_integer_value(json_object_get(brief, "seed"));
        c->runs = memory_resize(c->runs, c->n + 1, sizeof *c->runs);
        struct run_names *run = &c->runs[c->n++];
        *run = (struct run_names){memory_text(name), memory_text(policy)};
        rows_add(&c->rows, &(struct row_source){.scenario = run->scenario,
                                                .policy = run->policy,
                                                .seed = (uint64_t)seed,
                                                .metrics = metrics});
    }
    json_decref(brief);
    plain_locale_end(locale);
    return status;
}

// The baseline's name among the runs; NULL if there is none of that name.
static const char *baseline_of(const struct collwire_comparison *c, const char *wanted)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->runs[i].policy, wanted ? wanted : "none") == 0)
            return c->runs[i].policy;
    return wanted || c->n == 0 ? NULL : c->runs[0].policy;
}

// Returns the names of the scenarios, each once, to be freed.
static const char **scenario_names(const struct collwire_comparison *c, size_t *n)
{
    const char **names = memory_zeroed(c->n, sizeof *names);
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        size_t k = 0;
        while (k < *n && strcmp(names[k], c->runs[i].scenario) != 0)
            k++;
        if (k == *n)
            names[(*n)++] = c->runs[i].scenario;
    }
    return names;
}

static char *document(const struct collwire_comparison *c, const char *baseline)
{
    struct comparison_about about = {.baseline = baseline};
    const char **names = scenario_names(c, &about.n_scenarios);
    about.scenarios = names;
    struct comparison *comparison = comparison_new(&c->rows, baseline);
    about.seeds = comparison->n_seeds;
    char *text = comparison_document(&about, &c->rows, comparison);
    comparison_free(comparison);
    free(names);
    return text;
}

char *collwire_comparison_result(const struct collwire_comparison *c, const char *baseline,
                                 const char *file)
{
    struct plain_locale locale = plain_locale_begin();
    const char *name = baseline_of(c, baseline);
    char *text = NULL;
    if (name && strcmp(file, "compare.json") == 0)
        text = document(c, name);
    else if (name && strcmp(file, "compare.csv") == 0)
        text = rows_csv(&c->rows);
    plain_locale_end(locale);
    return text;
}

// SPDX-License-Identifier: MIT
// Random scenarios and what two runs of one have to have in common.
#include "tests/support/same_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/text.h"
#include "report/metrics.h"

void same_bytes_scenario(struct fixture *f, uint64_t seed, int feature)
{
    if (feature != ANY_FEATURE)
        random_feature(f, seed, (enum random_feature)feature);
    else if (seed % 3 == 0)
        random_bounds(f, seed);
    else
        random_any(f, seed);
}

// The text of a timeline; NULL = none is recorded.
static char *timeline_of(const struct result *r)
{
    struct text text;
    FILE *out = text_open(&text);
    bool any = timeline_json(out, r);
    char *all = text_close(out, &text);
    if (any)
        return all;
    free(all);
    return NULL;
}

struct outcome outcome_of(const struct result *r)
{
    return (struct outcome){.metrics = metrics_json(r, "{}"), .timeline = timeline_of(r)};
}

void outcome_free(struct outcome *o)
{
    free(o->metrics);
    free(o->timeline);
}

static bool differ(const char *what, const char *one, const char *more)
{
    size_t at = 0, line = 0;
    if ((one == NULL) != (more == NULL) || one == NULL || strcmp(one, more) == 0)
        return (one == NULL) != (more == NULL);
    for (; one[at] == more[at]; at++)
        line = one[at] == '\n' ? at : line;
    line = at - line > 200 ? at - 100 : line;
    print_error("%s:\n%.300s\n...%.300s\n", what, one + line, more + line);
    return true;
}

bool outcomes_differ(const struct outcome *one, const struct outcome *more)
{
    bool differs = differ("metrics", one->metrics, more->metrics);
    return differ("timeline", one->timeline, more->timeline) || differs;
}

uint64_t same_bytes_scenarios(uint64_t n)
{
    const char *given = getenv("COLLWIRE_RANDOM"), *sanitized = getenv("COLLWIRE_SANITIZED");
    if (given)
        return strtoull(given, NULL, 10);
    return sanitized && strcmp(sanitized, "ON") == 0 ? n / 4 : n;
}

void same_bytes_each(uint64_t n, void (*compare)(uint64_t seed, int feature, void *sums),
                     int feature, void *sums)
{
    const char *given = getenv("COLLWIRE_SEED");
    uint64_t first = given ? strtoull(given, NULL, 10) : 1;
    for (uint64_t seed = first; seed < first + n; seed++) {
        if (given)
            print_error("seed %llu\n", (unsigned long long)seed);
        compare(seed, feature, sums);
    }
}

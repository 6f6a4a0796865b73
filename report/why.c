// SPDX-License-Identifier: MIT
// Compares the critical paths of two runs.
#include "report/why.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "report/critical.h"
#include "report/metric_parts.h"

#define SAME 0.001     // runs whose times differ by at most this share count as equal
#define NAMED 3        // causes that are named
#define NAMED_MIN 0.05 // of the difference

static int64_t ns_at(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

struct change {
    enum path_cause cause;
    int64_t ns; // b - a
};

static int by_size(const void *x, const void *y)
{
    int64_t of_x = llabs(((const struct change *)x)->ns),
            of_y = llabs(((const struct change *)y)->ns);
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return (int)((const struct change *)x)->cause - (int)((const struct change *)y)->cause;
}

static void changes_of(const json_t *a, const json_t *b, struct change changes[PATH_CAUSES])
{
    const json_t *from = json_object_get(a, "parts"), *to = json_object_get(b, "parts");
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++) {
        const char *key = life_table.list[cause].key;
        changes[cause] = (struct change){(enum path_cause)cause, ns_at(to, key) - ns_at(from, key)};
    }
    qsort(changes, PATH_CAUSES, sizeof *changes, by_size);
}

// Number of iterations behind the total time of a training job, the only one of its run; else 0.
static size_t iterations_of(const json_t *metrics)
{
    return json_array_size(json_object_get(json_object_get(metrics, "training"), "iterations"));
}

static char *difference(size_t iterations, const json_t *a, const char *name_a, const json_t *b,
                        const char *name_b)
{
    int64_t of_a = ns_at(a, "total_ns"), of_b = ns_at(b, "total_ns");
    char time_a[UNIT_TEXT], time_b[UNIT_TEXT], more[UNIT_TEXT];
    struct change changes[PATH_CAUSES];
    struct text text;
    FILE *out = text_open(&text);
    double ratio = (double)of_b / (double)of_a;
    human_time(of_a * PS_PER_NS, time_a);
    human_time(of_b * PS_PER_NS, time_b);
    fprintf(out, "%s took %.*f times as long as %s (%s against %s", name_b, ratio < 10 ? 2 : 0,
            ratio, name_a, time_b, time_a);
    if (iterations > 1)
        fprintf(out, " for %zu iterations", iterations);
    fputc(')', out);
    changes_of(a, b, changes);
    for (unsigned i = 0; i < NAMED; i++) {
        // Changes are sorted by size, so no later one reaches the share.
        if ((double)llabs(changes[i].ns) < NAMED_MIN * (double)llabs(of_b - of_a))
            break;
        fprintf(out, "%s %s %s %s", i == 0 ? ":" : ",",
                human_time((ps_t)llabs(changes[i].ns) * PS_PER_NS, more),
                changes[i].ns > 0 ? "more" : "less", path_cause_phrase(changes[i].cause));
    }
    return text_close(out, &text);
}

// For each cause on the critical path, the kinds of reasons (`reasons[].kind`) that can explain it.
static const char *const kinds_behind[PATH_CAUSES][3] = {
    [PATH_COMPUTE] = {"straggler"},
    [PATH_WINDOW] = {"cuts", "window"},
    [PATH_ACK_DELAY] = {"ack_delay"},
    [PATH_PACE] = {"cuts"},
    [PATH_PAUSED] = {"victims", "pfc"},
    [PATH_TIMEOUT] = {"timeouts"},
    [PATH_RESENDING] = {"timeouts"},
    [PATH_QUEUED] = {"paths", "pfc", "nic"},
    [PATH_HOST] = {"nic"},
    [PATH_STACK] = {"host"},
};

static const char *sentence_of(const json_t *reasons, const char *kind)
{
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const json_t *reason = json_array_get(reasons, i);
        const char *of = json_string_value(json_object_get(reason, "kind"));
        if (of && strcmp(of, kind) == 0)
            return json_string_value(json_object_get(reason, "sentence"));
    }
    return NULL;
}

// Returns the sentence for the largest cause that made `slow` take longer than `fast`, or NULL.
static const char *mechanism(const json_t *fast, const json_t *slow)
{
    struct change changes[PATH_CAUSES];
    const json_t *reasons = json_object_get(slow, "reasons");
    changes_of(json_object_get(fast, "slowest"), json_object_get(slow, "slowest"), changes);
    for (unsigned i = 0; i < PATH_CAUSES; i++)
        for (unsigned k = 0; k < 3 && changes[i].ns > 0; k++) {
            const char *kind = kinds_behind[changes[i].cause][k];
            const char *sentence = kind ? sentence_of(reasons, kind) : NULL;
            if (sentence)
                return sentence;
        }
    return NULL;
}

static const char *name_of(const json_t *slowest)
{
    return json_string_value(json_object_get(slowest, "name"));
}

// Flows differ from run to run; other things that ended last must be the same to be compared.
static bool same_work(const json_t *a, const json_t *b)
{
    const char *kind = json_string_value(json_object_get(a, "kind"));
    if (!json_equal(json_object_get(a, "job"), json_object_get(b, "job")))
        return false;
    return (kind && strcmp(kind, "flow") == 0) ||
           json_equal(json_object_get(a, "name"), json_object_get(b, "name"));
}

char **why_differs(const json_t *a, const char *name_a, const json_t *b, const char *name_b,
                   size_t *n)
{
    const json_t *slow_a = json_object_get(a, "slowest"), *slow_b = json_object_get(b, "slowest");
    int64_t of_a = ns_at(slow_a, "total_ns"), of_b = ns_at(slow_b, "total_ns");
    *n = 0;
    if (of_a > 0 && of_b > 0 && !same_work(slow_a, slow_b)) {
        char **one = memory_zeroed(1, sizeof *one);
        one[(*n)++] =
            text_format("what ended last differs: %s of job %lld in %s, %s of job %lld in %s; "
                        "compare runs of one job",
                        name_of(slow_a), (long long)ns_at(slow_a, "job"), name_a, name_of(slow_b),
                        (long long)ns_at(slow_b, "job"), name_b);
        return one;
    }
    if (of_a <= 0 || of_b <= 0 || fabs((double)(of_b - of_a)) <= SAME * (double)of_a)
        return NULL;
    char **sentences = memory_zeroed(2, sizeof *sentences);
    bool slower = of_b > of_a;
    // Times of several iterations can be compared only where both runs have equally many.
    sentences[(*n)++] = difference(iterations_of(a) == iterations_of(b) ? iterations_of(a) : 0,
                                   slow_a, name_a, slow_b, name_b);
    const char *why = mechanism(slower ? a : b, slower ? b : a);
    const char *name = slower ? name_b : name_a;
    if (why && strncmp(why, name, strcspn(name, " ")) == 0) // the policy is named already
        sentences[(*n)++] = memory_text(why);
    else if (why)
        sentences[(*n)++] = text_format("%s: %s", name, why);
    return sentences;
}

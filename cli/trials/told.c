// SPDX-License-Identifier: MIT
#include "cli/trials/told.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

#define SAVES_FROM 0.01 // share of the job's time from which a change saves something

// The trial with these settings, which several reasons may have; NULL = there is none.
static struct trial *trial_with(const struct trials *t, const json_t *set)
{
    for (size_t i = 0; i < t->n && json_array_size(set) > 0; i++)
        if (json_equal(t->list[i].set, set))
            return &t->list[i];
    return NULL;
}

void told_choose(struct trials *t, size_t n)
{
    size_t i;
    json_t *reason;
    json_array_foreach(json_object_get(t->metrics, "reasons"), i, reason)
    {
        const json_t *set = json_object_get(reason, "set");
        if (t->n == n || json_array_size(set) == 0 || trial_with(t, set))
            continue;
        t->list = memory_resize(t->list, t->n + 1, sizeof *t->list);
        t->list[t->n++] = (struct trial){.set = set};
    }
}

/* ---- one reason ---- */

static json_int_t time_in(const struct trial *one, size_t job)
{
    return one->times_ns ? one->times_ns[job] : -1; // interrupted before it began
}

// What a trial did to the job that it helped most, or harmed least.
struct effect {
    size_t job;
    json_int_t before_ns, saved_ns;
    double share; // saved, of the job's time
};

static struct effect effect_of(const struct trial *one, const struct trials *t)
{
    struct effect best = {.share = -INFINITY};
    for (size_t j = 0; j < trial_jobs(t->metrics); j++) {
        json_int_t before = trials_before_ns(t, j), then = time_in(one, j);
        if (before <= 0 || then < 0)
            continue;
        double share = (double)(before - then) / (double)before;
        if (share > best.share)
            best = (struct effect){j, before, before - then, share};
    }
    return best;
}

static const char *job_name(const json_t *metrics, size_t job, char text[32])
{
    const json_t *one = json_array_get(json_object_get(metrics, "jobs"), job);
    const char *name = json_string_value(json_object_get(one, "name"));
    snprintf(text, 32, "%zu", job);
    return name && *name ? name : text;
}

static void print_effect(FILE *out, const json_t *metrics, const struct effect *e)
{
    char time[UNIT_TEXT], number[32];
    if (trial_jobs(metrics) > 1)
        fprintf(out, "job %s takes ", job_name(metrics, e->job, number));
    human_time((e->saved_ns < 0 ? -e->saved_ns : e->saved_ns) * PS_PER_NS, time);
    if (e->share >= SAVES_FROM)
        fprintf(out, "%s less (%.0f %%)", time, 100 * e->share);
    else if (e->share > -SAVES_FROM)
        fputs(trial_jobs(metrics) > 1 ? "as long" : "it takes as long", out);
    else
        fprintf(out, "%s longer", time);
}

// Jobs that a change harms while it helps another.
static void print_harmed(FILE *out, const struct trials *t, const struct trial *one,
                         const struct effect *best)
{
    const json_t *metrics = t->metrics;
    char time[UNIT_TEXT], number[32];
    for (size_t j = 0; j < trial_jobs(metrics); j++) {
        json_int_t before = trials_before_ns(t, j), then = time_in(one, j);
        if (j == best->job || before <= 0 || then < 0 ||
            (double)(then - before) < SAVES_FROM * (double)before)
            continue;
        fprintf(out, ", job %s %s longer", job_name(metrics, j, number),
                human_time((then - before) * PS_PER_NS, time));
    }
}

static bool is_kind(const json_t *reason, const char *kind)
{
    return strcmp(json_string_value(json_object_get(reason, "kind")), kind) == 0;
}

// True for a trial that gives a choice back to the library, as library.algo=auto does, which the
// user has made.
static bool is_forced(const json_t *reason)
{
    bool gives_back = false;
    size_t i;
    const json_t *setting;
    json_array_foreach(json_object_get(reason, "set"), i, setting)
    {
        const char *value = strrchr(json_string_value(setting), '=');
        gives_back |= value && strcmp(value, "=auto") == 0;
    }
    return gives_back && is_kind(reason, "library");
}

static char *sentence_of(const json_t *reason, const struct trial *one, const struct trials *t,
                         const struct effect *e)
{
    static const char *const ends[] = {
        [TRIAL_NOT_RUN] = "not tried",
        [TRIAL_CUT] = "tried, and cut off after twice the packets of the run",
        [TRIAL_REFUSED] = "not tried, since the scenario is not valid with these settings",
        [TRIAL_FAILED] = "tried, but the run did not complete"};
    struct text text;
    FILE *out = text_open(&text);
    fprintf(out, "%s; %s: ", json_string_value(json_object_get(reason, "seen")),
            json_string_value(json_object_get(reason, "change")));
    if (one->end == TRIAL_DONE && e->before_ns > 0) {
        fputs(t->before_ns ? "tried on the hybrid network, " : "tried, ", out);
        print_effect(out, t->metrics, e);
        print_harmed(out, t, one, e);
        if (e->share <= -SAVES_FROM && is_forced(reason))
            fprintf(out, ": the setting beats the library's own choice by %.0f %%",
                    -100 * e->share);
    } else {
        fputs(ends[one->end == TRIAL_DONE ? TRIAL_FAILED : one->end], out);
    }
    return text_close(out, &text);
}

/* ---- all of them ---- */

// A sentence among those of the run. Sentences with the highest rank come first; those of equal
// rank, such as all that were not tried, keep their order.
struct told {
    json_t *sentence, *reason; // borrowed; reason: NULL = none
    double rank;
};

static void put(struct told *list, size_t n, struct told one)
{
    for (; n > 0 && list[n - 1].rank < one.rank; n--)
        list[n] = list[n - 1];
    list[n] = one;
}

// Ranks beside those by savings: faster hardware, which always helps, comes after every cause; and
// a user's setting that is better than the library's choice before other changes that save nothing.
#define UPGRADE 0.5
#define BEATS (-0.5)

// The rank of a reason: what a trial saved comes first, then what was not tried, then what saved
// nothing.
static double rank_of(const json_t *reason, const struct trial *one, const struct effect *e)
{
    if (one->end == TRIAL_NOT_RUN || one->end == TRIAL_REFUSED)
        return 0;
    if (one->end == TRIAL_DONE && e->share <= -SAVES_FROM && is_forced(reason))
        return BEATS;
    if (one->end != TRIAL_DONE || e->share < SAVES_FROM)
        return -1;
    return is_kind(reason, "rate") ? UPGRADE : 1 + e->share;
}

static double tell(json_t *reason, const struct trial *one, const struct trials *t, json_t *explain)
{
    struct effect e = effect_of(one, t);
    bool known = one->end == TRIAL_DONE && e.before_ns > 0,
         tried = one->end == TRIAL_DONE || one->end == TRIAL_CUT || one->end == TRIAL_FAILED;
    char *sentence = sentence_of(reason, one, t, &e);
    size_t i;
    json_t *said;
    json_array_foreach(explain, i, said)
    {
        if (json_equal(said, json_object_get(reason, "sentence")))
            json_array_set_new(explain, i, json_string(sentence));
    }
    if (known)
        json_object_set_new(reason, "job", json_integer((json_int_t)e.job));
    json_object_set_new(reason, "tried", json_boolean(tried));
    json_object_set_new(reason, "saved_ns", known ? json_integer(e.saved_ns) : json_null());
    json_object_set_new(reason, "sentence", json_string(sentence));
    free(sentence);
    return rank_of(reason, one, &e);
}

static json_t *in_order(const struct told *list, size_t n, bool reasons)
{
    json_t *ordered = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append(ordered, reasons ? list[i].reason : list[i].sentence);
    return ordered;
}

static double rank_in(const struct told *reasons, size_t n, const json_t *sentence)
{
    for (size_t i = 0; i < n; i++)
        if (json_equal(json_object_get(reasons[i].reason, "sentence"), sentence))
            return reasons[i].rank;
    return 0;
}

void told_apply(const struct trials *t, json_t *metrics, bool interrupted)
{
    json_t *reasons = json_object_get(metrics, "reasons"),
           *explain = json_object_get(metrics, "explain"), *one;
    size_t n = json_array_size(reasons), m = json_array_size(explain), i;
    struct told *causes = memory_zeroed(n + 1, sizeof *causes),
                *sentences = memory_zeroed(m + 1, sizeof *sentences);
    json_array_foreach(reasons, i, one)
    {
        const struct trial *trial = trial_with(t, json_object_get(one, "set"));
        struct told cause = {.reason = one};
        if (trial)
            cause.rank = tell(one, trial, t, explain);
        put(causes, i, cause);
    }
    json_array_foreach(explain, i, one)
    {
        put(sentences, i, (struct told){.sentence = one, .rank = rank_in(causes, n, one)});
    }
    json_t *ordered = in_order(sentences, m, false), *by_saving = in_order(causes, n, true);
    json_object_set_new(metrics, "explain", ordered);
    json_object_set_new(metrics, "reasons", by_saving);
    json_object_set_new(metrics, "trials", json_string(interrupted ? "interrupted" : "completed"));
    free(causes);
    free(sentences);
}

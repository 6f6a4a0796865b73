// SPDX-License-Identifier: MIT
// A diagnosis in words: a verdict, the causes, and the values beside those of the healthy network
// and of the best cause.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

#define CAUSES_SHOWN 5
#define ELSEWHERE 0.2 // as a logarithm: of a time that a cause does not give
#define CLEAR 2.0     // standard deviations by which it is off
#define FASTER 3.0    // standard deviations by which a time is below that of the healthy network

// The size in bytes of the collective whose time this value is; 0 = it is no time of a sized
// collective.
static uint64_t value_bytes(const struct diagnosis *d, const struct observed_value *v)
{
    const char *size = told_size(v);
    uint64_t bytes = size ? strtoull(size, NULL, 10) : 0;
    if (!size && d->files.n_sizes > 0 && strcmp(v->quantity, "time") == 0) {
        const char *of_job =
            json_string_value(json_object_get(draft_job(d->fit.draft.json), "bytes"));
        if (of_job && parse_bytes(of_job, &bytes) != 0)
            bytes = 0;
    }
    return bytes;
}

// "time of 16 MiB", "cnps rank3"; to be freed.
static char *value_name(const struct diagnosis *d, const struct observed_value *v)
{
    uint64_t bytes = value_bytes(d, v);
    char *text = bytes == 0 ? memory_text("")
                 : bytes % 1048576 == 0
                     ? text_format(" of %llu MiB", (unsigned long long)bytes / 1048576)
                     : text_format(" of %.4g MB", (double)bytes / 1e6);
    char *name = text_format("%s%s%s%s", v->quantity, *v->place ? " " : "", v->place, text);
    free(text);
    return name;
}

// By how many standard deviations a value is from that of the healthy network; below 0 = it is
// less.
static double value_off(const struct diagnosis *d, size_t value)
{
    const struct observed_value *v = &d->fit.measured.list[value];
    double var, level = predicted_level(d, &d->list[0], value, &var),
                error = fmax(v->relative, observed_reach(v).error);
    return (measured_level(d, value) - level) / sqrt(error * error + var);
}

// The value that is farthest from the healthy network's.
static void print_verdict(const struct diagnosis *d, size_t width)
{
    size_t most = 0;
    bool faster = false;
    for (size_t i = 0; i < d->measured + d->later; i++) {
        double off = value_off(d, i);
        if (fabs(off) > fabs(value_off(d, most)))
            most = i;
        faster |= strcmp(d->fit.measured.list[i].quantity, "time") == 0 && off < -FASTER;
    }
    const struct observed_value *v = &d->fit.measured.list[most];
    char *name = value_name(d, v),
         *text = text_format("not healthy: %s is %.4g%s%s, and %.4g on the healthy network", name,
                             v->value / v->scale, *v->unit ? " " : "", v->unit,
                             told_value(d, &d->list[0], most) / v->scale);
    terminal_wrap(stdout, text, 0, 2, width);
    if (faster)
        terminal_wrap(
            stdout,
            "some times are below those of the healthy network: its rates, or the job and "
            "its algorithm, are not those that were measured",
            0, 2, width);
    free(text);
    free(name);
}

static void print_cause(const struct diagnosis *d, size_t i, size_t width)
{
    const struct cause *c = told_cause(d, i);
    char *next = cause_next(d, i), *places = places_words(d, c);
    bool both = strcmp(next, c->kind->next) != 0; // a test beside the usual check
    char *text = text_format("%zu. %s%s: explains %.0f %% of the gap%s; %s%s%s", i + 1,
                             told_hypothesis(d, i)->words, places, 100 * cause_explains(d, c),
                             i > 0 ? ", and may be it as well as the first" : "",
                             both ? c->kind->next : "", both ? "; or " : "", next);
    terminal_wrap(stdout, text, 0, 3, width);
    free(places);
    free(text);
    free(next);
}

// Causes from `first` on in a line, if there are any.
static void print_others(const struct diagnosis *d, size_t first, const char *begin, size_t width)
{
    struct text text;
    FILE *out = text_open(&text);
    for (size_t i = first; i < d->n_order && i < CAUSES_SHOWN; i++)
        fprintf(out, "%s%s (%.0f %%)", i > first ? ", " : begin, told_hypothesis(d, i)->words,
                100 * cause_explains(d, told_cause(d, i)));
    char *others = text_close(out, &text);
    if (*others)
        terminal_wrap(stdout, others, 0, 2, width);
    free(others);
}

// Sizes at which the first cause is not what was measured.
static void print_left(const struct diagnosis *d, size_t width)
{
    const struct hypothesis *first = told_hypothesis(d, 0);
    for (size_t i = d->measured; i < d->measured + d->later; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        double here = told_value(d, first, i), off = log(here / v->value);
        if (!isfinite(here) || fabs(off) < ELSEWHERE || fabs(larger_off(d, first, i)) < CLEAR)
            continue;
        char *name = value_name(d, v),
             *text = text_format("the first cause does not give the %s: %.4g %s, where %.4g were "
                                 "measured",
                                 name, here / v->scale, v->unit, v->value / v->scale);
        terminal_wrap(stdout, text, 0, 2, width);
        free(text);
        free(name);
    }
}

// Print the first cause and those that tie with it, a paragraph each, then the next ones in a line.
static void print_causes(const struct diagnosis *d)
{
    size_t width = terminal_width(stdout), shown = 0;
    double units = told_units(d);
    if (units < 1 || units > 1) {
        char *text = text_format("all measured values are %.4g times those of the healthy network: "
                                 "units are mixed up",
                                 units);
        terminal_wrap(stdout, text, 0, 2, width);
        free(text);
    }
    if (d->healthy) {
        terminal_wrap(stdout, "healthy: the network gives what was measured, within its spread", 0,
                      2, width);
        print_others(d, 0, "not needed for it, but nearer: ", width);
        return;
    }
    print_verdict(d, width);
    if (d->files.stall)
        terminal_wrap(stdout, d->files.stall, 0, 2, width);
    if (d->n_order == 0) {
        terminal_wrap(stdout, "none of the causes that were tried comes nearer", 0, 2, width);
        return;
    }
    while (shown < d->n_order && shown < CAUSES_SHOWN &&
           (shown == 0 || cause_ties(d, told_cause(d, shown))))
        print_cause(d, shown++, width);
    print_others(d, shown, "less likely: ", width);
    print_left(d, width);
    double left = told_unexplained(d);
    if (left > 0.25) {
        char *none = text_format("none of these: %.0f %% unexplained", 100 * left);
        terminal_wrap(stdout, none, 0, 2, width);
        free(none);
    }
}

// Values in the order in which they are printed: times of sizes last, and ascending.
static size_t *in_order(const struct diagnosis *d)
{
    size_t n = d->measured + d->later, *order = memory_zeroed(n + 1, sizeof *order);
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes = value_bytes(d, &d->fit.measured.list[i]);
        size_t k = i;
        for (; k > 0 && value_bytes(d, &d->fit.measured.list[order[k - 1]]) > bytes; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    return order;
}

static void print_values(const struct diagnosis *d)
{
    const struct hypothesis *best = d->n_order > 0 && !d->healthy ? told_hypothesis(d, 0) : NULL;
    size_t *order = in_order(d);
    printf("\n  %-40s %14s %14s %14s\n", "measured", "measured", "healthy",
           best ? "first cause" : "");
    for (size_t k = 0; k < d->measured + d->later; k++) {
        size_t i = order[k];
        const struct observed_value *v = &d->fit.measured.list[i];
        char *name = value_name(d, v),
             *with_unit = text_format("%s%s%s", name, *v->unit ? ", " : "", v->unit);
        printf("  %-40s %14.4g %14.4g", with_unit, v->value / v->scale,
               told_value(d, &d->list[0], i) / v->scale);
        double here = best ? told_value(d, best, i) / v->scale : (double)NAN;
        if (isfinite(here))
            printf(" %14.4g", here);
        printf("\n");
        free(with_unit);
        free(name);
    }
    free(order);
}

// Settings on which times depend and which the scenario does not give, with their values.
static void print_assumed(const struct diagnosis *d)
{
    static const char *const paths[] = {"topology.dims[0].link.delay", "transport.mtu",
                                        "switch.buffer", "switch.ecn", "nic.preset"};
    struct text text;
    FILE *out = text_open(&text);
    const char *begin = "assumed, since the scenario does not say: ";
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *value = fact_text(&d->facts, paths[i]);
        bool given = json_at_path(d->fit.draft.json, paths[i]) != NULL ||
                     (i == 0 && !json_at_path(d->fit.draft.json, "topology.dims"));
        if (given || !*value)
            continue;
        fprintf(out, "%s%s %s", begin, paths[i], value);
        begin = ", ";
    }
    char *assumed = text_close(out, &text);
    if (*assumed) {
        fputs("  ", stdout);
        terminal_wrap(stdout, assumed, 2, 4, terminal_width(stdout));
    }
    free(assumed);
}

void diagnosis_print(const struct diagnosis *d)
{
    print_causes(d);
    print_values(d);
    printf("\n");
    print_assumed(d);
    if (d->files.notes)
        fputs(d->files.notes, stdout);
    printf("  %llu runs%s\n", (unsigned long long)d->fit.runs,
           d->fit.interrupted ? "; interrupted" : "");
}

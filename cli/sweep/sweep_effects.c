// SPDX-License-Identifier: MIT
// The best point and the axes that matter for each job of a sweep, in sentences: the run ends when
// its last job does, so the shortest run may hold the longest time of another job.
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/sweep_internal.h"
#include "cli/terminal/terminal.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "report/page/effects.h"

// ---- values ----

static ps_t time_of(const json_t *ns) { return (ps_t)(json_number_value(ns) * (double)PS_PER_NS); }

// True if the name of a column ends in a unit, behind an underline.
static bool ends_in(const char *name, const char *unit)
{
    size_t n = strlen(name), m = strlen(unit);
    return n > m + 1 && name[n - m - 1] == '_' && strcmp(name + n - m, unit) == 0;
}

// Write the name of an axis without the unit that the column of the table has.
static void axis_put(FILE *out, const char *name)
{
    bool united = ends_in(name, "bytes") || ends_in(name, "ns") || ends_in(name, "bps");
    fprintf(out, "%.*s", (int)(united ? strrchr(name, '_') - name : (long)strlen(name)), name);
}

static void value_put(FILE *out, const char *name, const json_t *value)
{
    char text[UNIT_TEXT];
    double number = json_number_value(value);
    if (json_is_string(value))
        fputs(json_string_value(value), out);
    else if (ends_in(name, "ns"))
        fputs(format_time(time_of(value), text), out);
    else if (ends_in(name, "bps"))
        fputs(format_rate((uint64_t)number, text), out);
    else if (ends_in(name, "bytes") || ends_in(name, ".bytes") || strcmp(name, "bytes") == 0)
        fputs(format_bytes((uint64_t)number, text), out);
    else
        fprintf(out, "%.10g", number);
}

// ---- sentences ----

// Write "shortest 1.55 ms with switch.buffer=16MB": a point by its values on the axes that matter.
static void point_put(FILE *out, const json_t *effect, const char *which)
{
    const json_t *point = json_object_get(effect, which), *axis;
    char text[UNIT_TEXT];
    size_t i;
    fprintf(out, "%s %s", which, human_time(time_of(json_object_get(point, "ns")), text));
    json_array_foreach(json_object_get(point, "matters"), i, axis)
    {
        const char *name = json_string_value(axis);
        fputs(i == 0 ? " with " : ", ", out);
        axis_put(out, name);
        fputc('=', out);
        value_put(out, name, json_object_get(json_object_get(point, "at"), name));
    }
}

// Write "; switch.buffer changes it up to 5.3 times, policy up to 1.5 times".
static void axes_put(FILE *out, const json_t *effect)
{
    json_t *axes = json_object_get(effect, "axes"), *ratio;
    const char *name;
    bool begun = false;
    json_object_foreach(axes, name, ratio)
    {
        double times = json_number_value(ratio);
        if (times < EFFECT_LEAST)
            continue;
        fputs(begun ? ", " : "; ", out);
        axis_put(out, name);
        fprintf(out, begun ? " up to %.*f" : " changes it by a factor of up to %.*f",
                times < 1.1 ? 2 : 1, times);
        begun = true;
    }
}

// Write "; where it is shortest, ckpt takes 1.5 times its own shortest time".
static void others_put(FILE *out, const json_t *effect)
{
    json_t *others = json_object_get(effect, "others"), *ratio;
    const char *job;
    bool begun = false;
    json_object_foreach(others, job, ratio)
    {
        double times = json_number_value(ratio);
        if (times < EFFECT_LEAST)
            continue;
        fprintf(out, begun ? ", %s %.*f" : "; where it is shortest, %s takes %.*f", job,
                times < 1.1 ? 2 : 1, times);
        begun = true;
    }
    fputs(begun ? " times its own shortest time" : "", out);
}

static void effect_put(FILE *out, const json_t *effect)
{
    double shortest = json_number_value(json_object_get(json_object_get(effect, "shortest"), "ns")),
           longest = json_number_value(json_object_get(json_object_get(effect, "longest"), "ns"));
    char text[UNIT_TEXT];
    fprintf(out, "job %s: ", json_string_value(json_object_get(effect, "job")));
    if (longest < shortest * EFFECT_LEAST) {
        fprintf(
            out, "%s at every point, within 1 %%",
            human_time(time_of(json_object_get(json_object_get(effect, "shortest"), "ns")), text));
        return;
    }
    point_put(out, effect, "shortest");
    fputs(", ", out);
    point_put(out, effect, "longest");
    axes_put(out, effect);
    others_put(out, effect);
}

void sweep_print_effects(const char *csv)
{
    json_t *effects = sweep_csv_effects(csv), *effect;
    size_t i;
    json_array_foreach(effects, i, effect)
    {
        struct text text;
        FILE *out = text_open(&text);
        bool of_job = json_is_string(json_object_get(effect, "job"));
        bool several = json_integer_value(json_object_get(effect, "points")) > 1;
        if (of_job && several)
            effect_put(out, effect);
        char *sentence = text_close(out, &text);
        if (*sentence != '\0')
            terminal_wrap(stdout, sentence, 0, 2, terminal_width(stdout));
        free(sentence);
    }
    json_decref(effects);
}

// SPDX-License-Identifier: MIT
#include "cli/runs/hybrid_check.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/terminal.h"
#include "cli/trials/trials.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

// The share of the bytes that were packets only since they were checked.
static double checked_share(const json_t *metrics)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(json_object_get(metrics, "hybrid"), "not_quiet"), i, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "reason")), "checked") == 0)
            return json_number_value(json_object_get(one, "share"));
    }
    return 0;
}

static char *difference(const json_t *before, const json_t *then, size_t job)
{
    char time[UNIT_TEXT];
    const json_t *one = json_array_get(json_object_get(before, "jobs"), job);
    json_int_t was = trial_before_ns(before, job), is = trial_before_ns(then, job);
    if (was <= 0 || is < 0)
        return memory_text("");
    human_time((is < was ? was - is : is - was) * PS_PER_NS, time);
    return text_format("; job %s takes %s%s (%+.2g %%)",
                       json_string_value(json_object_get(one, "name")),
                       is == was ? "as long" : time,
                       is == was  ? ""
                       : is < was ? " less"
                                  : " longer",
                       100 * (double)(is - was) / (double)was);
}

static void print_check(const struct options *o, const json_t *before, const json_t *then,
                        FILE *out)
{
    struct text text;
    FILE *line = text_open(&text);
    fprintf(line, "check: packets in %u of 100 drawn parts of the time, %.2g %% of the bytes",
            (unsigned)o->check, 100 * checked_share(then));
    for (size_t j = 0; j < trial_jobs(before); j++) {
        char *job = difference(before, then, j);
        fputs(job, line);
        free(job);
    }
    char *sentence = text_close(line, &text);
    fputs("  ", out);
    terminal_wrap(out, sentence, 2, 4, terminal_width(out));
    free(sentence);
}

int hybrid_checked(const struct options *o, const struct collwire_scenario *scenario,
                   const char *metrics, FILE *out)
{
    json_t *before = json_loads(metrics, 0, NULL);
    double span_ns = json_number_value(json_object_get(before, "sim_time_ns"));
    struct simulated made = simulate_as(
        scenario, (struct collwire_run){.plain = o->plain,
                                        .check_windows = (unsigned)o->check,
                                        .check_span_ps = (int64_t)(span_ns * PS_PER_NS)});
    json_t *then = made.metrics ? json_loads(made.metrics, 0, NULL) : NULL;
    if (before && then)
        print_check(o, before, then, out);
    int code = made.code;
    simulated_free(&made);
    json_decref(before);
    json_decref(then);
    return code;
}

// SPDX-License-Identifier: MIT
#include "cli/trials/tried.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/results/result_set.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/terminal.h"
#include "cli/trials/told.h"
#include "collwire/param.h"
#include "engine/base/err.h"
#include "engine/base/text.h"
#include "report/metrics_brief.h"

#define HOPS_MOST 20e6 // of a run whose causes are tried unless told otherwise: seconds

static bool completed(const json_t *metrics)
{
    const char *status = json_string_value(json_object_get(metrics, "status"));
    return status && strcmp(status, "completed") == 0;
}

static double hops_of(const json_t *metrics)
{
    return json_number_value(json_object_get(metrics, "packet_hops"));
}

static uint64_t setting_of(const json_t *metrics)
{
    const json_t *scenario = json_object_get(metrics, "scenario"),
                 *given = json_object_get(json_object_get(scenario, "explain"), "try");
    return json_is_integer(given) ? (uint64_t)json_integer_value(given) : PARAM_AUTO;
}

// True for a run whose trials would take too long by packets: they are on the hybrid network.
static bool is_dear(const json_t *metrics)
{
    return setting_of(metrics) == PARAM_AUTO && hops_of(metrics) > HOPS_MOST;
}

uint64_t tries_of(uint64_t setting, bool quiet)
{
    return setting != PARAM_AUTO ? setting : quiet ? 0 : TRIES;
}

uint64_t tries_of_run(const json_t *metrics, bool quiet)
{
    return completed(metrics) ? tries_of(setting_of(metrics), quiet) : 0;
}

char *tries_cost(const json_t *metrics, const char *dir)
{
    size_t n = 0, i;
    const json_t *reason;
    json_array_foreach(json_object_get(metrics, "reasons"), i, reason)
    {
        n += json_array_size(json_object_get(reason, "set")) > 0;
    }
    if (!completed(metrics) || !is_dear(metrics) || n == 0 ||
        !json_is_null(json_object_get(metrics, "trials")))
        return NULL;
    n = n < TRIES ? n : TRIES;
    return text_format("no cause was tried, since a run has %.0f million packet-hops: collwire "
                       "explain %s --try %d simulates up to %.0f million",
                       hops_of(metrics) / 1e6, dir, TRIES, 2 * (double)n * hops_of(metrics) / 1e6);
}

// Write the values that told_apply() has changed into metrics.json. Returns an exit code.
static int replace(const char *dir, const char *text, const json_t *metrics)
{
    static const char *const keys[] = {"trials", "explain", "reasons", NULL};
    struct err err = {0};
    char *now = metrics_replaced(text, keys, metrics);
    if (!now)
        err_add(&err, "metrics.json", "these results are of an earlier version: run it again");
    else
        result_set_add(dir, "metrics.json", now, &err);
    int code = err.n_errors == 0 ? EXIT_DONE : EXIT_NOT_COMPLETED;
    errors_print(&err);
    free(now);
    return code;
}

// The end of the run that trials on the hybrid network are compared with. Where the run was on it,
// they would be as dear.
static int on_hybrid(struct trials *t)
{
    const json_t *scenario = json_object_get(t->metrics, "scenario");
    const char *network = json_string_value(json_object_get(scenario, "network"));
    return network && strcmp(network, "hybrid") == 0 ? TRIAL_CUT : trials_on_hybrid(t);
}

int tried(const struct options *o, const char *dir, size_t n, bool budget)
{
    struct options with_jobs = *o;
    char *text = result_set_read(dir, NULL, "metrics.json");
    json_t *metrics = text ? metrics_brief(text) : NULL, *run = result_set_json(dir, "run.json");
    const char *folder = json_string_value(json_object_get(run, "folder"));
    struct trials t = {.options = &with_jobs, .metrics = metrics, .folder = folder ? folder : "."};
    int code = EXIT_DONE;
    options_jobs(&with_jobs);
    if (!completed(metrics)) {
        path_print(stderr, "collwire: %s: the run did not complete: there is no time to compare\n",
                   dir);
        code = EXIT_BAD_USE;
    } else {
        told_choose(&t, n);
        ends_say("the results of the run are kept");
        int base = t.n > 0 && budget && is_dear(metrics) ? on_hybrid(&t) : TRIAL_DONE;
        bool interrupted = base == TRIAL_NOT_RUN || (base == TRIAL_DONE && trials_run(&t) != 0);
        if (t.n > 0 && (base == TRIAL_DONE || interrupted)) {
            told_apply(&t, metrics, interrupted);
            code = replace(dir, text, metrics);
        }
    }
    trials_free(&t);
    json_decref(metrics);
    json_decref(run);
    free(text);
    return code;
}

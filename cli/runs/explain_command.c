// SPDX-License-Identifier: MIT
// collwire explain: the explanations of a run, or of the difference between two runs.
#include "cli/runs/explain_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/results/result_set.h"
#include "cli/runs/report.h"
#include "cli/runs/run_folder.h"
#include "cli/runs/runs.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/terminal.h"
#include "cli/trials/tried.h"
#include "engine/base/text.h"
#include "report/metrics_brief.h"
#include "report/why.h"

/* ---- trials of a comparison ---- */

// True for the row of a run that completed; rows of single jobs are parts of such a run.
static bool is_whole(const json_t *row)
{
    const char *status = json_string_value(json_object_get(row, "status"));
    return !json_is_string(json_object_get(row, "job")) && status &&
           strcmp(status, "completed") == 0;
}

// Try the causes of the run of a row, and give the row its sentences. Returns an exit code.
static int try_row(const struct options *o, const char *dir, json_t *row, bool seeds)
{
    char *folder = run_folder_of(row, seeds), *path = text_format("%s/%s", dir, folder);
    int code = tried(o, path, o->tries, false);
    json_t *metrics = code == EXIT_DONE ? result_set_json(path, "metrics.json") : NULL;
    if (metrics)
        json_object_set(row, "explain", json_object_get(metrics, "explain"));
    json_decref(metrics);
    free(path);
    free(folder);
    return code;
}

static void print_texts(const json_t *list, size_t width)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        terminal_wrap(stdout, json_string_value(json_array_get(list, i)), 0, 2, width);
}

// Try the causes of all runs of the comparison in `dir` that completed. Puts their sentences into
// its compare.json, and writes its report anew.
static int try_comparison(const struct options *o, const char *dir, json_t *comparison,
                          size_t width)
{
    bool seeds = json_integer_value(json_object_get(comparison, "seeds")) > 1, first = true;
    int code = EXIT_DONE;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(comparison, "rows"), i, row)
    {
        if (!is_whole(row))
            continue;
        int one = try_row(o, dir, row, seeds);
        char *folder = run_folder_of(row, seeds);
        printf("%s%s\n", first ? "" : "\n", folder);
        free(folder);
        print_texts(json_object_get(row, "explain"), width);
        code = one != EXIT_DONE ? one : code;
        first = false;
        if (ends_interrupted())
            break;
    }
    if (first) {
        path_print(stderr, "collwire: %s: no run of the comparison completed\n", dir);
        return EXIT_BAD_USE;
    }
    struct err err = {0};
    int status = result_set_add_json(dir, "compare.json", comparison, &err);
    errors_print(&err);
    if (status != 0)
        return EXIT_NOT_COMPLETED;
    return report_after(o, dir, code);
}

/* ---- explain ---- */

size_t print_difference(FILE *out, const json_t *a, const char *name_a, const json_t *b,
                        const char *name_b, size_t width)
{
    size_t n;
    char **sentences = why_differs(a, name_a, b, name_b, &n);
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? "  " : "", out);
        terminal_wrap(out, sentences[i], i > 0 ? 2 : 0, i > 0 ? 4 : 2, width);
        free(sentences[i]);
    }
    free(sentences);
    return n;
}

// Read the metrics of the run in a directory; NULL after a message.
static json_t *metrics_of(const char *dir)
{
    char *text = result_set_read(dir, NULL, "metrics.json");
    json_t *metrics = text ? metrics_brief(text) : NULL;
    free(text);
    if (json_is_object(metrics))
        return metrics;
    json_decref(metrics);
    char *compare = result_set_read(dir, NULL, "compare.json");
    char *sweep = result_set_read(dir, NULL, "sweep.json");
    fprintf(stderr, "collwire: %s %s\n", dir,
            compare ? "holds a comparison; name the directory of one of its runs below, or --try"
            : sweep ? "holds a sweep; `collwire run` with the settings of a point explains it"
                    : "holds no results of a run (run.json and metrics.json)");
    free(compare);
    free(sweep);
    return NULL;
}

// The settings with which the cause of a sentence was tried, as options.
static void print_settings(const json_t *reasons, const json_t *sentence, size_t width)
{
    size_t i, k;
    const json_t *reason, *setting;
    json_array_foreach(reasons, i, reason)
    {
        if (!json_equal(json_object_get(reason, "sentence"), sentence) ||
            !json_is_true(json_object_get(reason, "tried")))
            continue;
        struct text text;
        FILE *out = text_open(&text);
        json_array_foreach(json_object_get(reason, "set"), k, setting)
        {
            fprintf(out, "%s--set '%s'", k > 0 ? " " : "", json_string_value(setting));
        }
        char *line = text_close(out, &text);
        fputs("    ", stdout);
        terminal_wrap(stdout, line, 4, 6, width);
        free(line);
        return;
    }
}

static void print_run(const json_t *metrics, const char *dir, size_t width)
{
    const char *reason = json_string_value(json_object_get(metrics, "reason"));
    const json_t *reasons = json_object_get(metrics, "reasons"), *sentence;
    size_t i;
    if (reason)
        terminal_wrap(stdout, reason, 0, 2, width);
    print_texts(json_object_get(metrics, "waiting"), width);
    json_array_foreach(json_object_get(metrics, "explain"), i, sentence)
    {
        terminal_wrap(stdout, json_string_value(sentence), 0, 2, width);
        print_settings(reasons, sentence, width);
    }
    char *cost = tries_cost(metrics, dir);
    if (cost)
        terminal_wrap(stdout, cost, 0, 2, width);
    free(cost);
}

// Try the first causes of the run in the directory, and print its sentences.
static int try_run(const struct options *o, size_t width)
{
    const char *dir = o->args[0];
    int code = tried(o, dir, o->tries, false);
    json_t *metrics = code != EXIT_BAD_USE ? result_set_json(dir, "metrics.json") : NULL;
    if (metrics)
        print_run(metrics, dir, width);
    json_decref(metrics);
    return code;
}

// Warn if two runs are of different jobs or networks, with the keys in which they differ: then the
// policy alone does not explain the difference.
static void warn_of_questions(const json_t *a, const json_t *b)
{
    const json_t *of_a = json_object_get(a, "scenario"), *of_b = json_object_get(b, "scenario");
    static const char *const keys[] = {"network", "topology", "workload"};
    const char *before = "collwire: warning: the runs are of different scenarios:";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *in_a = json_object_get(of_a, keys[i]), *in_b = json_object_get(of_b, keys[i]);
        if (in_a == in_b || json_equal(in_a, in_b))
            continue;
        fprintf(stderr, "%s %s", before, keys[i]);
        before = ",";
    }
    if (before[0] == ',')
        fputs(" differ\n", stderr);
}

static void print_both(const json_t *metrics, const struct options *o, const json_t *against,
                       size_t width)
{
    if (print_difference(stdout, against, o->against, metrics, o->args[0], width) > 0)
        return;
    bool known = json_is_object(json_object_get(metrics, "slowest")) &&
                 json_is_object(json_object_get(against, "slowest"));
    puts(known ? "Both took the same time." : "In one of them nothing has ended.");
}

// Try the causes of the comparison in a directory. Returns -1 if there is none.
static int try_compared(const struct options *o, size_t width)
{
    json_t *comparison =
        o->tries > 0 && !o->against ? result_set_json(o->args[0], "compare.json") : NULL;
    int code = json_is_object(comparison) ? try_comparison(o, o->args[0], comparison, width) : -1;
    json_decref(comparison);
    return code;
}

static int command_explain(const struct options *o)
{
    size_t width = terminal_width(stdout);
    if (o->n_args != 1) {
        fputs("collwire: explain takes the directory of a run; see collwire explain --help\n",
              stderr);
        return EXIT_BAD_USE;
    }
    int compared = try_compared(o, width);
    if (compared >= 0)
        return compared;
    json_t *metrics = metrics_of(o->args[0]), *against = NULL;
    if (o->against)
        against = metrics_of(o->against);
    bool good = metrics && (against || !o->against);
    int code = EXIT_DONE;
    if (good && against)
        warn_of_questions(metrics, against);
    if (good && against)
        print_both(metrics, o, against, width);
    else if (good && o->tries > 0)
        code = try_run(o, width);
    else if (good)
        print_run(metrics, o->args[0], width);
    json_decref(metrics);
    json_decref(against);
    return good ? code : EXIT_BAD_USE;
}

/* ---- its row ---- */

static const char explain_text[] =
    "Prints all explanations of a run that is in DIR, the most important first, and with "
    "--against why it took longer or shorter than another one. "
    "--try runs the scenario again without each of the first causes, and puts what was saved into "
    "the results; of a comparison it does so for all runs.\n\n"
    "  collwire explain out/incast\n"
    "  collwire explain out/incast --try\n"
    "  collwire explain out/dcqcn --against out/none";

const struct command explain_command = {
    .name = "explain",
    .help = "why a run took its time, or why two runs differ",
    .args = "DIR",
    .text = explain_text,
    .run = command_explain,
    .completes = COMPLETE_FOLDERS,
};

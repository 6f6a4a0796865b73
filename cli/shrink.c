// SPDX-License-Identifier: MIT
// collwire shrink: a smaller training scenario whose messages have the same sizes.
//
// Layers, micro-batches and iterations repeat: with fewer of them a run has fewer messages, but
// none of another size, since sizes depend on the shapes and the degrees alone.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/results/output.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/terminal.h"
#include "config/draft.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/rows.h"

#define NAME_KEPT 190 // letters of a scenario's name, so that there is room for the ending

// Lower a number of a job, and note it. Returns true if it was higher.
static bool lower(json_t *job, const char *key, json_int_t to, FILE *out)
{
    json_int_t from = json_integer_value(json_object_get(job, key));
    if (from <= to || to < 1)
        return false;
    fprintf(out, "; %s %lld -> %lld", key, (long long)from, (long long)to);
    return json_object_set_new(job, key, json_integer(to)) == 0;
}

static json_int_t number(const json_t *job, const char *key)
{
    return json_integer_value(json_object_get(job, key));
}

// One layer for each virtual stage (two where the tables count as one), or as many as there are
// from one with experts to the next, and as many micro-batches as stages.
static bool shrink_llm(json_t *job, FILE *out)
{
    json_int_t stages = number(job, "pipeline") * number(job, "virtual_stages");
    json_int_t layers = number(job, "experts") > 0 ? number(job, "moe_every") : 1;
    bool tables = json_is_true(json_object_get(job, "tables_as_layers"));
    json_int_t replicas = number(job, "data") * number(job, "expert");
    bool smaller = lower(job, "layers", tables ? 2 * stages * layers - 2 : stages * layers, out);
    smaller |= lower(job, "global_batch",
                     replicas * number(job, "micro_batch") * number(job, "pipeline"), out);
    smaller |= lower(job, "iterations", 1, out);
    return smaller;
}

// What a smaller job of a model does not show.
static void print_limits(const json_t *job, FILE *out)
{
    double p = (double)number(job, "pipeline"),
           m = (double)number(job, "global_batch") /
               (double)(number(job, "data") * number(job, "expert") * number(job, "micro_batch"));
    if (p > 1)
        fprintf(out,
                "; its pipeline bubble is %.0f %% of the time ((p - 1) / (m + p - 1) of p stages "
                "and m micro-batches)",
                100 * (p - 1) / (m + p - 1));
    fputs("; logits, optimizer and the exchange of gradients weigh more than in the whole model",
          out);
}

// Make a job smaller, print how, and write it to `note` too. The job keeps what it leaves out, so
// that its tokens/s and MFU do not pass for those of the whole.
static bool shrink_job(json_t *job, FILE *note)
{
    const char *kind = json_string_value(json_object_get(job, "kind"));
    struct text text, limits;
    FILE *out = text_open(&text), *more = text_open(&limits);
    bool llm = kind && strcmp(kind, "llm") == 0, smaller = false;
    if (llm)
        smaller = shrink_llm(job, out);
    else if (kind && strcmp(kind, "training") == 0)
        smaller = lower(job, "iterations", 1, out);
    if (smaller && llm)
        print_limits(job, more);
    char *changes = text_close(out, &text), *not_shown = text_close(more, &limits);
    if (smaller) {
        char *line = text_format("%s: %s%s", json_string_value(json_object_get(job, "name")),
                                 changes + 2, not_shown);
        json_object_set_new(job, "shrunk", json_string(changes + 2));
        terminal_wrap(stderr, line, 0, 2, terminal_width(stderr));
        fprintf(note, "; %s", line);
        free(line);
    }
    free(changes);
    free(not_shown);
    return smaller;
}

static bool shrink_jobs(json_t *workload, FILE *note)
{
    bool smaller = false;
    if (!json_is_array(workload))
        return shrink_job(workload, note);
    for (size_t i = 0; i < json_array_size(workload); i++)
        smaller |= shrink_job(json_array_get(workload, i), note);
    return smaller;
}

// Results of the smaller scenario must not pass for those of the whole: another name, and a note
// that its runs print.
static bool shrink_scenario(json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "name"));
    struct text text;
    FILE *out = text_open(&text);
    fprintf(out, "of %s", name);
    bool smaller = shrink_jobs(json_object_get(json, "workload"), out);
    char *note = text_close(out, &text), *named = text_format("%.*s-shrunk", NAME_KEPT, name);
    if (smaller) {
        json_object_set_new(json, "name", json_string(named));
        json_object_set_new(json, "shrunk", json_string(note));
    }
    free(named);
    free(note);
    return smaller;
}

static void print_cost(const struct collwire_scenario *scenario, const char *title)
{
    struct err ignored = {0};
    struct collwire_cost cost;
    struct collwire_sim *sim = simulation_build(scenario, &cost, &ignored);
    char clock[CLOCK_TEXT];
    if (sim)
        fprintf(stderr, "%s: about %s\n", title, clock_text(cost.wall_s, clock));
    collwire_sim_free(sim);
    err_free(&ignored);
}

static int write_smaller(const struct options *o, const struct collwire_scenario *scenario,
                         const char *text)
{
    struct err err = {0};
    char *folder = file_folder(o->args[0]);
    struct collwire_scenario *smaller =
        collwire_scenario_parse(text, folder, NULL, 0, o->policies, messages_of(&err));
    free(folder);
    errors_print(&err);
    if (!smaller)
        return EXIT_BAD_USE;
    print_cost(scenario, "the whole");
    print_cost(smaller, "the smaller one");
    fputs(WHOLE_OF_SHRUNK "\n", stderr);
    collwire_scenario_free(smaller);
    return text_write(o->file, text);
}

static int command_shrink(const struct options *o)
{
    struct err err = {0};
    const char *path = scenario_argument(o);
    if (!path)
        return EXIT_BAD_USE;
    struct collwire_scenario *scenario = scenario_open(o, path, o->sets, o->n_sets, &err);
    errors_print(&err);
    if (!scenario)
        return EXIT_BAD_USE;
    json_t *json = json_loads(collwire_scenario_json(scenario), 0, NULL);
    int code = EXIT_BAD_USE;
    if (shrink_scenario(json)) {
        char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
        code = write_smaller(o, scenario, text);
        free(text);
    } else {
        path_print(stderr,
                   "collwire: %s: nothing repeats that could be left out: shrink takes llm and "
                   "training jobs\n",
                   path);
    }
    json_decref(json);
    collwire_scenario_free(scenario);
    return code;
}

/* ---- its row ---- */

static const char shrink_text[] =
    "Writes a scenario with fewer layers, micro-batches and iterations of its llm and training "
    "jobs. Shapes and degrees remain, and with them the sizes of all messages. Prints what it "
    "changes, what a smaller model does not show, and the estimated time of both.\n\n"
    "  collwire shrink scenarios/llm/gpt-13b-128.json -o small.json\n"
    "  collwire run small.json";

const struct command shrink_command = {
    .name = "shrink",
    .help = "a smaller training scenario with messages of the same sizes",
    .args = "SCENARIO",
    .text = shrink_text,
    .run = command_shrink,
    .completes = COMPLETE_FILES,
};

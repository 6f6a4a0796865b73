// SPDX-License-Identifier: MIT
// collwire run: simulates one scenario and writes its files and a table.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/measured/beside.h"
#include "cli/processes/process_group.h"
#include "cli/results/result_set.h"
#include "cli/runs/chosen_policy.h"
#include "cli/runs/hybrid_check.h"
#include "cli/runs/runs.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "cli/trials/tried.h"
#include "collwire/param.h"
#include "engine/base/text.h"
#include "report/metrics_brief.h"
#include "report/rows.h"

// The stream for results: stdout, unless a capture uses it.
static FILE *results_to(const struct collwire_scenario *scenario)
{
    const char *file;
    for (size_t c = 0; (file = collwire_scenario_capture(scenario, c)) != NULL; c++)
        if (strcmp(file, "-") == 0)
            return stderr;
    return stdout;
}

#define EXPLANATIONS 5
#define WAITING 6 // messages, collectives and ports, after the reason

// Print why a run did not complete and what waits, then its most important explanations, one to a
// paragraph.
static void print_sentences(FILE *out, const struct row *row, const char *dir, size_t width)
{
    const char *sentence;
    size_t i = 0, left_out = 0;
    for (; (sentence = row_sentence(row, i)) != NULL; i++) {
        if ((i > WAITING && i < row->n_why) || i >= row->n_why + EXPLANATIONS) {
            left_out++;
            continue;
        }
        fputs("  ", out);
        terminal_wrap(out, sentence, 2, 4, width);
    }
    if (left_out > 0) {
        fprintf(out, "  %zu more: ", left_out);
        path_print(out, "collwire explain %s\n", dir);
    }
}

static struct rows rows_of(const struct collwire_scenario *scenario, const char *policy,
                           const char *metrics)
{
    struct rows rows = {0};
    struct row_source source = {.scenario = collwire_scenario_name(scenario),
                                .policy = policy,
                                .seed = collwire_scenario_seed(scenario),
                                .metrics = metrics};
    rows_add(&rows, &source);
    return rows;
}

static void print_table(FILE *out, const struct rows *rows)
{
    char *text = rows_run_table(rows, terminal_width(out));
    text_print(out, text);
    free(text);
    fputc('\n', out);
    fflush(out); // the trials may take a while
}

static void print_data(FILE *out, const struct options *o, const struct rows *rows,
                       const char *name)
{
    char *text = o->format == FORMAT_JSON ? rows_document(rows, name) : rows_csv(rows);
    text_print(out, text);
    free(text);
    if (o->format == FORMAT_JSON)
        fputc('\n', out);
}

// Try the causes of the run that has ended, which replaces its metrics. Returns true if it did.
static bool try_causes(const struct options *o, const struct collwire_scenario *scenario,
                       const char *dir, struct simulated *run)
{
    uint64_t setting = scenario_spec(scenario_of(scenario))->explain.tries;
    bool good = run->written && run->code == EXIT_DONE && processes_writes();
    uint64_t n = good ? tries_of(setting, o->quiet) : 0;
    if (n == 0)
        return false;
    run->code = tried(o, dir, n, true);
    char *now = result_set_read(dir, run->id, "metrics.json");
    if (!now)
        return false;
    free(run->metrics);
    run->metrics = now;
    return true;
}

// What trials would cost, after a run that was too large to make them.
static void print_cost(FILE *out, const struct simulated *run, const char *dir)
{
    json_t *metrics = run->metrics ? metrics_brief(run->metrics) : NULL;
    char *cost = tries_cost(metrics, dir);
    if (cost) {
        fputs("  ", out);
        terminal_wrap(out, cost, 2, 4, terminal_width(out));
    }
    free(cost);
    json_decref(metrics);
}

// Try the causes, and print the results: the table at once, sentences when the trials have ended.
static void print_results(const struct options *o, const struct collwire_scenario *scenario,
                          const char *dir, struct simulated *run)
{
    char *policy = collwire_scenario_policy(scenario);
    FILE *out = results_to(scenario);
    struct rows rows = rows_of(scenario, policy, run->metrics);
    if (o->format == FORMAT_TABLE)
        print_table(out, &rows);
    if (try_causes(o, scenario, dir, run)) {
        rows_free(&rows);
        rows = rows_of(scenario, policy, run->metrics);
    }
    if (o->format == FORMAT_TABLE) {
        print_sentences(out, &rows.list[0], dir, terminal_width(out));
        if (!o->quiet)
            print_cost(out, run, dir);
        fputs(rows.list[0].measured, out);
        if (run->written)
            path_print(out, "results: %s/metrics.json\n", dir);
    } else {
        print_data(out, o, &rows, collwire_scenario_name(scenario));
    }
    rows_free(&rows);
    free(policy);
}

// With --check, compare the run on the hybrid network with packets. Returns the exit code.
static int check(const struct options *o, const struct collwire_scenario *scenario,
                 const struct simulated *run)
{
    if (o->check == 0 || run->code != EXIT_DONE || !processes_writes())
        return run->code;
    FILE *out = o->format == FORMAT_TABLE ? results_to(scenario) : stderr;
    return hybrid_checked(o, scenario, run->metrics, out);
}

static void check_network(const struct options *o, const struct collwire_scenario *scenario,
                          struct err *err)
{
    if (o->check > 0 && scenario_spec(scenario_of(scenario))->network != NETWORK_HYBRID)
        err_add(err, "--check",
                "only the hybrid network has closed forms to check: --network hybrid");
}

// Packets are not written to a terminal.
static void check_terminal(const struct collwire_scenario *scenario, struct err *err)
{
    const char *file;
    for (size_t c = 0; (file = collwire_scenario_capture(scenario, c)) != NULL; c++)
        if (strcmp(file, "-") == 0 && isatty(STDOUT_FILENO)) {
            char path[48];
            snprintf(path, sizeof path, "capture[%zu].file", c);
            err_add(err, path,
                    "stdout is a terminal; pipe it, as in \"| wireshark -k -i -\", or name a file");
        }
}

static int command_run(const struct options *o)
{
    struct err err = {0};
    const char *path = scenario_argument(o);
    if (!path)
        return EXIT_BAD_USE;
    if (processes_shared() && strcmp(path, "-") == 0) {
        fputs("collwire: stdin reaches only one of several processes: name a file\n", stderr);
        return EXIT_BAD_USE;
    }
    signals_phase("reading the scenario");
    bool shows = progress_wanted(o) && processes_writes();
    signals_show(shows);
    struct collwire_scenario *scenario = scenario_chosen(o, path, &err);
    signals_show(false);
    if (scenario && processes_writes())
        check_terminal(scenario, &err);
    if (scenario)
        check_network(o, scenario, &err);
    struct beside beside = {0};
    if (scenario && o->against)
        beside_read(&beside, o->against, scenario, &err);
    bool good = scenario && err.n_errors == 0;
    errors_print(&err);
    if (!good) {
        beside_free(&beside);
        collwire_scenario_free(scenario);
        return EXIT_BAD_USE;
    }
    char *dir = o->out ? text_format("%s", o->out)
                       : text_format("out/%s", collwire_scenario_name(scenario));
    struct simulation_options options = {.plain = o->plain,
                                         .threads = (unsigned)o->threads,
                                         .tiles = (unsigned)o->tiles,
                                         .together = o->together,
                                         .note_threads = true,
                                         .note_replaced = !o->quiet,
                                         .show_progress = shows,
                                         .against = o->against ? &beside.file : NULL,
                                         .pace_ps = o->pace_ps};
    struct simulated run = simulate(scenario, dir, &options);
    if (run.metrics && options_print_results(o))
        print_results(o, scenario, dir, &run);
    else if (run.metrics)
        try_causes(o, scenario, dir, &run);
    run.code = check(o, scenario, &run);
    simulated_free(&run);
    free(dir);
    beside_free(&beside);
    collwire_scenario_free(scenario);
    return run.code;
}

/* ---- its row ---- */

static const char run_text[] =
    "Simulates the scenario and prints what was measured and why it came out so. The directory "
    "then holds metrics.json (flows, collectives, pauses, marks, drops, queues, links, "
    "explanations), run.json (what depends on the machine), captures, and CSV files where the "
    "scenario wants them.\n\n"
    "  collwire run scenarios/incast.json\n"
    "  collwire run scenarios/incast.json --cc dcqcn --out out/dcqcn\n"
    "  collwire run scenarios/incast.json --set switch.buffer=2MB\n"
    "  collwire run ring.json --against nccl-tests.txt\n"
    "  collwire run job.json --set 'capture=[{\"at\":\"rank8\",\"file\":\"rank8.pcap\"}]'";

const struct command run_command = {
    .name = "run",
    .help = "simulate one scenario",
    .args = "SCENARIO",
    .text = run_text,
    .run = command_run,
    .completes = COMPLETE_FILES,
};

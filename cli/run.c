// SPDX-License-Identifier: MIT
// collwire run: simulates one scenario and writes its files and a table.
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/signals.h"
#include "cli/simulate.h"
#include "cli/terminal.h"
#include "report/rows.h"
#include "sim/result.h"

// The stream for results: stdout, unless a capture uses it.
static FILE *results_to(const struct spec *spec)
{
    for (size_t c = 0; c < spec->n_captures; c++)
        if (strcmp(spec->captures[c].file, "-") == 0)
            return stderr;
    return stdout;
}

static void print_results(const struct options *o, const struct spec *spec, const char *dir,
                          const struct simulated *run)
{
    char policies[256];
    struct row row = {.policy = spec_policy_names(spec, policies, sizeof policies),
                      .seed = spec->seed,
                      .metrics = run->metrics};
    FILE *out = results_to(spec);
    char *text = o->format == FORMAT_JSON  ? rows_json(&row, 1, spec->name)
                 : o->format == FORMAT_CSV ? rows_csv(&row, 1)
                                           : rows_table(&row, 1);
    text_print(out, text);
    free(text);
    if (o->format == FORMAT_JSON)
        fputc('\n', out);
    if (o->format == FORMAT_TABLE) {
        text = row_explanations(&row, "  ");
        fputc('\n', out);
        text_print(out, text);
        if (run->written)
            fprintf(out, "results: %s/metrics.json\n", dir);
        free(text);
    }
}

int command_run(const struct options *o)
{
    struct err err = {0};
    const char *path = scenario_argument(o);
    if (!path)
        return EXIT_BAD_USE;
    signals_phase("reading the scenario");
    signals_show(progress_wanted(o));
    struct scenario *scenario = scenario_load(path, o->sets, o->n_sets, &o->policies, &err);
    signals_show(false);
    errors_print(&err);
    if (!scenario)
        return EXIT_BAD_USE;
    const struct spec *spec = scenario_spec(scenario);
    char *dir = o->out ? text_format("%s", o->out) : text_format("out/%s", spec->name);
    struct simulated run = simulate(scenario, dir, o->plain, progress_wanted(o));
    if (run.metrics && options_print_results(o))
        print_results(o, spec, dir, &run);
    simulated_free(&run);
    free(dir);
    scenario_free(scenario);
    return run.code;
}

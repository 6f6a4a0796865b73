// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "cli/terminal/ends.h"
#include "cli/terminal/signals.h"
#include "cli/tune/tune.h"

static bool all_kept(const struct tune *t)
{
    bool kept = true;
    for (size_t c = 0; c < t->n_cases; c++) {
        const struct tune_case *one = &t->cases[c];
        kept &= !one->search.not_kept && !one->as_is.not_kept && !one->unused_as_is.not_kept &&
                !one->unused_best.not_kept;
    }
    return kept;
}

// A part of the first grid, for the search that goes on without --shard.
static int run_part(struct tune *t, size_t part, size_t parts)
{
    size_t n = tune_part(t, part, parts);
    for (size_t c = 0; c < t->n_cases; c++)
        pool_line_clear(&t->cases[c].search.line);
    ends_say("the same command goes on");
    if (!t->interrupted && !t->options->quiet)
        printf("part %zu of %zu: %zu places of the grid have run; when all parts have, the command "
               "without --shard goes on from them\n",
               part, parts, n);
    return all_kept(t) && !t->interrupted ? EXIT_DONE : EXIT_NOT_COMPLETED;
}

static int tune(struct tune *t, struct err *err)
{
    size_t part = 1, parts = 1;
    signals_phase("tuning");
    options_shard(t->options, &part, &parts, err);
    if (t->options->shard && !t->options->out)
        err_add(err, "--shard", "needs --out, where the parts keep their runs");
    if (err->n_errors > 0)
        return EXIT_BAD_USE;
    if (tune_words(t, err) != 0 || tune_open(t, err) != 0)
        return ends_interrupted() ? EXIT_NOT_COMPLETED : EXIT_BAD_USE;
    if (t->options->shard)
        return run_part(t, part, parts);
    struct tune_effect effects[UNKNOWNS_MOST] = {0};
    bool found = tune_search(t);
    for (size_t k = 0; k < t->keys.n && found; k++)
        effects[k] = tune_effect(t, k);
    for (size_t c = 0; c < t->n_cases; c++)
        pool_line_clear(&t->cases[c].search.line);
    ends_say(t->options->out ? "the same command goes on" : "without --out nothing of it is kept");
    if (!found)
        return EXIT_NOT_COMPLETED;
    bool whole = tune_tell(t, effects, err) == 0 && !t->interrupted && all_kept(t);
    return whole ? EXIT_DONE : EXIT_NOT_COMPLETED;
}

static int command_tune(const struct options *given)
{
    struct options o = *given;
    struct err err = {0};
    struct tune t = {.options = &o};
    if (o.n_args == 0) {
        fputs("collwire: tune takes a scenario, or several; see collwire tune --help\n", stderr);
        return EXIT_BAD_USE;
    }
    options_jobs(&o);
    int code = tune(&t, &err);
    errors_print(&err);
    tune_free(&t);
    return code;
}

/* ---- its row ---- */

static const char tune_text[] =
    "Finds the settings within given ranges that make a goal best, for a scenario or for several "
    "at once, and says what that gains on seeds that were not used, which settings matter, and how "
    "far each can move without loss.\n\n"
    "  collwire tune incast.json --vary switch.ecn.kmin=20KB..2MB \\\n"
    "    --vary switch.ecn.pmax=0.01..1 --goal time --guard 'drops<=0'\n"
    "  collwire tune train.json storage.json \\\n"
    "    --vary switch.routing.kind=ecmp,flowlet,adaptive \\\n"
    "    --vary cc=none,dcqcn,swift --goal time -o tuned.json\n\n"
    "A key takes a range, FROM..TO, or one of a list. All keys are tried on a grid first, of which "
    "the better half of the listed values goes on, again and again; then a search without "
    "derivatives moves the ranges. Each place runs with --seeds (1). The goal is the mean over the "
    "scenarios of its ratio to the scenario's own settings; with --faults the case at 90 %. Two "
    "goals are weighed alike, and the front of both is printed.\n\n"
    "With --out runs are kept, and the same command goes on after an interruption. On several "
    "machines run it with --shard I/N for each I of N and one --out, and then without. -o writes "
    "the first scenario with the settings.";

const struct command tune_command = {
    .name = "tune",
    .help = "settings that make a goal best, over seeds, scenarios and faults",
    .args = "SCENARIO...",
    .text = tune_text,
    .run = command_tune,
    .completes = COMPLETE_FILES,
};

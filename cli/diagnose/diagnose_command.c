// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>

#include "cli/diagnose/diagnose.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"

#define RUNS 2000 // unless --budget says otherwise

// The jobs of another scenario on this network.
static int take_jobs(struct diagnosis *d, struct err *err)
{
    static const char *const keys[] = {"workload", "transport", "cc"};
    struct draft job;
    if (!d->options->job)
        return 0;
    int status = draft_read(&job, d->options->job, err);
    for (size_t i = 0; i < 3 && status == 0; i++) {
        json_t *value = json_object_get(job.json, keys[i]);
        if (value && (i == 0 || !json_object_get(d->fit.draft.json, keys[i])))
            json_object_set(d->fit.draft.json, keys[i], value);
    }
    draft_free(&job);
    return status;
}

static int open_all(struct diagnosis *d, struct err *err)
{
    const struct options *o = d->options;
    struct fit *f = &d->fit;
    *f = (struct fit){.options = o,
                      .seeds = o->seeds > 0 ? o->seeds : 1,
                      .budget = o->budget > 0 ? o->budget : RUNS,
                      .known = json_object()};
    f->line.noun = "runs";
    int status = observed_read(&f->measured, o->args[0], err);
    if (draft_read(&f->draft, d->network, err) != 0)
        return -1;
    for (size_t i = 0; i < o->n_sets; i++)
        status |= draft_set(&f->draft, o->sets[i].path, o->sets[i].value, err);
    status |= take_jobs(d, err);
    return status == 0 ? hypotheses_make(d, err) : -1;
}

static void close_all(struct diagnosis *d)
{
    fit_points_free(&d->fit);
    free(d->fit.store);
    free(d->fit.scenario_mark);
    json_decref(d->fit.known);
    observed_free(&d->fit.measured);
    draft_free(&d->fit.draft);
    hypotheses_free(d);
}

static int diagnose(struct diagnosis *d, struct err *err)
{
    signals_phase("diagnosing");
    if (open_all(d, err) != 0)
        return ends_interrupted() ? EXIT_NOT_COMPLETED : EXIT_BAD_USE;
    uint64_t least = diagnosis_runs_least(d);
    if (d->fit.budget < least) {
        err_add(err, "--budget", "%llu runs are too few to try each cause once: %llu are needed",
                (unsigned long long)d->fit.budget, (unsigned long long)least);
        return EXIT_BAD_USE;
    }
    bool run = diagnosis_run(d);
    pool_line_clear(&d->fit.line);
    ends_say(d->options->out ? "the same command goes on" : "without --out nothing of it is kept");
    if (!run)
        return EXIT_NOT_COMPLETED;
    bool whole = diagnosis_tell(d, err) == 0 && !d->fit.interrupted && !d->fit.not_kept;
    return whole ? EXIT_DONE : EXIT_NOT_COMPLETED;
}

static int command_diagnose(const struct options *given)
{
    struct options o = *given;
    struct err err = {0};
    struct diagnosis d = {.options = &o};
    if (o.n_args != (o.network ? 1 : 2)) {
        fputs("collwire: diagnose takes a file of measured values, and --network SCENARIO; see "
              "collwire diagnose --help\n",
              stderr);
        return EXIT_BAD_USE;
    }
    options_jobs(&o);
    d.network = o.network ? o.network : o.args[1];
    o.network = NULL; // which is a network model for other commands
    int code = diagnose(&d, &err);
    errors_print(&err);
    close_all(&d);
    return code;
}

/* ---- its row ---- */

static const char diagnose_text[] =
    "Says whether a network is healthy, and if not, which cause would give what was measured. It "
    "simulates the network as it should be, and once more with each of the causes that it knows: "
    "slow, lossy and missing links, a wrong MTU, PFC, ECN or congestion control off, thresholds in "
    "wrong units, a slow bus of NICs, fewer NICs, settings of the library, few cores, another job, "
    "and pairs of them where one does not suffice. No cause is named whose run does not come "
    "nearer to what was measured.\n\n"
    "MEASURED is CSV as for fit: quantity,place,value,unit,spread. Counters may have the names of "
    "NICs and switches (np_cnp_sent, rx_prio3_pause, out_discards, local_ack_timeout_err). The "
    "scenario describes the network as it should be, with the job that was measured, or --job "
    "names a scenario that has it.\n\n"
    "  collwire diagnose measured.csv --network cluster.json\n"
    "  collwire diagnose measured.csv --network cluster.json \\\n"
    "    --job allreduce.json -o found.json\n\n"
    "Causes come in the order of how near they are. Where two are as near, the next thing to "
    "measure is what tells them apart. -o writes the scenario with the first cause.";

const struct command diagnose_command = {
    .name = "diagnose",
    .help = "the cause that would give what was measured, by trials",
    .args = "MEASURED.csv",
    .text = diagnose_text,
    .run = command_diagnose,
    .completes = COMPLETE_FILES,
};

// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "cli/runs/report.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "library/handles.h"

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

/* ---- sizes of tables and recordings ---- */

// Count the ranks of the network.
static int network_ranks(const struct diagnosis *d, uint32_t *ranks, struct err *err)
{
    struct collwire_scenario *scenario =
        scenario_of_json(d->options, d->fit.draft.json, d->fit.draft.folder, err);
    if (!scenario)
        return -1;
    *ranks = spec_ranks(scenario_spec(scenario_of(scenario)));
    collwire_scenario_free(scenario);
    return 0;
}

static bool is_of_library(const struct diagnosis *d)
{
    const json_t *json = d->fit.draft.json, *job = draft_job(d->fit.draft.json);
    return json_object_get(job, "library") ||
           json_object_get(json_object_get(json, "topology"), "machine");
}

// The job of the sizes is a collective of their operation.
static int check_job(const struct diagnosis *d, struct err *err)
{
    const json_t *job = draft_job(d->fit.draft.json);
    const char *kind = json_string_value(json_object_get(job, "kind")),
               *op = json_string_value(json_object_get(job, "op"));
    if (!kind || strcmp(kind, "collective") != 0 || !op)
        return err_add(err, d->options->args[0],
                       "has times of a collective by size, and the job is none: --job, or a "
                       "scenario without a job");
    if (d->files.op && strcmp(op, d->files.op) != 0)
        return err_add(err, d->options->args[0], "is of %s, and the job of %s", d->files.op, op);
    return 0;
}

// Make the job of the table's sizes, for a network of so many ranks; 0 = not known yet.
static void make_job(struct diagnosis *d, uint32_t ranks)
{
    json_t *json = d->fit.draft.json;
    json_t *job = measured_files_job(&d->files, ranks, is_of_library(d));
    if (job)
        json_object_set_new(json, "workload", job);
}

// A job without an algorithm runs as libraries run it.
static void choose_algorithm(struct diagnosis *d)
{
    json_t *job = draft_job(d->fit.draft.json);
    const char *op = json_string_value(json_object_get(job, "op"));
    if (d->files.n_sizes > 0 && op && !json_object_get(job, "algorithm") && !is_of_library(d) &&
        strcmp(measured_algorithm(op), "ring") != 0)
        json_object_set_new(job, "algorithm", json_string(measured_algorithm(op)));
}

// Take what the files have: a job where the scenario has none, and the sizes that are simulated.
static int take_measured(struct diagnosis *d, struct err *err)
{
    json_t *json = d->fit.draft.json;
    uint32_t ranks = 0;
    uint64_t bytes;
    bool made = json_object_get(json, "workload") == NULL && d->files.n_sizes > 0;
    if (made)
        make_job(d, 0);
    if ((d->files.n_sizes > 0 && check_job(d, err) != 0) || network_ranks(d, &ranks, err) != 0)
        return -1;
    if (made)
        make_job(d, ranks);
    else
        choose_algorithm(d);
    const char *op = json_string_value(json_object_get(draft_job(json), "op"));
    if (measured_files_take(&d->files, &d->fit.measured, op, ranks, is_of_library(d), &bytes,
                            err) != 0)
        return -1;
    if (d->files.large)
        draft_set(&d->fit.draft, "network", "hybrid", err);
    if (bytes == 0)
        return 0;
    char *text = text_format("%lluB", (unsigned long long)bytes);
    json_t *own = json_object_get(draft_job(json), "bytes");
    d->own_bytes = made ? NULL : json_incref(own);
    json_object_set_new(draft_job(json), "bytes", json_string(text));
    free(text);
    return 0;
}

static int open_all(struct diagnosis *d, size_t n_files, struct err *err)
{
    const struct options *o = d->options;
    struct fit *f = &d->fit;
    *f = (struct fit){.options = o,
                      .seeds = o->seeds > 0 ? o->seeds : 1,
                      .budget = o->budget > 0 ? o->budget : RUNS,
                      .known = json_object()};
    f->line.noun = "runs";
    int status = measured_files_read(&d->files, o->args, n_files, err);
    if (draft_read(&f->draft, d->network, err) != 0)
        return -1;
    for (size_t i = 0; i < o->n_sets; i++)
        status |= draft_set(&f->draft, o->sets[i].path, o->sets[i].value, err);
    status |= take_jobs(d, err);
    if (status != 0 || take_measured(d, err) != 0)
        return -1;
    return hypotheses_make(d, err);
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
    measured_files_free(&d->files);
    json_decref(d->own_bytes);
}

static int diagnose(struct diagnosis *d, size_t n_files, struct err *err)
{
    signals_phase("diagnosing");
    if (open_all(d, n_files, err) != 0)
        return ends_interrupted() ? EXIT_NOT_COMPLETED : EXIT_BAD_USE;
    errors_print(err); // warnings, before what takes long
    uint64_t least = diagnosis_runs_least(d);
    if (d->fit.budget < least) {
        err_add(err, "--budget", "%llu runs are too few to try each cause once: %llu are needed",
                (unsigned long long)d->fit.budget, (unsigned long long)least);
        return EXIT_BAD_USE;
    }
    int status = diagnosis_run(d, err);
    pool_line_clear(&d->fit.line);
    ends_say(d->options->out ? "the same command goes on" : "without --out nothing of it is kept");
    if (status != 0)
        return d->fit.interrupted ? EXIT_NOT_COMPLETED : EXIT_BAD_USE;
    bool whole = diagnosis_tell(d, err) == 0 && !d->fit.interrupted && !d->fit.not_kept;
    int code = whole ? EXIT_DONE : EXIT_NOT_COMPLETED;
    return d->options->out ? report_after(d->options, d->options->out, code) : code;
}

static int command_diagnose(const struct options *given)
{
    struct options o = *given;
    struct err err = {0};
    struct diagnosis d = {.options = &o};
    if (o.n_args < (o.network ? 1 : 2)) {
        fputs("collwire: diagnose takes files of measured values, and --network SCENARIO; see "
              "collwire diagnose --help\n",
              stderr);
        return EXIT_BAD_USE;
    }
    options_jobs(&o);
    size_t n_files = o.network ? o.n_args : o.n_args - 1;
    d.network = o.network ? o.network : o.args[n_files];
    o.network = NULL; // which is a network model for other commands
    int code = diagnose(&d, n_files, &err);
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
    "MEASURED is CSV as for fit, quantity,place,value,unit,spread, whose counters may have the "
    "names of NICs and switches (np_cnp_sent, rx_prio3_pause, out_discards), and which may have "
    "tests between two ranks (latency, bandwidth, message_rate); a table of nccl-tests or OSU; "
    "traces of PyTorch's profiler or logs of NCCL's Inspector, whose collectives of all ranks "
    "count; a log of NCCL, whose settings are tried; FILE@rank3->rank9, a table of perftest "
    "between two ranks; FILE@rank3, a capture at the port of one. Several files are taken "
    "together. The scenario describes the network as it should be, with the job that was "
    "measured, or --job "
    "names a scenario that has it; without a job it is the collective of the table.\n\n"
    "  collwire diagnose nccl-tests.txt --network cluster.json\n"
    "  collwire diagnose measured.csv --network cluster.json\n"
    "  collwire diagnose measured.csv --network cluster.json \\\n"
    "    --job allreduce.json -o found.json\n\n"
    "Causes come in the order of how near they are. Where two are as near, the next thing to "
    "measure is what tells them apart. -o writes the broken network: the "
    "scenario with the first cause.";

const struct command diagnose_command = {
    .name = "diagnose",
    .help = "the cause that would give what was measured, by trials",
    .args = "MEASURED...",
    .text = diagnose_text,
    .run = command_diagnose,
    .completes = COMPLETE_FILES,
};

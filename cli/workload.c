// SPDX-License-Identifier: MIT
// collwire workload: makes training workloads from descriptions of networks.
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/results/output.h"
#include "config/program_text.h"
#include "config/scenario.h"
#include "workload/training/astra_workload.h"
#include "workload/training/gemm_file.h"
#include "workload/training/training_layers.h"

static int params_set(const struct options *o, struct gemm_params *params, struct err *err)
{
    size_t errors = err->n_errors;
    params_default(gemm_params, n_gemm_params, params);
    for (size_t i = 0; i < o->n_sets; i++) {
        struct param param = param_find(gemm_params, n_gemm_params, o->sets[i].path);
        if (param.name)
            param_set(&param, params, o->sets[i].value, o->sets[i].path, err);
        else
            err_add(err, o->sets[i].path, "unknown setting; see collwire list workload gemm");
    }
    for (size_t i = 0; i < o->n_sets && params->compute != GEMM_TILES; i++)
        for (size_t k = 0; gemm_tile_keys[k] != NULL; k++)
            if (strcmp(o->sets[i].path, gemm_tile_keys[k]) == 0)
                err_add(err, o->sets[i].path, "needs `compute` tiles");
    const char *key, *refused = gemm_refused(params, &key);
    if (refused != NULL)
        err_add(err, key, "%s", refused);
    return err->n_errors == errors ? 0 : -1;
}

static int write_gemm(const struct options *o, int parallel, struct err *err)
{
    struct gemm_params params;
    size_t n;
    int code = EXIT_BAD_USE, set = params_set(o, &params, err);
    struct gemm *layers = gemm_file_read(o->args[1], &n, err);
    if (set == 0 && layers && parallel != GEMM_DATA && params.group == 1)
        err_add(err, "group", "ranks that share the weights: more than 1 with --parallel %s",
                gemm_parallels[parallel]);
    else if (set == 0 && layers) {
        struct training_spec spec = gemm_training(layers, n, (enum gemm_parallel)parallel, &params);
        if (training_check_sizes(&spec, o->args[1], err) == 0) {
            char *text = astra_workload_text(&spec);
            code = text_write(o->file, text);
            free(text);
        }
        training_free(&spec);
    }
    gemms_free(layers, n);
    return code;
}

/* ---- programs ---- */

struct program_output {
    const struct node_program *program;
    unsigned *comm_streams;
    struct err *err;
};

static void put_program(FILE *out, const void *ctx)
{
    const struct program_output *p = ctx;
    program_write(out, p->program, p->comm_streams, p->err);
}

// The first job of the scenario that is a program.
static const struct node_program *program_of(const struct spec *spec)
{
    for (size_t j = 0; j < spec->n_jobs; j++)
        if (spec->jobs[j].kind->nodes != NULL)
            return spec->jobs[j].kind->nodes(&spec->jobs[j]);
    return NULL;
}

// Write the program of an llm job as JSON lines.
static int write_program(const struct options *o, struct err *err)
{
    int code = EXIT_BAD_USE;
    unsigned streams = 0;
    struct collwire_scenario *scenario = scenario_open(o, o->args[1], o->sets, o->n_sets, err);
    if (scenario == NULL)
        return code;
    struct program_output output = {program_of(scenario_spec(scenario_of(scenario))), &streams,
                                    err};
    if (output.program == NULL)
        err_add(err, "workload", "no job is a program: kind must be llm, for example");
    else
        code = output_write(o->file, put_program, &output);
    if (code == 0 && err->n_errors == 0 && o->file != NULL)
        fprintf(stderr,
                "use it as \"workload\": {\"kind\": \"program\", \"file\": \"%s\", "
                "\"comm_streams\": %u%s}\n",
                o->file, streams, output.program->in_order ? "" : ", \"order\": \"ready\"");
    collwire_scenario_free(scenario);
    return err->n_errors > 0 ? EXIT_BAD_USE : code;
}

static int command_workload(const struct options *o)
{
    struct err err = {0};
    if (o->n_args == 2 && strcmp(o->args[0], "llm") == 0) {
        int code = write_program(o, &err);
        errors_print(&err);
        return code;
    }
    int parallel = -1;
    for (int i = 0; o->parallel && gemm_parallels[i]; i++)
        if (strcmp(gemm_parallels[i], o->parallel) == 0)
            parallel = i;
    if (o->n_args != 2 || strcmp(o->args[0], "gemm") != 0 || parallel < 0) {
        fprintf(stderr, "collwire: workload takes gemm LAYERS.csv --parallel data|model|hybrid, "
                        "or llm SCENARIO; see collwire workload --help\n");
        return EXIT_BAD_USE;
    }
    int code = write_gemm(o, parallel, &err);
    errors_print(&err);
    return code;
}

/* ---- its row ---- */

static const char workload_text[] =
    "Makes the text of a training workload. gemm takes a table of matrix products, one row a "
    "layer; --set changes what collwire list workload gemm shows. llm takes a scenario with a "
    "job of kind llm and writes its nodes as JSON lines, which a job of kind program reads.\n\n"
    "  collwire workload gemm layers.csv --parallel hybrid --set group=8 -o job.txt\n"
    "  collwire workload llm scenario.json -o nodes.jsonl";

const struct command workload_command = {
    .name = "workload",
    .help = "a training workload from the shapes of a model",
    .args = "gemm LAYERS.csv --parallel KIND | llm SCENARIO",
    .text = workload_text,
    .run = command_workload,
    .completes = COMPLETE_FILES,
};

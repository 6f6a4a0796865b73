// SPDX-License-Identifier: MIT
// collwire workload: makes training workloads from descriptions of networks.
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "config/astra_workload.h"
#include "config/gemm_file.h"
#include "config/training_layers.h"

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

int command_workload(const struct options *o)
{
    struct err err = {0};
    int parallel = -1;
    for (int i = 0; o->parallel && gemm_parallels[i]; i++)
        if (strcmp(gemm_parallels[i], o->parallel) == 0)
            parallel = i;
    if (o->n_args != 2 || strcmp(o->args[0], "gemm") != 0 || parallel < 0) {
        fprintf(stderr, "collwire: workload takes gemm LAYERS.csv --parallel data|model|hybrid; "
                        "see collwire workload --help\n");
        return EXIT_BAD_USE;
    }
    int code = write_gemm(o, parallel, &err);
    errors_print(&err);
    return code;
}

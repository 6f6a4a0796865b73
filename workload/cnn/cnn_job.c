// SPDX-License-Identifier: MIT
// The kind `cnn`. Its layers and its plan are made and checked by config/job/read_cnn.c.
#include "workload/cnn/cnn_job.h"

#include <math.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "engine/text.h"
#include "footprint/device.h"
#include "workload/nodes/node_run.h"
#include "workload/workload.h"

#define ORACLE "Kahira et al., HPDC 2021"

struct cnn_time *cnn_times(const struct cnn_model *m, const struct cnn_params *p)
{
    struct cnn_time *times = memory_zeroed((size_t)m->n + 1, sizeof *times);
    double item = (double)p->item_bytes, flops = p->peak_tflops * p->efficiency,
           bytes = p->memory_gbps * 1e-3; // both in a ps
    for (uint32_t i = 0; i < m->n; i++) {
        const struct cnn_layer *l = &m->layers[i];
        double traffic = item * (cnn_inputs(l) + cnn_outputs(l));
        times[i].forward_ps = fmax(cnn_flops(l) / flops, traffic / bytes);
        times[i].backward_ps = 2 * times[i].forward_ps;
        times[i].update_ps = cnn_parameters(l) * (double)p->optimizer_bytes / bytes;
    }
    return times;
}

static const struct node_program *cnn_nodes(const struct job_spec *job)
{
    return &((const struct cnn_settings *)job->settings)->nodes;
}

static void *cnn_new(struct job_run *job)
{
    job->contention = ((const struct cnn_settings *)job->spec->settings)->contention;
    return node_run_new(job);
}

static void cnn_settings_free(void *settings)
{
    struct cnn_settings *s = settings;
    node_program_free(&s->nodes);
    cnn_model_free(&s->model);
    memory_need_free(&s->memory);
    node_input_free(&s->input);
    free(s->times);
    free(s->stage);
}

static const struct memory_need *memory_of(const struct job_spec *job)
{
    const struct cnn_settings *s = job->settings;
    return s->memory.n_classes > 0 ? &s->memory : NULL;
}

static char *lever_of(const struct job_spec *job, uint64_t free_bytes)
{
    const struct cnn_settings *s = job->settings;
    (void)free_bytes;
    bool states = footprint_largest(memory_need_most(&s->memory)) <= FOOTPRINT_OPTIMIZER;
    return text_format(states
                           ? "the strategies filter and channel divide them"
                           : "a smaller `batch` or more ranks under data or spatial divide them");
}

#define COUNT(key, member, value, least, most, text, from)                                         \
    {                                                                                              \
        .name = key, .type = PARAM_COUNT, .offset = offsetof(struct cnn_settings, params.member),  \
        .def = value, .min = least, .max = most, .help = text, .source = from                      \
    }
#define AUTO(key, member, most, text)                                                              \
    {                                                                                              \
        .name = key, .type = PARAM_COUNT, .offset = offsetof(struct cnn_settings, params.member),  \
        .def = "auto", .max = most, .can_auto = true, .help = text                                 \
    }
#define RATIO(key, member, value, least, most, text, from)                                         \
    {                                                                                              \
        .name = key, .type = PARAM_RATIO, .offset = offsetof(struct cnn_settings, params.member),  \
        .def = value, .min = least, .max = most, .help = text, .source = from                      \
    }

static const struct param cnn_params[] = {
    PARAM_ROW("model", ENUM, offsetof(struct cnn_settings, params.model), .choices = cnn_models,
              .def = "custom", .help = "layers of a published network; custom: those of `shapes`",
              .source = "He et al., 2016; Simonyan and Zisserman, 2015; Mathuriya et al., 2018"),
    PARAM_ROW("shapes", TEXT, offsetof(struct cnn_settings, params.shapes), .def = "",
              .help = "CSV file of layers: name, kind, channels, filters, width, height, depth, "
                      "kernel, stride (docs/cnn.md)"),
    PARAM_ROW("strategy", ENUM, offsetof(struct cnn_settings, params.strategy),
              .choices = cnn_strategies, .def = "data",
              .help = "how the training is divided among the ranks", .source = ORACLE),
    PARAM_ROW("batch", COUNT, offsetof(struct cnn_settings, params.batch), .min = "1",
              .max = "100000000", .help = "samples of an iteration, of all ranks"),
    COUNT("iterations", iterations, "1", "1", "100000", "training steps", NULL),
    AUTO("parts", parts, "1000000",
         "ranks of a group, which divide filters, channels or the domain among them; auto = all, "
         "of the strategies with data parallelism the size of the innermost dimension"),
    AUTO("segments", segments, "1000000",
         "pieces of the batch in a pipeline; auto = the most that divide it, up to the stages"),
    AUTO("cut_layers", cut_layers, "100000",
         "layers, from the first, whose domain is divided by spatial strategies; auto = all that "
         "can be"),
    PARAM_ROW("overlap", BOOL, offsetof(struct cnn_settings, params.overlap), .def = "true",
              .help = "gradients are reduced while earlier layers compute backward; false = after "
                      "the backward pass, as the projection assumes"),
    COUNT("item_bytes", item_bytes, "4", "1", "8",
          "bytes of an element of activations, parameters and gradients", NULL),
    COUNT("optimizer_bytes", optimizer_bytes, "20", "0", "1000",
          "memory traffic of the optimizer by parameter: momentum reads 12 and writes 8", NULL),
    PARAM_ROW("gpu", ENUM, offsetof(struct cnn_settings, params.gpu), .choices = device_names,
              .def = "v100", .help = "peak of dense 16-bit products and memory bandwidth",
              .source = "data sheets"),
    RATIO("peak_tflops", peak_tflops, "0", "0", "1000000", "in place of the GPU's; 0 = the GPU's",
          NULL),
    RATIO("memory_bandwidth", memory_gbps, "0", "0", "1000000",
          "GB/s in place of the GPU's; 0 = the GPU's", NULL),
    RATIO("efficiency", efficiency, "0.3", "0.001", "1",
          "share of the peak that convolutions reach", NULL),
    PARAM_ROW("alpha", TIME, offsetof(struct cnn_settings, params.alpha_ps), .def = "auto",
              .max = "1s", .can_auto = true,
              .help = "of the projection: time of a message without bytes; auto = delays of the "
                      "longest path",
              .source = ORACLE),
    PARAM_ROW("beta", RATE, offsetof(struct cnn_settings, params.beta_bps), .def = "auto",
              .min = "1Mbps", .can_auto = true,
              .help = "of the projection: rate of a message's bytes; auto = the slowest link's",
              .source = ORACLE),
    RATIO("contention_factor", contention_factor, "1", "1", "1000",
          "of the projection: by how much gradients between groups are slower than alone", ORACLE),
    RATIO("memory_reuse", memory_reuse, "1", "0.001", "1000",
          "of the projection: share of the memory of all tensors that is in use at once", ORACLE),
    GROUP_ROWS(struct cnn_settings, group),
    CONTENTION_ROWS(struct cnn_settings, contention),
    MAPPING_ROWS(struct cnn_settings, mapping),
};

static struct job_work cnn_work(const struct job_spec *job)
{
    const struct cnn_settings *s = job->settings;
    double samples = (double)s->params.iterations * (double)s->params.batch, flops = 0;
    for (uint32_t i = 0; i < s->model.n; i++)
        flops += 3 * cnn_flops(&s->model.layers[i]);
    return (struct job_work){
        .samples = samples, .flops = samples * flops, .peak_flops = 1e12 * s->params.peak_tflops};
}

static struct job_projection cnn_projection(const struct job_spec *job)
{
    const struct cnn_settings *s = job->settings;
    struct cnn_cost cost = cnn_project(&s->program.plan);
    double n = (double)s->params.iterations;
    return (struct job_projection){
        .compute_ps = n * cost.compute_ps,
        .communication_ps = n * cost.communication_ps,
        .memory_bytes = cost.memory_bytes,
        .most_ranks = cnn_most_parts(&s->model, s->program.plan.strategy, s->params.batch)};
}

const struct job_kind cnn_kind = {
    .name = "cnn",
    .doc = "training of a convolutional network by the shapes of its layers: data, spatial, "
           "pipeline, filter and channel parallelism, beside the closed form of each",
    .source = "the Oracle study (" ORACLE ")",
    .params = cnn_params,
    .n_params = sizeof cnn_params / sizeof *cnn_params,
    .settings_bytes = sizeof(struct cnn_settings),
    .free_settings = cnn_settings_free,
    .program = &node_run_ops,
    .new = cnn_new,
    .nodes = cnn_nodes,
    .work = cnn_work,
    .projection = cnn_projection,
    .memory = memory_of,
    .memory_lever = lever_of,
};

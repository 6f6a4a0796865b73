// SPDX-License-Identifier: MIT
// The kind `cnn`. Its layers and its plan are made and checked by workload/cnn/read_cnn.c.
#include "workload/cnn/cnn_job.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/gpu_memory/device.h"
#include "workload/nodes/node_run.h"
#include "workload/workload.h"

#define ORACLE "Kahira et al., HPDC 2021"
#define KARMA "Wahib et al., SC 2020 (KARMA)"

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
    cnn_offload_free(&s->offload);
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
    bool can_leave = s->params.strategy == CNN_SERIAL || s->params.strategy == CNN_DATA;
    return text_format("%s%s",
                       states ? "the strategies filter and channel divide them"
                              : "a smaller `batch` or more ranks under data or spatial divide them",
                       can_leave ? ", and `out_of_core` moves them to the host" : "");
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
    PARAM_ROW("out_of_core", BOOL, offsetof(struct cnn_settings, params.offload.out_of_core),
              .def = "false",
              .help =
                  "outputs of layers that the GPU has no room for go to the host and come back, "
                  "or are computed again (strategies serial and data)",
              .source = KARMA),
    PARAM_ROW("out_of_core_method", ENUM, offsetof(struct cnn_settings, params.offload.method),
              .choices = offload_methods, .def = "auto",
              .help = "what may become of outputs: they are kept, swapped or recomputed, whichever "
                      "takes least time; kept or swapped; kept or recomputed",
              .source = KARMA),
    RATIO("tensors_per_layer", offload.tensors, "1", "1", "100",
          "out of core: tensors of the size of its output that a layer keeps for its backward "
          "pass: 1 = its output, 3 = those of convolution, normalisation and activation",
          NULL),
    PARAM_ROW("swap_rate", RATE, offsetof(struct cnn_settings, params.offload.swap_bps),
              .def = "96Gbps", .min = "1Mbps",
              .help = "of a GPU's link to its host, in each direction: 12 GB/s of PCIe 3.0 x16"),
    PARAM_ROW("swap_weights", ENUM, offsetof(struct cnn_settings, params.offload.swap_weights),
              .choices = cnn_swap_weights, .def = "auto",
              .help = "weights come from the host before each pass, and the host updates them; "
                      "auto = where nothing fits while they stay on the GPU",
              .source = KARMA),
    PARAM_ROW("host_update_rate", RATE, offsetof(struct cnn_settings, params.offload.update_bps),
              .def = "400Gbps", .min = "1Mbps",
              .help = "of the memory traffic (`optimizer_bytes`) of the host that updates weights, "
                      "for each GPU: 50 GB/s"),
    PARAM_ROW("host_capacity", BYTES, offsetof(struct cnn_settings, params.offload.host_bytes),
              .def = "auto", .min = "1B", .max = "1PB", .can_auto = true,
              .help = "memory of the host for each GPU; auto = as much as is needed"),
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
    if (s->program.offload != NULL) {
        cost.compute_ps = (double)s->offload.plan.iteration_ps;
        cost.memory_bytes = (double)footprint_total(memory_need_most(&s->memory));
    }
    return (struct job_projection){
        .compute_ps = n * cost.compute_ps,
        .communication_ps = n * cost.communication_ps,
        .memory_bytes = cost.memory_bytes,
        .most_ranks = cnn_most_parts(&s->model, s->program.plan.strategy, s->params.batch)};
}

static bool cnn_swap(const struct job_spec *job, struct job_swap *swap)
{
    const struct cnn_settings *s = job->settings;
    const struct offload_plan *plan = &s->offload.plan;
    double n = (double)s->params.iterations;
    if (s->program.offload == NULL)
        return false;
    *swap = (struct job_swap){.use = s->program.use[CNN_USE_SWAP],
                              .kept = plan->kept,
                              .swapped = plan->swapped,
                              .recomputed = plan->recomputed,
                              .weights = s->offload.chain.swaps_weights,
                              .recomputed_ps = n * (double)plan->recomputed_ps,
                              .faster_ps = n * (double)(plan->iteration_ps - s->offload.faster_ps),
                              .link_bps = s->offload.chain.link_bps};
    return true;
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
    .swap = cnn_swap,
    .memory = memory_of,
    .memory_lever = lever_of,
};

// SPDX-License-Identifier: MIT
// The kind `llm`. Its shapes are completed and checked by workload/llm/read_llm.c.
#include "workload/llm/llm_job.h"

#include "workload/gpu_memory/device.h"
#include "workload/gpu_memory/optimizer.h"
#include "workload/llm/llm_memory.h"
#include "workload/nodes/node_run.h"
#include "workload/workload.h"

static const struct node_program *llm_nodes(const struct job_spec *job)
{
    return &((const struct llm_settings *)job->settings)->nodes;
}

static void *llm_new(struct job_run *job)
{
    const struct llm_settings *settings = job->spec->settings;
    const struct memory_need *need = &settings->memory;
    job->contention = settings->contention;
    struct node_run *run = node_run_new(job);
    if (need->n_classes > 0)
        node_run_watch(run, need->classes[need->fullest].rank, need->n_steps);
    return run;
}

static void llm_settings_free(void *settings)
{
    struct llm_settings *s = settings;
    node_program_free(&s->nodes);
    memory_need_free(&s->memory);
    node_input_free(&s->input);
}

static const struct memory_need *memory_of(const struct job_spec *job)
{
    const struct llm_settings *s = job->settings;
    return s->memory.n_classes > 0 ? &s->memory : NULL;
}

static char *lever_of(const struct job_spec *job, uint64_t free_bytes)
{
    const struct llm_settings *s = job->settings;
    return llm_memory_lever(&s->program, &s->memory, free_bytes);
}

static const char *const gates[] = {"false", "true", "auto", NULL};

#define MEGATRON "Narayanan et al., SC 2021"

#define SHAPE(key, member, most, text)                                                             \
    {                                                                                              \
        .name = key, .type = PARAM_COUNT, .offset = offsetof(struct llm_settings, params.member),  \
        .def = "auto", .min = "1", .max = most, .can_auto = true, .help = text                     \
    }
#define COUNT(key, member, value, least, most, text, from)                                         \
    {                                                                                              \
        .name = key, .type = PARAM_COUNT, .offset = offsetof(struct llm_settings, params.member),  \
        .def = value, .min = least, .max = most, .help = text, .source = from                      \
    }
#define OPTIMIZER(key, member, text)                                                               \
    {                                                                                              \
        .name = key, .type = PARAM_COUNT, .offset = offsetof(struct llm_settings, params.member),  \
        .def = "auto", .max = "1000", .can_auto = true, .help = text,                              \
        .source = "Rajbhandari et al., 2020"                                                       \
    }
#define RATIO(key, member, value, most, text, from)                                                \
    {                                                                                              \
        .name = key, .type = PARAM_RATIO, .offset = offsetof(struct llm_settings, params.member),  \
        .def = value, .min = "0", .max = most, .help = text, .source = from                        \
    }
#define CHOICE(key, member, words, value, text, from)                                              \
    {                                                                                              \
        .name = key, .type = PARAM_ENUM, .offset = offsetof(struct llm_settings, params.member),   \
        .choices = words, .def = value, .help = text, .source = from                               \
    }
#define SWITCH(key, member, value, text, from)                                                     \
    {                                                                                              \
        .name = key, .type = PARAM_BOOL, .offset = offsetof(struct llm_settings, params.member),   \
        .def = value, .help = text, .source = from                                                 \
    }

// Those of workload/kernels/product.h that need no density.
static const char *const weight_sparsities[] = {"none", "2:4", NULL};
static const char *const attentions[] = {"fused", "unfused", NULL};

static const struct param llm_params[] = {
    CHOICE("model", model, llm_models, "custom",
           "shapes of a published model; keys of the job override them",
           "Brown et al., 2020; Grattafiori et al., 2024; Jiang et al., 2024"),
    SHAPE("layers", layers, "10000", "transformer layers; auto = of the model"),
    SHAPE("hidden", hidden, "1000000", "hidden size h; auto = of the model"),
    SHAPE("heads", heads, "100000", "attention heads; auto = of the model"),
    SHAPE("kv_heads", kv_heads, "100000",
          "heads of keys and values (grouped-query attention); auto = of the model, else `heads`"),
    SHAPE("ffn", ffn, "10000000", "size of the feed-forward part; auto = of the model, else 4 h"),
    CHOICE("gated", gated, gates, "auto",
           "the feed-forward part has three matrices (SwiGLU) in place of two; auto = of the "
           "model, else false",
           "Shazeer, 2020"),
    SHAPE("sequence", sequence, "100000000", "tokens of a sequence; auto = of the model"),
    SHAPE("vocabulary", vocabulary, "100000000", "auto = of the model"),
    PARAM_ROW("global_batch", COUNT, offsetof(struct llm_settings, params.global_batch), .min = "1",
              .max = "100000000", .help = "sequences of an iteration, of all ranks"),
    COUNT("micro_batch", micro_batch, "1", "1", "1000000",
          "sequences that pass through the layers at once; the rest of a rank's batch "
          "accumulates gradients",
          NULL),
    COUNT("iterations", iterations, "1", "1", "100000", "training steps", NULL),
    COUNT("tensor", degrees[LLM_TENSOR], "1", "1", "262144", "degree of tensor parallelism",
          MEGATRON),
    COUNT("context", degrees[LLM_CONTEXT], "1", "1", "262144",
          "degree of context parallelism: the sequence is cut", "Grattafiori et al., 2024"),
    COUNT("expert", degrees[LLM_EXPERT], "1", "1", "262144",
          "degree of expert parallelism; its ranks have data of their own",
          "Lepikhin et al., 2021"),
    COUNT("data", degrees[LLM_DATA], "1", "1", "262144",
          "degree of data parallelism. The product of all degrees is the number of ranks", NULL),
    COUNT("pipeline", degrees[LLM_PIPELINE], "1", "1", "262144", "pipeline stages", MEGATRON),
    CHOICE("schedule", schedule, pipeline_schedules, "1f1b", "of the pipeline",
           "Huang et al., 2019; Narayanan et al., SOSP 2019, SC 2021"),
    COUNT("virtual_stages", virtual_stages, "1", "1", "1000",
          "parts of the model that a stage of the interleaved schedule has", MEGATRON),
    SWITCH("tables_as_layers", tables_as_layers, "false",
           "the embedding and the logits count as a layer each where layers are divided among "
           "stages: the first and the last have one less",
           "Grattafiori et al., 2024, section 3.3.2"),
    SWITCH("sequence_parallel", sequence_parallel, "true",
           "tensor parallelism gathers and scatters activations in place of all-reducing them",
           "Korthikanti et al., 2023"),
    COUNT("zero", zero, "0", "0", "3",
          "what data parallelism shards: 1 optimizer states, 2 gradients, 3 parameters",
          "Rajbhandari et al., 2020"),
    SWITCH("overlap", overlap, "true",
           "gradients are reduced while earlier layers compute backward; false = after all passes",
           NULL),
    CHOICE("recompute", recompute, recompute_names, "none",
           "activations that the backward pass computes again: of attention, or all",
           "Korthikanti et al., 2023"),
    CHOICE("dropout", dropout, gates, "auto",
           "masks of dropout are kept for the backward pass; auto = of the model, else true",
           "Korthikanti et al., 2023"),
    PARAM_ROW("experts", COUNT, offsetof(struct llm_settings, params.experts), .def = "auto",
              .max = "100000", .can_auto = true,
              .help = "of a mixture-of-experts layer, 0 = none; auto = of the model, else none"),
    SHAPE("top_k", top_k, "1000", "experts of a token; auto = of the model, else 2"),
    SHAPE("expert_ffn", expert_ffn, "10000000", "size of an expert; auto = `ffn`"),
    COUNT("moe_every", moe_every, "1", "1", "1000", "every so many layers have experts", NULL),
    RATIO("capacity", capacity, "0", "1000",
          "most tokens of an expert, by its fair share; 0 = no limit, no token is dropped",
          "Fedus et al., 2022"),
    RATIO("skew", skew, "0", "10",
          "exponent of Zipf's law for the popularity of experts (seeded order); 0 = uniform", NULL),
    COUNT("activation_bytes", activation_bytes, "2", "1", "8", "bytes of an activation", NULL),
    COUNT("gradient_bytes", gradient_bytes, "2", "1", "8", "bytes of a gradient in its reduction",
          NULL),
    COUNT("parameter_bytes", parameter_bytes, "2", "1", "8", "bytes of a parameter", NULL),
    CHOICE("optimizer", optimizer, optimizer_names, "adam",
           "what is kept for a parameter: two moments, two of one byte, one moment, or none; and a "
           "master copy of 4 bytes of smaller parameters",
           "Rajbhandari et al., 2020; Dettmers et al., 2022"),
    OPTIMIZER("state_bytes", state_bytes,
              "what the optimizer keeps by parameter; auto = of the optimizer (adam: 12)"),
    OPTIMIZER("optimizer_bytes", optimizer_bytes,
              "memory traffic of the optimizer by parameter; auto = of the optimizer: "
              "mixed-precision Adam reads 16 and writes 14"),
    CHOICE("gpu", gpu, device_names, "h100",
           "peak of dense 16-bit products, memory bandwidth and memory", "data sheets"),
    RATIO("peak_tflops", peak_tflops, "0", "1000000", "in place of the GPU's; 0 = the GPU's", NULL),
    RATIO("memory_bandwidth", memory_gbps, "0", "1000000",
          "GB/s in place of the GPU's; 0 = the GPU's", NULL),
    PARAM_ROW("efficiency", RATIO, offsetof(struct llm_settings, params.efficiency), .def = "auto",
              .min = "0.001", .max = "1", .can_auto = true,
              .help = "share of the peak that matrix products reach; auto = of each product by its "
                      "shape, attention and kernels that wait for memory by theirs",
              .source = "measured on an H100, docs/kernels.md"),
    CHOICE("attention", attention, attentions, "fused",
           "where times are by shape: one kernel, or products with their scores in memory",
           "Dao et al., 2022"),
    CHOICE("precision", precision, number_types, "16bit",
           "of products by weights, where times are by shape; attention has 16 bits",
           "data sheets"),
    CHOICE("sparsity", sparsity, weight_sparsities, "none",
           "of weights, where times are by shape: 2:4 = two of four are 0, forward and for the "
           "gradients of inputs",
           "Mishra et al., 2021"),
    GROUP_ROWS(struct llm_settings, group),
    CONTENTION_ROWS(struct llm_settings, contention),
    PARAM_ROW("contention_attention", RATIO,
              offsetof(struct llm_settings, params.attention_contention), .def = "auto", .min = "0",
              .max = "0.95", .can_auto = true,
              .help = "contention of attention, where times are by shape; auto = `contention`",
              .source = "measured on an H100, docs/kernels.md"),
    PARAM_ROW("contention_memory", RATIO, offsetof(struct llm_settings, params.memory_contention),
              .def = "auto", .min = "0", .max = "0.95", .can_auto = true,
              .help = "contention of kernels that wait for memory, likewise"),
    MAPPING_ROWS(struct llm_settings, mapping),
};

static struct job_work llm_work(const struct job_spec *job)
{
    const struct llm_settings *settings = job->settings;
    const struct llm_params *p = &settings->params;
    double iterations = (double)p->iterations, samples = iterations * (double)p->global_batch;
    return (struct job_work){
        .tokens = samples * (double)p->sequence,
        .samples = samples,
        .flops = iterations * llm_model_flops(&settings->program.spec),
        .peak_flops = llm_gpus_peak(&settings->program.gpus, p, settings->program.layout.n_ranks)};
}

const struct job_kind llm_kind = {
    .name = "llm",
    .doc = "training of a transformer by its shapes, in tensor, context, expert, data and "
           "pipeline parallelism",
    .source = "Megatron-LM (" MEGATRON "); ZeRO; GShard",
    .params = llm_params,
    .n_params = sizeof llm_params / sizeof *llm_params,
    .settings_bytes = sizeof(struct llm_settings),
    .free_settings = llm_settings_free,
    .program = &node_run_ops,
    .new = llm_new,
    .nodes = llm_nodes,
    .work = llm_work,
    .memory = memory_of,
    .memory_lever = lever_of,
};

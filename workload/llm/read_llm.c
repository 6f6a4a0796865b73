// SPDX-License-Identifier: MIT
// Reads llm jobs: completes the shapes, checks that degrees divide them, lays out the ranks.
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/text/schema_parts.h"
#include "workload/kernels/product.h"
#include "workload/llm/llm_job.h"
#include "workload/llm/llm_memory.h"
#include "workload/nodes/job_groups.h"
#include "workload/nodes/read_input.h"
#include "workload/read/job_reader.h"

struct llm_reader {
    struct reader *r;
    const struct place *place;
    struct llm_settings *settings;
    const struct llm_params *p;
};

// `value` of `key` must be a multiple of `by`.
static void divides(const struct llm_reader *l, const char *key, uint64_t value, const char *by_key,
                    uint64_t by)
{
    if (value % by != 0)
        place_key_error(l->r->err, l->place, key, "%llu is not a multiple of %s %llu",
                        (unsigned long long)value, by_key, (unsigned long long)by);
}

static void check_pipeline(const struct llm_reader *l)
{
    const struct llm_params *p = l->p;
    uint64_t stages = p->degrees[LLM_PIPELINE], batch = p->global_batch / p->micro_batch;
    uint64_t replicas = p->degrees[LLM_DATA] * p->degrees[LLM_EXPERT];
    bool interleaved = p->schedule == PIPELINE_INTERLEAVED;
    divides(l, "global_batch", p->global_batch, "data * expert * micro_batch",
            replicas * p->micro_batch);
    if (!interleaved && p->virtual_stages > 1)
        place_key_error(l->r->err, l->place, "virtual_stages",
                        "only the interleaved schedule has more than one");
    if (stages == 1 && p->virtual_stages > 1)
        place_key_error(l->r->err, l->place, "virtual_stages",
                        "more than one needs a pipeline of several stages");
    if (p->tables_as_layers && p->layers + 2 < 2 * stages * p->virtual_stages)
        place_key_error(l->r->err, l->place, "tables_as_layers",
                        "needs two layers a stage, these two counted: %llu for %llu",
                        (unsigned long long)(2 * stages * p->virtual_stages - 2),
                        (unsigned long long)(stages * p->virtual_stages));
    divides(l, p->tables_as_layers ? "layers + 2" : "layers",
            p->layers + (p->tables_as_layers ? 2 : 0),
            p->virtual_stages > 1 ? "pipeline * virtual_stages" : "pipeline",
            stages * p->virtual_stages);
    if (interleaved && p->virtual_stages > 1 && batch / replicas % stages != 0)
        place_key_error(l->r->err, l->place, "schedule",
                        "interleaved needs a multiple of %llu micro-batches (pipeline), not %llu",
                        (unsigned long long)stages, (unsigned long long)(batch / replicas));
}

static void check_experts(const struct llm_reader *l)
{
    const struct llm_params *p = l->p;
    if (p->experts == 0) {
        if (p->degrees[LLM_EXPERT] > 1)
            place_key_error(l->r->err, l->place, "expert", "the model has no experts (`experts`)");
        return;
    }
    divides(l, "experts", p->experts, "expert", p->degrees[LLM_EXPERT]);
    if (p->top_k > p->experts)
        place_key_error(l->r->err, l->place, "top_k", "%llu exceeds the model's %llu experts",
                        (unsigned long long)p->top_k, (unsigned long long)p->experts);
}

static void check_shapes(const struct llm_reader *l)
{
    const struct llm_params *p = l->p;
    divides(l, "hidden", p->hidden, "heads", p->heads);
    divides(l, "heads", p->heads, "tensor", p->degrees[LLM_TENSOR]);
    divides(l, "heads", p->heads, "kv_heads", p->kv_heads);
    divides(l, "hidden", p->hidden, "tensor", p->degrees[LLM_TENSOR]);
    bool cut = p->sequence_parallel && p->degrees[LLM_TENSOR] > 1;
    divides(l, "sequence", p->sequence, cut ? "tensor * context" : "context",
            p->degrees[LLM_CONTEXT] * (cut ? p->degrees[LLM_TENSOR] : 1));
}

static void check_ranks(const struct llm_reader *l, uint32_t ranks)
{
    double product = 1;
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        product *= (double)l->p->degrees[d];
    if (ranks > 0 && !(product >= ranks && product <= ranks))
        place_error(
            l->r->err, l->place,
            "the degrees (tensor * context * expert * data * pipeline) multiply to %.0f, but "
            "the job has %u ranks",
            product, ranks);
}

// Read `placement`: all five degrees, innermost first.
static void read_placement(const struct llm_reader *l)
{
    struct place at = place_key(l->place, "placement");
    bool seen[LLM_DEGREES] = {false};
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        l->settings->order[d] = (enum llm_degree)d;
    if (at.json == NULL || !read_list(l->r, &at))
        return;
    size_t n = json_array_size(at.json);
    if (n != LLM_DEGREES) {
        place_error(l->r->err, &at,
                    "must list tensor, context, expert, data and pipeline, innermost first");
        return;
    }
    for (unsigned i = 0; i < LLM_DEGREES; i++) {
        struct place item = place_item(&at, i);
        int word = read_word(l->r, &item, "degree", llm_degree_names);
        if (word < 0)
            return;
        if (seen[word])
            place_error(l->r->err, &item, "%s is listed twice", llm_degree_names[word]);
        seen[word] = true;
        l->settings->order[i] = (enum llm_degree)word;
    }
}

#define BYTES_MOST 1e15 // 1 PB
#define PS_MOST 1e17    // 100000 s

// What only times by shape take, and what the GPU has units for.
static void check_by_shape(const struct llm_reader *l, const struct llm_spec *s)
{
    static const char *const keys[] = {
        "precision", "sparsity", "attention", "contention_attention", "contention_memory", NULL};
    const struct llm_params *p = l->p;
    const char *gpu = devices[s->p.gpu].title;
    if (!s->by_shape) {
        place_keys_need(l->r->err, l->place, llm_kind.params, llm_kind.n_params, l->settings, keys,
                        "times by shape: `efficiency` auto");
        return;
    }
    if (!(s->gpu.flops_ps[p->precision] > 0))
        place_key_error(l->r->err, l->place, "precision", "%s has no matrix units for %s: 16bit",
                        gpu, number_types[p->precision]);
    if (p->sparsity == SPARSITY_STRUCTURED && !s->gpu.structured)
        place_key_error(l->r->err, l->place, "sparsity", "%s has no units for 2:4", gpu);
}

// Messages and times beyond what programs may have: computed in floating point, since integers
// overflow.
static void check_limits(const struct llm_reader *l, const struct llm_spec *on, double factor)
{
    const struct llm_params *p = l->p;
    struct llm_spec s = *on;
    check_by_shape(l, &s);
    double h = (double)p->hidden, act = (double)p->activation_bytes;
    double rows = (double)p->micro_batch * (double)p->sequence;
    double weights = h * (4 * h + 3 * (double)p->ffn + (double)p->vocabulary +
                          (double)p->experts * (1 + 3 * (double)p->expert_ffn));
    double widest = p->gradient_bytes > p->parameter_bytes ? (double)p->gradient_bytes
                                                           : (double)p->parameter_bytes;
    double message = rows * h * act * (double)(p->experts > 0 ? p->top_k + 2 : 2);
    double flops = 4 * rows * (weights + 4 * (double)p->sequence * h);
    if (message > BYTES_MOST || weights * widest > BYTES_MOST)
        place_error(l->r->err, l->place, "the shapes make messages above 1 PB");
    else if (factor * flops / s.flops_per_ps > PS_MOST ||
             factor * (weights * ((double)p->optimizer_bytes + widest) + 34 * rows * h) /
                     s.bytes_per_ps >
                 PS_MOST / 4)
        place_error(l->r->err, l->place, "the shapes make computations above 100000 s");
}

// True if the groups of this kind run the operation.
static bool group_runs(const struct llm_params *p, enum llm_group kind, enum coll_op op)
{
    bool sums = kind == LLM_GROUP_TENSOR    ? !p->sequence_parallel
                : kind == LLM_GROUP_CONTEXT ? false
                                            : p->zero == 0;
    if (kind == LLM_GROUP_EXPERT)
        return op == COLL_ALL_TO_ALL;
    return sums ? op == COLL_ALL_REDUCE : op == COLL_REDUCE_SCATTER || op == COLL_ALL_GATHER;
}

// Check the algorithms for the operations that each kind of group runs.
static void check_groups(const struct llm_reader *l, const struct job_spec *job)
{
    static const enum coll_op ops[] = {COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER,
                                       COLL_ALL_TO_ALL};
    const struct node_program *nodes = &l->settings->nodes;
    const struct llm_program *program = &l->settings->program;
    struct place at = place_key(l->place, "algorithm");
    const struct coll_uneven *uneven = NULL;
    for (uint32_t layer = 0; layer < l->p->layers && (l->p->skew > 0 || l->p->capacity > 0);
         layer++)
        if (program->loads != NULL && program->loads[layer].bytes != NULL)
            uneven = &program->loads[layer].to;
    for (unsigned kind = 0; kind < LLM_GROUPS; kind++)
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
            if (program->layout.group[kind] == NULL ||
                !group_runs(l->p, (enum llm_group)kind, ops[i]))
                continue;
            struct coll_shape shape = {.op = ops[i],
                                       .bytes = 1 << 20,
                                       .uneven = ops[i] == COLL_ALL_TO_ALL ? uneven : NULL};
            if (!job_groups_check(l->r, at.json != NULL ? &at : l->place, job, nodes->groups,
                                  program->layout.group[kind], shape))
                return;
        }
}

static void check_boundaries(const struct llm_reader *l, const struct job_spec *job)
{
    const struct llm_layout *layout = &l->settings->program.layout;
    uint32_t n = layout->size[LLM_PIPELINE];
    for (uint32_t rank = 0; rank < layout->n_ranks && n > 1; rank++) {
        uint32_t next = (llm_coordinate(layout, rank, LLM_PIPELINE) + 1) % n;
        if (!pair_check(l->r, l->place, job, rank, llm_neighbour(layout, rank, LLM_PIPELINE, next)))
            return;
    }
}

// Sequences that each rank reads in an iteration: on the first stage those of its data-parallel
// part, which context-parallel ranks divide and tensor-parallel ones each read.
static double *samples_of_ranks(const struct llm_reader *l)
{
    const struct llm_layout *layout = &l->settings->program.layout;
    double *samples = memory_zeroed(layout->n_ranks, sizeof *samples);
    double parts =
        (double)layout->size[LLM_DATA] * layout->size[LLM_EXPERT] * layout->size[LLM_CONTEXT];
    for (uint32_t rank = 0; rank < layout->n_ranks; rank++)
        if (llm_coordinate(layout, rank, LLM_PIPELINE) == 0)
            samples[rank] = (double)l->p->global_batch / parts;
    return samples;
}

static void read_llm(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct llm_settings *settings = job->settings;
    struct llm_reader l = {r, place, settings, &settings->params};
    const char *missing[8];
    size_t errors = r->err->n_errors;
    uint32_t ranks = job_size(r, job);
    map_ranks(r, place, job, &settings->mapping);
    settings->choice.params = settings->group;
    group_algorithms_read(r, place, &settings->choice);
    read_placement(&l);
    job_input_read(r, place, job, &settings->input.spec);
    if (r->err->n_errors > errors)
        return;
    settings->params.contention = settings->contention.share;
    size_t n = llm_resolve(&settings->params, missing, sizeof missing / sizeof *missing);
    for (size_t i = 0; i < n; i++)
        place_key_error(l.r->err, l.place, missing[i], "is required: `model` is custom");
    check_ranks(&l, ranks);
    if (n > 0)
        return;
    check_shapes(&l);
    check_pipeline(&l);
    check_experts(&l);
    struct llm_spec own = llm_spec_of(&settings->params);
    check_limits(&l, &own, 1);
    if (r->err->n_errors > errors || ranks == 0)
        return;
    struct llm_gpus gpus;
    llm_gpus_read(&gpus, r, place, &settings->params, ranks);
    for (size_t i = 0; i < gpus.n; i++)
        check_limits(&l, &gpus.list[i].spec, gpus.list[i].factor);
    settings->program.gpus = gpus;
    if (r->err->n_errors > errors) {
        llm_gpus_free(&settings->program.gpus);
        return;
    }
    llm_program_init(&settings->program, &settings->nodes, &settings->params, settings->order,
                     &settings->choice, r->site->seed);
    llm_memory(&settings->program, &settings->memory);
    check_groups(&l, job);
    check_boundaries(&l, job);
    job_input_add(r, place, job, &settings->input, &settings->nodes, samples_of_ranks(&l),
                  settings->params.iterations, &settings->choice);
}

static void write_placement(json_t *json, const char *key, const void *value, const json_t *given)
{
    const struct llm_settings *settings = value;
    json_t *order = json_array();
    (void)given;
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        json_array_append_new(order, json_string(llm_degree_names[settings->order[d]]));
    json_object_set_new(json, key, order);
}

static json_t *placement_schema(void) { return schema_list(schema_words(llm_degree_names)); }

static const struct job_part llm_parts[] = {
    GROUP_PARTS(struct llm_settings, choice),
    INPUT_PARTS(struct llm_settings, input.spec, 0),
    PART_ROW("placement", "list", "tensor, context, expert, data, pipeline",
             "the degrees, innermost first: neighbouring ranks are in one server",
             .write = write_placement, .schema = placement_schema),
    PART_ROW("gpus", "list", "none",
             "of {from, to, gpu, factor}: ranks of the job with another GPU, or a slower one",
             .schema = llm_gpus_schema),
    PARTS_END,
};
const struct job_reader llm_reader = {
    .read = read_llm,
    .parts = llm_parts,
    .algorithms = offsetof(struct llm_settings, choice.algorithms),
};

// SPDX-License-Identifier: MIT
// Reads cnn jobs: the layers, and the plan of the strategy on the job's ranks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"
#include "workload/cnn/cnn_file.h"
#include "workload/cnn/cnn_job.h"
#include "workload/cnn/cnn_memory.h"
#include "workload/gpu_memory/device.h"
#include "workload/nodes/job_groups.h"
#include "workload/nodes/read_input.h"
#include "workload/read/job_reader.h"
#include "workload/read/site.h"

/* ---- cnn out of core ---- */

// Memory of a GPU that the job may use.
static uint64_t usable_bytes(const struct site *spec, const struct cnn_params *p)
{
    uint64_t capacity =
        spec->capacity_bytes != PARAM_AUTO ? spec->capacity_bytes : devices[p->gpu].memory_bytes;
    return capacity > spec->reserve_bytes ? capacity - spec->reserve_bytes : 0;
}

static void lack_error(struct reader *r, const struct place *place, const struct cnn_settings *s)
{
    const struct offload_chain *chain = &s->offload.chain;
    char needs[UNIT_TEXT], has[UNIT_TEXT];
    uint32_t layer = 0;
    uint64_t least = offload_least_bytes(chain, &layer), all = 0;
    for (uint32_t l = 0; l < chain->n; l++)
        all += chain->layers[l].output_bytes;
    human_bytes(chain->capacity_bytes, has);
    if (s->offload.lacks_states)
        place_key_error(r->err, place, "host_capacity",
                        "has no room for weights, gradients and optimizer states, which are out "
                        "of core");
    else if (least > chain->capacity_bytes)
        place_key_error(
            r->err, place, "out_of_core",
            "layer %s alone needs %s for its input, its output, their gradients%s and the "
            "network's input, and the GPU has %s for them%s: a smaller `batch` a GPU",
            s->model.layers[layer].name, human_bytes(least, needs),
            chain->swaps_weights ? ", its weights, their gradient" : "", has,
            chain->swaps_weights ? "" : " beside weights, gradients and optimizer states");
    else if (s->params.offload.method == OFFLOAD_ONLY_RECOMPUTE)
        place_key_error(r->err, place, "out_of_core_method",
                        "recompute alone does not fit into the %s that the GPU has for outputs; "
                        "auto and swap do",
                        has);
    else
        place_key_error(r->err, place, "host_capacity",
                        "the outputs that have to leave do not fit: the host has %s for them, and "
                        "with %s it could hold all",
                        human_bytes(chain->host_bytes, needs), human_bytes(all, has));
}

// Plan a job whose strategy has been planned, if it is out of core. Returns false with errors.
static bool cnn_out_of_core_read(struct reader *r, const struct place *place,
                                 struct cnn_settings *s)
{
    const struct cnn_plan *plan = &s->program.plan;
    struct cnn_offload_params params = s->params.offload;
    static const char *const keys[] = {
        "out_of_core_method", "tensors_per_layer", "swap_rate", "swap_weights",
        "host_update_rate",   "host_capacity",     NULL};
    if (!params.out_of_core) {
        size_t errors = r->err->n_errors;
        place_keys_need(r->err, place, cnn_kind.params, cnn_kind.n_params, s, keys,
                        "`out_of_core`");
        return r->err->n_errors == errors;
    }
    if (plan->strategy != CNN_SERIAL && plan->strategy != CNN_DATA) {
        place_key_error(r->err, place, "out_of_core",
                        "is for the strategies serial and data, not %s",
                        cnn_strategies[plan->strategy]);
        return false;
    }
    params.capacity_bytes = usable_bytes(r->site, &s->params);
    if (params.host_bytes == PARAM_AUTO)
        params.host_bytes = UINT64_MAX;
    if (!cnn_offload_make(&s->offload, plan, &params, s->params.optimizer_bytes)) {
        lack_error(r, place, s);
        return false;
    }
    s->program.offload = &s->offload;
    return true;
}

/* ---- read cnn ---- */

struct cnn_reader {
    struct reader *r;
    const struct place *place;
    struct cnn_settings *settings;
    const struct cnn_params *p;
    struct cnn_plan *plan;
    uint32_t ranks;
};

/* ---- the model ---- */

static void read_model(const struct cnn_reader *c)
{
    struct cnn_params *p = &c->settings->params;
    struct place shapes = place_key(c->place, "shapes");
    const struct device *gpu = &devices[p->gpu];
    char path[PLACE_TEXT];
    bool file = p->shapes[0] != '\0';
    p->peak_tflops = p->peak_tflops > 0 ? p->peak_tflops : gpu->peak_tflops;
    p->memory_gbps = p->memory_gbps > 0 ? p->memory_gbps : gpu->memory_gbps;
    if (file && p->model > 0)
        place_key_error(c->r->err, c->place, "shapes", "belongs to `model` custom");
    else if (!file && p->model == 0)
        place_key_error(c->r->err, c->place, "model", "custom needs `shapes`, a file of layers");
    else if (file)
        cnn_file_read(c->r->dir, p->shapes, place_text(&shapes, path), &c->settings->model,
                      c->r->err);
    else
        c->settings->model = cnn_model_of(p->model);
    if (c->settings->model.n > 0)
        c->settings->times = cnn_times(&c->settings->model, p);
}

/* ---- the plan ---- */

static const char *most_of(enum cnn_strategy strategy)
{
    switch (strategy) {
    case CNN_DATA:
        return "samples of the batch";
    case CNN_PIPELINE:
        return "layers";
    case CNN_FILTER:
        return "the fewest filters of a layer";
    case CNN_CHANNEL:
        return "the fewest channels of a layer behind the first";
    case CNN_SPATIAL:
        return "points of the first layer's domain";
    case CNN_DATA_FILTER:
        return "samples times the fewest filters of a layer";
    case CNN_DATA_SPATIAL:
        return "samples times points of the first layer's domain";
    default:
        return "it divides nothing";
    }
}

// Groups of data parallelism, and the ranks of each.
static bool set_groups(const struct cnn_reader *c)
{
    struct cnn_plan *plan = c->plan;
    enum cnn_strategy strategy = plan->strategy;
    const struct site *spec = c->r->site;
    bool both = strategy == CNN_DATA_FILTER || strategy == CNN_DATA_SPATIAL;
    uint64_t parts = c->p->parts;
    if (parts == PARAM_AUTO)
        parts = strategy == CNN_DATA ? 1 : both ? spec->dims[0].size : c->ranks;
    double most = cnn_most_parts(&c->settings->model, strategy, c->p->batch);
    if (c->p->batch > 0 && (double)c->ranks > most) { // 0 = missing, which is an error
        place_key_error(c->r->err, c->place, "strategy",
                        "%s can use at most %.0f ranks (%s), and the job has %u",
                        cnn_strategies[strategy], most, most_of(strategy), c->ranks);
        return false;
    }
    if (parts == 0 || c->ranks % parts != 0 ||
        (!both && strategy != CNN_DATA && parts != c->ranks) ||
        (strategy == CNN_DATA && parts != 1)) {
        place_key_error(c->r->err, c->place, "parts",
                        "%llu do not make groups of the job's %u ranks under %s",
                        (unsigned long long)parts, c->ranks, cnn_strategies[strategy]);
        return false;
    }
    plan->parts = (uint32_t)parts;
    plan->groups = c->ranks / plan->parts;
    most = cnn_most_parts(&c->settings->model,
                          strategy == CNN_DATA_FILTER    ? CNN_FILTER
                          : strategy == CNN_DATA_SPATIAL ? CNN_SPATIAL
                                                         : strategy,
                          c->p->batch);
    if (both && plan->parts > most)
        place_key_error(c->r->err, c->place, "parts",
                        "a group of %s can use at most %.0f ranks, not %u",
                        cnn_strategies[strategy], most, plan->parts);
    else if (c->p->batch % plan->groups != 0)
        place_key_error(c->r->err, c->place, "batch",
                        "%llu is not a multiple of %u, the groups of data parallelism",
                        (unsigned long long)c->p->batch, plan->groups);
    else
        return true;
    return false;
}

static void cut_domain(const struct cnn_reader *c)
{
    struct cnn_plan *plan = c->plan;
    const struct cnn_model *m = plan->model;
    cnn_cut_axes(m, plan->parts, plan->axes);
    uint32_t most = cnn_layers_cut(m, plan->axes);
    uint64_t wanted = c->p->cut_layers == PARAM_AUTO ? most : c->p->cut_layers;
    plan->cut = (uint32_t)(wanted < most ? wanted : most);
    if (wanted <= most && most > 0)
        return;
    const struct cnn_layer *l = &m->layers[most < m->n ? most : m->n - 1];
    if (wanted > m->n)
        place_key_error(c->r->err, c->place, "cut_layers", "the model has %u layers", m->n);
    else if (l->kind == CNN_CONNECTED)
        place_key_error(c->r->err, c->place, "cut_layers",
                        "layer %s takes all of its input at once: at most %u layers can be "
                        "cut",
                        l->name, most);
    else
        place_key_error(
            c->r->err, c->place, c->p->cut_layers == PARAM_AUTO ? "strategy" : "cut_layers",
            "layer %s, %u x %u x %u with a kernel of %u, cannot be cut into %u x %u x %u parts: "
            "the border that a neighbour needs is wider than a part, or a part has nothing to "
            "compute",
            l->name, l->in[0], l->in[1], l->in[2], l->kernel[0], plan->axes[0], plan->axes[1],
            plan->axes[2]);
}

// The layer that begins a stage: a name, looked for behind the stage before, or a number from 1.
static uint32_t first_layer(const struct cnn_reader *c, const struct place *item, uint32_t from)
{
    const struct cnn_model *m = c->plan->model;
    const char *name = json_string_value(item->json);
    json_int_t number = json_integer_value(item->json);
    for (uint32_t i = from; i < m->n && name != NULL; i++)
        if (strcmp(m->layers[i].name, name) == 0)
            return i;
    if (name != NULL)
        place_error(c->r->err, item, "no layer behind the one before is called \"%.40s\"", name);
    else if (!json_is_integer(item->json))
        place_error(c->r->err, item, "must be a layer, by its name or its number, not %s",
                    json_noun(item->json));
    else if (number < (json_int_t)from + 1 || number > m->n)
        place_error(c->r->err, item, "must be a layer from %u to %u", from + 1, m->n);
    else
        return (uint32_t)number - 1;
    return m->n;
}

// `stages`, the first layer of each; without it, those whose longest is as short as possible.
static void set_stages(const struct cnn_reader *c, uint32_t *stage)
{
    struct place list = place_key(c->place, "stages");
    const struct cnn_plan *p = c->plan;
    size_t errors = c->r->err->n_errors, n = json_array_size(list.json);
    if (list.json == NULL) {
        cnn_stages(p->model, p->times, p->parts, stage);
        return;
    }
    if (!read_list(c->r, &list))
        return;
    if (n != p->parts)
        place_error(c->r->err, &list, "lists %zu stages, and the pipeline has %u ranks", n,
                    p->parts);
    for (uint32_t s = 0; s < p->parts && c->r->err->n_errors == errors; s++) {
        struct place item = place_item(&list, s);
        stage[s] = first_layer(c, &item, s > 0 ? stage[s - 1] + 1 : 0);
        if (s == 0 && stage[0] > 0 && c->r->err->n_errors == errors)
            place_error(c->r->err, &item, "the first stage begins with the first layer, %s",
                        p->model->layers[0].name);
    }
    stage[p->parts] = p->model->n;
}

static void set_pipeline(const struct cnn_reader *c)
{
    struct cnn_plan *plan = c->plan;
    uint64_t segments = c->p->segments;
    if (segments == PARAM_AUTO)
        for (segments = plan->parts; c->p->batch % segments != 0;)
            segments--;
    if (segments == 0 || c->p->batch % segments != 0)
        place_key_error(c->r->err, c->place, "segments", "%llu do not divide the batch of %llu",
                        (unsigned long long)segments, (unsigned long long)c->p->batch);
    plan->segments = segments;
    c->settings->stage = memory_zeroed((size_t)plan->parts + 2, sizeof *c->settings->stage);
    set_stages(c, c->settings->stage);
    plan->stage = c->settings->stage;
}

// A message without bytes takes the delays of the longest path of every dimension, and its bytes
// the rate of the slowest link of ranks.
static void set_network(const struct cnn_reader *c)
{
    const struct site *spec = c->r->site;
    ps_t alpha = 0;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        if (spec->dims[d].size > 1)
            alpha += spec->dims[d].path_ps;
    bool given = c->p->beta_bps != PARAM_AUTO && c->p->beta_bps > 0;
    double rate = (double)(given ? c->p->beta_bps : spec->slowest_bps);
    c->plan->alpha_ps = (double)(c->p->alpha_ps != PS_NEVER ? c->p->alpha_ps : alpha);
    c->plan->beta_ps = 8e12 / rate;
}

static bool make_plan(const struct cnn_reader *c)
{
    const struct cnn_params *p = c->p;
    size_t errors = c->r->err->n_errors;
    *c->plan = (struct cnn_plan){.model = &c->settings->model,
                                 .times = c->settings->times,
                                 .strategy = (enum cnn_strategy)p->strategy,
                                 .axes = {1, 1, 1},
                                 .batch = p->batch,
                                 .segments = 1,
                                 .item_bytes = p->item_bytes,
                                 .contention = p->contention_factor,
                                 .reuse = p->memory_reuse};
    if (!set_groups(c))
        return false;
    if (cnn_divides_domain(c->plan->strategy))
        cut_domain(c);
    if (p->strategy == CNN_PIPELINE)
        set_pipeline(c);
    else if (json_object_get(c->place->json, "stages") != NULL)
        place_key_error(c->r->err, c->place, "stages", "belongs to `strategy` pipeline");
    set_network(c);
    return c->r->err->n_errors == errors;
}

/* ---- checks ---- */

#define BYTES_MOST 1e15 // 1 PB
#define PS_MOST 1e17    // 100000 s

static bool check_limits(const struct cnn_reader *c)
{
    const struct cnn_model *m = &c->settings->model;
    double bytes = 0, ps = 0, batch = (double)c->p->batch, item = (double)c->p->item_bytes;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct cnn_layer *l = &m->layers[i];
        bytes += item * (batch * (cnn_inputs(l) + cnn_outputs(l)) + cnn_parameters(l));
        ps += batch * c->settings->times[i].backward_ps + c->settings->times[i].update_ps;
    }
    if (bytes > BYTES_MOST)
        place_error(c->r->err, c->place, "the shapes make messages above 1 PB");
    else if (ps > PS_MOST)
        place_error(c->r->err, c->place, "the shapes make computations above 100000 s");
    else
        return true;
    return false;
}

static void check_groups(const struct cnn_reader *c, const struct job_spec *job)
{
    static const enum coll_op ops[] = {COLL_ALL_REDUCE, COLL_ALL_GATHER};
    const struct cnn_program *program = &c->settings->program;
    struct place at = place_key(c->place, "algorithm");
    for (unsigned kind = 0; kind < CNN_GROUPS; kind++)
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
            if (program->group[kind] == NULL || (kind != CNN_GROUP_PARTS && i > 0))
                continue;
            struct coll_shape shape = {.op = ops[i], .bytes = 1 << 20};
            if (!job_groups_check(c->r, at.json != NULL ? &at : c->place, job,
                                  c->settings->nodes.groups, program->group[kind], shape))
                return;
        }
}

// Ranks that send to each other alone: neighbours in a pipeline, and along the axes of a domain.
static void check_pairs(const struct cnn_reader *c, const struct job_spec *job)
{
    const struct cnn_plan *p = c->plan;
    uint32_t stride = 1;
    bool pipeline = p->strategy == CNN_PIPELINE;
    for (unsigned a = 0; a < CNN_AXES; a++) {
        uint32_t n = pipeline ? (a == 0 ? p->parts : 1) : p->axes[a];
        for (uint32_t rank = 0; rank < c->ranks && n > 1; rank++)
            if (rank / stride % n + 1 < n && !pair_check(c->r, c->place, job, rank, rank + stride))
                return;
        stride *= n;
    }
}

// Samples that each rank reads in an iteration: those of its group, which the ranks of a group have
// in common or, if they divide the domain, divide too; of a pipeline the first stage has all.
static double *samples_of_ranks(const struct cnn_reader *c)
{
    const struct cnn_plan *p = c->plan;
    double *samples = memory_zeroed(c->ranks, sizeof *samples), own = (double)p->batch / p->groups;
    if (cnn_divides_domain(p->strategy))
        own /= p->parts;
    for (uint32_t rank = 0; rank < c->ranks; rank++)
        samples[rank] = p->strategy != CNN_PIPELINE || rank == 0 ? own : 0;
    return samples;
}

static void read_cnn(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct cnn_settings *settings = job->settings;
    struct cnn_reader c = {.r = r,
                           .place = place,
                           .settings = settings,
                           .p = &settings->params,
                           .plan = &settings->program.plan,
                           .ranks = job_size(r, job)};
    size_t errors = r->err->n_errors;
    map_ranks(r, place, job, &settings->mapping);
    settings->choice.params = settings->group;
    group_algorithms_read(r, place, &settings->choice);
    job_input_read(r, place, job, &settings->input.spec);
    if (r->err->n_errors > errors)
        return;
    read_model(&c);
    if (r->err->n_errors > errors || c.ranks == 0 || !check_limits(&c) || !make_plan(&c) ||
        !cnn_out_of_core_read(r, place, settings))
        return;
    settings->program.n_ranks = c.ranks;
    settings->program.iterations = settings->params.iterations;
    settings->program.overlap = settings->params.overlap;
    cnn_program_init(&settings->program, &settings->nodes, &settings->choice);
    const struct device *gpu = &devices[settings->params.gpu];
    if (settings->program.offload != NULL)
        cnn_offload_memory(&settings->offload, gpu, c.ranks, &settings->memory);
    else
        cnn_memory(c.plan, gpu, &settings->memory);
    check_groups(&c, job);
    check_pairs(&c, job);
    job_input_add(r, place, job, &settings->input, &settings->nodes, samples_of_ranks(&c),
                  settings->params.iterations, &settings->choice);
}

static json_t *stages_schema(void)
{
    return schema_list(json_pack("{s:[s,s]}", "type", "string", "integer"));
}

static const struct job_part cnn_parts[] = {
    GROUP_PARTS(struct cnn_settings, choice),
    INPUT_PARTS(struct cnn_settings, input.spec, 0),
    PART_ROW("stages", "list", "stages whose longest is as short as possible",
             "pipeline: the first layer of each stage, by its name or its number from 1",
             .schema = stages_schema),
    PARTS_END,
};
const struct job_reader cnn_reader = {
    .read = read_cnn,
    .parts = cnn_parts,
    .algorithms = offsetof(struct cnn_settings, choice.algorithms),
};

// SPDX-License-Identifier: MIT
// The keys of a training job's layers: `parallelism`, `last_bottom_layer`, `model_parallel`,
// `expert_parallel`, `checkpoints`, `checkpoint_initiates` and `layers`, [{"name": "fc", "fwd":
// {"compute": "5us", "op": "all_reduce", "bytes": "1MB", "group": "dp_ep"}, "ig": {..}, "wg": {..},
// "update_delay": "1ns"}, ..].
#include "workload/training/training_layers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "collective/algorithm/collective.h"
#include "engine/base/memory.h"

// ---- checks ----

static void marks_check(const char *what, const struct training_marks *marks, size_t n_layers,
                        const char *path, struct err *err)
{
    for (size_t i = 0; i < marks->n; i++)
        if (marks->layers[i] >= n_layers)
            err_add(err, path, "%s: layer %u is not one of 0 to %zu", what, marks->layers[i],
                    n_layers - 1);
}

// An initiating layer recomputes from a checkpoint, so there must be one at or below it.
static void initiates_check(const struct training_spec *spec, const char *path, struct err *err)
{
    for (size_t i = 0; i < spec->initiates.n; i++) {
        bool found = false;
        for (size_t c = 0; c < spec->checkpoints.n; c++)
            found |= spec->checkpoints.layers[c] <= spec->initiates.layers[i];
        if (!found)
            err_add(err, path, "checkpoint_initiates: no checkpoint at or below layer %u",
                    spec->initiates.layers[i]);
    }
}

int training_check(const struct training_spec *spec, const char *path, struct err *err)
{
    size_t errors = err->n_errors;
    if (training_is_dlrm(spec->keyword) && spec->last_bottom_layer + 1 >= spec->n_layers)
        err_add(err, path, "the last bottom layer %u is not below the last layer %zu",
                spec->last_bottom_layer, spec->n_layers - 1);
    marks_check("checkpoints", &spec->checkpoints, spec->n_layers, path, err);
    marks_check("checkpoint_initiates", &spec->initiates, spec->n_layers, path, err);
    initiates_check(spec, path, err);
    return err->n_errors == errors ? 0 : -1;
}

int training_check_sizes(const struct training_spec *spec, const char *path, struct err *err)
{
    for (size_t i = 0; i < spec->n_layers; i++)
        for (int part = 0; part < TRAINING_PARTS; part++) {
            const struct training_layer *layer = &spec->layers[i];
            const struct training_step *step = &layer->parts[part];
            if (step->compute_ns > TRAINING_NS_MAX || step->bytes > TRAINING_BYTES_MAX)
                return err_add(err, path, "layer %s, %s: more than 100000 s or 1 PB", layer->name,
                               training_parts[part]);
        }
    return 0;
}

// Whether a group of leading ranks ends at a dimension, or at a divisor of one.
static bool group_fits(uint64_t group, const uint32_t *dim_size, uint32_t n_dims)
{
    for (uint32_t d = 0; d < n_dims; d++) {
        uint64_t taken = dim_size[d] < group ? dim_size[d] : group;
        if (group % taken != 0 || dim_size[d] % taken != 0)
            return false;
        group /= taken;
    }
    return group == 1;
}

int training_check_group(const struct training_spec *spec, const uint32_t *dim_size,
                         uint32_t n_dims, const char *path, struct err *err)
{
    uint64_t group = spec->model_parallel, ranks = 1;
    for (uint32_t d = 0; d < n_dims; d++)
        ranks *= dim_size[d];
    uint64_t own = spec->stages > 1 ? spec->all_ranks / spec->stages : spec->all_ranks;
    if (own > 0 && own != ranks)
        return err_add(err, path,
                       "the file is of %" PRIu64 " GPUs%s, and the job has %" PRIu64 " ranks", own,
                       spec->stages > 1 ? " a stage" : "", ranks);
    if (spec->model_parallel == 0) // not used by this keyword
        return 0;
    if (ranks % group != 0)
        return err_add(err, path,
                       "a model-parallel group of %" PRIu64 " does not divide %" PRIu64 " ranks",
                       group, ranks);
    if (!group_fits(group, dim_size, n_dims))
        return err_add(err, path,
                       "a model-parallel group of %" PRIu64 " must be the product of leading "
                       "dimension sizes, times a divisor of "
                       "the next one",
                       group);
    if (spec->expert_parallel > 1 && ranks / group % spec->expert_parallel != 0)
        return err_add(err, path,
                       "ep: %" PRIu64 " does not divide the %" PRIu64 " data-parallel ranks "
                       "(%" PRIu64 " ranks in model-parallel groups of %" PRIu64 ")",
                       spec->expert_parallel, ranks / group, ranks, group);
    if (spec->expert_parallel > 1 && !group_fits(group * spec->expert_parallel, dim_size, n_dims))
        return err_add(err, path,
                       "ep: %" PRIu64 " times the model-parallel group of %" PRIu64 " must be the "
                       "product of leading dimension sizes, times a divisor of the next one",
                       spec->expert_parallel, group);
    return 0;
}

// ---- tables ----

struct job_words {
    int keyword;
    uint64_t last_bottom_layer, model_parallel, expert_parallel;
};

static const struct param job_words_params[] = {
    PARAM_ROW("parallelism", ENUM, offsetof(struct job_words, keyword),
              .choices = training_keywords,
              .help = "which dimensions what is exchanged over, and the order of a pass"),
    PARAM_ROW("last_bottom_layer", COUNT, offsetof(struct job_words, last_bottom_layer), .def = "0",
              .max = "100000",
              .help = "HYBRID_DLRM: layer that waits for the exchange of the embedding"),
    PARAM_ROW("model_parallel", COUNT, offsetof(struct job_words, model_parallel), .def = "1",
              .min = "1", .max = "262144", .help = "HYBRID_TRANSFORMER: ranks that share a model"),
    PARAM_ROW("expert_parallel", COUNT, offsetof(struct job_words, expert_parallel), .def = "0",
              .max = "262144",
              .help = "HYBRID_TRANSFORMER: data-parallel ranks that share experts; 0 = no part has "
                      "a `group` of experts"),
};
#define N_JOB_WORDS (sizeof job_words_params / sizeof *job_words_params)

struct layer_words {
    const char *name;
    ps_t update_delay_ps;
    uint64_t weight_bytes, activation_bytes; // PARAM_AUTO = from the exchanges
};

static const struct param layer_params[] = {
    PARAM_ROW("name", TEXT, offsetof(struct layer_words, name), .help = "of the layer"),
    PARAM_ROW("update_delay", TIME, offsetof(struct layer_words, update_delay_ps), .def = "0ns",
              .max = "100000s", .help = "after each of its collectives"),
    PARAM_ROW("weights", BYTES, offsetof(struct layer_words, weight_bytes), .def = "auto",
              .max = "1PB", .can_auto = true,
              .help = "on a rank; auto = the size of the exchange of their gradients"),
    PARAM_ROW("activations", BYTES, offsetof(struct layer_words, activation_bytes), .def = "auto",
              .max = "1PB", .can_auto = true,
              .help = "that a rank keeps until the backward pass; auto = the larger of the "
                      "exchanges of activations and of their gradients"),
};
#define N_LAYER (sizeof layer_params / sizeof *layer_params)

static const char *const ops[] = {"none",       "all_reduce", "reduce_scatter",
                                  "all_gather", "all_to_all", NULL};
_Static_assert(COLL_ALL_REDUCE == 0 && COLL_REDUCE_SCATTER == 1 && COLL_ALL_GATHER == 2 &&
                   COLL_ALL_TO_ALL == 3,
               "a word is an operation and one");

struct step_words {
    ps_t compute_ps;
    int op, of, group; // indices into ops[] and sides[]; enum training_group
    uint64_t bytes;
};

static const char *const sides[] = {"sender", "receiver", NULL};

static const char *const groups[] = {[TRAINING_GROUP_OF_PART] = "auto",
                                     [TRAINING_GROUP_EP] = "ep",
                                     [TRAINING_GROUP_DP_EP] = "dp_ep",
                                     NULL};

static const struct param step_params[] = {
    PARAM_ROW("compute", TIME, offsetof(struct step_words, compute_ps), .def = "0ns",
              .max = "100000s", .help = "whole nanoseconds"),
    PARAM_ROW("op", ENUM, offsetof(struct step_words, op), .def = "none", .choices = ops,
              .help = "what the ranks exchange"),
    PARAM_ROW("bytes", BYTES, offsetof(struct step_words, bytes), .def = "0B", .max = "1PB",
              .help = "of a rank; of an all_gather its own part"),
    PARAM_ROW("group", ENUM, offsetof(struct step_words, group), .def = "auto", .choices = groups,
              .help = "of ranks: as `parallelism` says, those that share experts, or those that "
                      "have the same ones"),
    PARAM_ROW("rank_bytes_of", ENUM, offsetof(struct step_words, of), .def = "sender",
              .choices = sides,
              .help = "whose bytes `rank_bytes` are: what a rank sends to all, or what all send "
                      "to it"),
};
#define N_STEP (sizeof step_params / sizeof *step_params)
enum {
    STEP_GROUP = N_STEP - 2,
    STEP_RANK_BYTES_OF
}; // rows that are written only where they say more

// Keywords of a layer, which only HYBRID_CUSTOMIZED has.
static const char *const layer_keywords[] = {"DATA", "MODEL", "HYBRID_DATA_MODEL",
                                             "HYBRID_MODEL_DATA", NULL};
_Static_assert(TRAINING_DATA == 0 && TRAINING_HYBRID_MODEL_DATA == 3, "the first keywords");

// ---- reading ----

static uint64_t whole_ns(struct reader *r, const struct place *parent, const char *key, ps_t ps)
{
    struct place at = place_key(parent, key);
    if (ps % PS_PER_NS != 0)
        place_error(r->err, &at, "is not a whole number of nanoseconds");
    return (uint64_t)(ps / PS_PER_NS);
}

// Read `rank_bytes`: a size for each rank; `bytes` is set to the largest.
static void read_rank_bytes(struct reader *r, const struct place *place, bool of_receiver,
                            struct training_step *step)
{
    size_t n = json_array_size(place->json);
    if (!read_list(r, place))
        return;
    if (step->op != COLL_ALL_TO_ALL)
        place_error(r->err, place, "is used only with all_to_all");
    step->rank_bytes = memory_zeroed(n, sizeof *step->rank_bytes);
    step->n_rank_bytes = n;
    step->of_receiver = of_receiver;
    for (size_t i = 0; i < n; i++) {
        struct place item = place_item(place, i);
        json_int_t bytes = json_integer_value(item.json);
        if (!json_is_integer(item.json) || bytes < 0 || bytes > (json_int_t)1000000000000000)
            place_error(r->err, &item, "must be a size in bytes, 0 to 1e15");
        step->rank_bytes[i] = (uint64_t)bytes;
        step->bytes = step->rank_bytes[i] > step->bytes ? step->rank_bytes[i] : step->bytes;
    }
}

static void read_step(struct reader *r, const struct place *place, const struct training_spec *spec,
                      struct training_step *step)
{
    struct keys keys = {0};
    struct step_words words = {0};
    *step = (struct training_step){.op = TRAINING_NO_OP};
    if (!read_object(r, place))
        return;
    params_default(step_params, N_STEP, &words);
    read_params(r, place, &keys, step_params, N_STEP, &words);
    keys_add(&keys, "rank_bytes");
    keys_check(r, place, &keys);
    struct place list = place_key(place, "rank_bytes");
    *step = (struct training_step){.compute_ns = whole_ns(r, place, "compute", words.compute_ps),
                                   .op = words.op - 1,
                                   .group = (enum training_group)words.group,
                                   .bytes = words.bytes};
    struct place group = place_key(place, "group");
    if (step->group != TRAINING_GROUP_OF_PART && spec->expert_parallel == 0)
        place_error(r->err, &group,
                    "is of experts: `expert_parallel` of the job must say how many ranks share "
                    "them, with parallelism HYBRID_TRANSFORMER");
    read_rank_bytes(r, &list, words.of == 1, step);
}

static void read_layer(struct reader *r, const struct place *place,
                       const struct training_spec *spec, struct training_layer *layer)
{
    int keyword = spec->keyword;
    struct keys keys = {0};
    struct layer_words words;
    *layer = (struct training_layer){.keyword = keyword};
    if (!read_object(r, place))
        return;
    params_default(layer_params, N_LAYER, &words);
    words.name = "";
    read_params(r, place, &keys, layer_params, N_LAYER, &words);
    layer->name = memory_text(words.name);
    layer->update_delay_ns = whole_ns(r, place, "update_delay", words.update_delay_ps);
    layer->held = (struct training_held){.weights_known = words.weight_bytes != PARAM_AUTO,
                                         .activations_known = words.activation_bytes != PARAM_AUTO,
                                         .weight_bytes = words.weight_bytes,
                                         .activation_bytes = words.activation_bytes};
    for (int part = 0; part < TRAINING_PARTS; part++) {
        struct place at = place_key(place, training_parts[part]);
        read_step(r, &at, spec, &layer->parts[part]);
        keys_add(&keys, training_parts[part]);
    }
    if (keyword == TRAINING_HYBRID_CUSTOMIZED) {
        struct place at = place_key(place, "parallelism");
        layer->keyword = read_word(r, &at, "parallelism", layer_keywords);
        keys_add(&keys, "parallelism");
    }
    keys_check(r, place, &keys);
}

static void read_layers(struct reader *r, const struct place *place, struct training_spec *spec)
{
    size_t n = json_array_size(place->json);
    if (place->json == NULL)
        place_error(r->err, place, "is required: a list of layers");
    else if (read_list(r, place) && n == 0)
        place_error(r->err, place, "must not be empty");
    spec->layers = memory_zeroed(n, sizeof *spec->layers);
    for (; spec->n_layers < n; spec->n_layers++) {
        struct place item = place_item(place, spec->n_layers);
        read_layer(r, &item, spec, &spec->layers[spec->n_layers]);
    }
}

static void read_marks(struct reader *r, const struct place *place, struct training_marks *marks)
{
    size_t n = json_array_size(place->json);
    if (!read_list(r, place))
        return;
    marks->layers = memory_zeroed(n, sizeof *marks->layers);
    for (; marks->n < n; marks->n++) {
        struct place item = place_item(place, marks->n);
        json_int_t layer = json_integer_value(item.json);
        if (!json_is_integer(item.json) || layer < 0 || layer >= UINT32_MAX)
            place_error(r->err, &item, "is not the number of a layer");
        marks->layers[marks->n] = (uint32_t)layer;
    }
}

int training_read(struct reader *r, const struct place *job, struct training_spec *spec)
{
    char path[PLACE_TEXT];
    size_t errors = r->err->n_errors;
    struct job_words words = {0};
    struct place layers = place_key(job, "layers"), checkpoints = place_key(job, "checkpoints"),
                 initiates = place_key(job, "checkpoint_initiates");
    params_default(job_words_params, N_JOB_WORDS, &words);
    struct keys keys = {0}; // the job checks its keys
    read_params(r, job, &keys, job_words_params, N_JOB_WORDS, &words);
    *spec = (struct training_spec){.keyword = words.keyword,
                                   .last_bottom_layer = (uint32_t)words.last_bottom_layer};
    if (training_is_transformer(words.keyword)) {
        spec->model_parallel = words.model_parallel;
        spec->expert_parallel = words.expert_parallel;
    }
    read_marks(r, &checkpoints, &spec->checkpoints);
    read_marks(r, &initiates, &spec->initiates);
    read_layers(r, &layers, spec);
    if (r->err->n_errors == errors && training_check(spec, place_text(job, path), r->err) == 0)
        return 0;
    training_free(spec);
    return -1;
}

// ---- writing ----

static json_t *marks_json(const struct training_marks *marks)
{
    json_t *list = json_array();
    for (size_t i = 0; i < marks->n; i++)
        json_array_append_new(list, json_integer(marks->layers[i]));
    return list;
}

static json_t *step_json(const struct training_step *step)
{
    struct step_words words = {.compute_ps = (ps_t)step->compute_ns * PS_PER_NS,
                               .op = step->op + 1,
                               .of = step->of_receiver,
                               .group = (int)step->group,
                               .bytes = step->bytes};
    json_t *json = json_object(), *list = json_array();
    write_params(json, step_params, step->op == TRAINING_NO_OP ? 1 : STEP_GROUP, &words);
    if (step->group != TRAINING_GROUP_OF_PART)
        write_params(json, &step_params[STEP_GROUP], 1, &words);
    for (size_t i = 0; i < step->n_rank_bytes; i++)
        json_array_append_new(list, json_integer((json_int_t)step->rank_bytes[i]));
    if (step->rank_bytes != NULL) {
        json_object_set(json, "rank_bytes", list);
        write_params(json, &step_params[STEP_RANK_BYTES_OF], 1, &words);
    }
    json_decref(list);
    return json;
}

static json_t *layer_json(const struct training_layer *layer, bool customized)
{
    const struct training_held *held = &layer->held;
    struct layer_words words = {.name = "",
                                .update_delay_ps = (ps_t)layer->update_delay_ns * PS_PER_NS,
                                .weight_bytes = held->weight_bytes,
                                .activation_bytes = held->activation_bytes};
    json_t *json = json_object();
    json_object_set_new(json, "name", json_string(layer->name));
    for (int part = 0; part < TRAINING_PARTS; part++)
        json_object_set_new(json, training_parts[part], step_json(&layer->parts[part]));
    write_params(json, layer_params, N_LAYER, &words); // the name is there already
    if (!held->weights_known)
        json_object_del(json, "weights");
    if (!held->activations_known)
        json_object_del(json, "activations");
    if (customized)
        json_object_set_new(json, "parallelism", json_string(training_keywords[layer->keyword]));
    return json;
}

void training_write(json_t *job, const char *key, const void *value, const json_t *given)
{
    const struct training_spec *spec = value;
    (void)given;
    json_t *layers = json_array();
    json_object_set_new(job, key, json_string(training_keywords[spec->keyword]));
    if (training_is_dlrm(spec->keyword))
        json_object_set_new(job, "last_bottom_layer", json_integer(spec->last_bottom_layer));
    if (training_is_transformer(spec->keyword))
        json_object_set_new(job, "model_parallel", json_integer((json_int_t)spec->model_parallel));
    if (spec->expert_parallel > 0)
        json_object_set_new(job, "expert_parallel",
                            json_integer((json_int_t)spec->expert_parallel));
    if (spec->keyword == TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD) {
        json_object_set_new(job, "checkpoints", marks_json(&spec->checkpoints));
        json_object_set_new(job, "checkpoint_initiates", marks_json(&spec->initiates));
    }
    for (size_t i = 0; i < spec->n_layers; i++)
        json_array_append_new(
            layers, layer_json(&spec->layers[i], spec->keyword == TRAINING_HYBRID_CUSTOMIZED));
    json_object_set_new(job, "layers", layers);
}

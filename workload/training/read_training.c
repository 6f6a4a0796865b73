// SPDX-License-Identifier: MIT
// Reads training jobs: layers from a file or the scenario, the system's settings, dimensions.
#include <stdlib.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "engine/text/schema_parts.h"
#include "workload/nodes/read_input.h"
#include "workload/read/astra_system.h"
#include "workload/read/executor_key.h"
#include "workload/read/job_reader.h"
#include "workload/training/astra_workload.h"
#include "workload/training/read_dlrm.h"
#include "workload/training/training_job.h"
#include "workload/training/training_layers.h"
#include "workload/training/training_memory.h"

struct straggler_params {
    uint64_t rank;
    double factor;
};

#define ST(f) offsetof(struct straggler_params, f)
static const struct param straggler_params[] = {
    PARAM_ROW("rank", COUNT, ST(rank), .help = "of the job"),
    PARAM_ROW("factor", RATIO, ST(factor), .min = "0", .max = "1000000",
              .help = "on its compute times"),
};
enum { N_STRAGGLER_PARAMS = sizeof straggler_params / sizeof *straggler_params };

// Keys that a job with `file` or `dlrm` cannot have.
static const char *const layer_keys[] = {
    "parallelism",     "layers",      "last_bottom_layer",    "model_parallel",
    "expert_parallel", "checkpoints", "checkpoint_initiates", NULL};

static bool read_layers(struct reader *r, const struct place *place, const struct job_spec *job,
                        struct training_settings *settings)
{
    const char *file = settings->params.file;
    struct training_spec *training = &settings->training;
    char path[PLACE_TEXT];
    struct place at = place_key(place, "file"), dlrm = place_key(place, "dlrm");
    if (file[0] != '\0' && dlrm.json != NULL)
        place_error(r->err, &dlrm, "cannot be combined with `file`");
    if (file[0] == '\0' && dlrm.json == NULL)
        return training_read(r, place, training) == 0;
    for (size_t i = 0; layer_keys[i] != NULL; i++) {
        struct place other = place_key(place, layer_keys[i]);
        if (other.json != NULL)
            place_error(r->err, &other, "cannot be combined with `%s`",
                        dlrm.json ? "dlrm" : "file");
    }
    if (dlrm.json != NULL)
        return dlrm_read(r, &dlrm, job_size(r, job), training) == 0;
    return astra_workload_read(r->dir, file, place_text(&at, path), training, r->err) == 0;
}

// If a group of leading ranks takes part of a dimension, split the dimension in two. Returns false
// if there would be too many dimensions.
static bool split_at(uint64_t group, struct coll_schedule *s)
{
    uint64_t left = group;
    for (uint32_t d = 0; d < s->n_dims && left > 1; d++) {
        if (s->dim_size[d] <= left) {
            left /= s->dim_size[d];
            continue;
        }
        if (s->n_dims == COLL_MAX_DIMS)
            return false;
        for (uint32_t at = ++s->n_dims; at-- > d + 1;) {
            s->dim_size[at] = s->dim_size[at - 1];
            for (unsigned op = 0; op < COLL_OPS; op++)
                s->choice[op][at + 1] = s->choice[op][at];
        }
        uint32_t below = (UINT32_C(2) << d) - 1;
        for (unsigned op = 0; op < COLL_OPS; op++) {
            s->choice[op][d + 1] = s->choice[op][d];
            s->op_dims[op] = (s->op_dims[op] & below) | (s->op_dims[op] & ~(below >> 1)) << 1;
        }
        s->dim_size[d + 1] /= (uint32_t)left;
        s->dim_size[d] = (uint32_t)left;
        left = 1;
    }
    return true;
}

// The model-parallel groups and the groups of experts consist of whole dimensions.
static bool split_dims(const struct training_spec *t, struct coll_schedule *s)
{
    return split_at(t->model_parallel, s) &&
           (t->expert_parallel <= 1 || split_at(t->model_parallel * t->expert_parallel, s));
}

// True if all ranks must exchange unequal vectors at once although they are in several dimensions.
static bool exchanges_across(const struct training_spec *t, const struct coll_schedule *s)
{
    uint32_t wide = 0;
    for (uint32_t d = 0; d < s->n_dims; d++)
        wide += s->dim_size[d] > 1;
    if (wide < 2)
        return false;
    for (uint32_t layer = 0; layer < t->n_layers; layer++)
        for (int part = 0; part < TRAINING_PARTS; part++)
            if (t->layers[layer].parts[part].rank_bytes != NULL &&
                coll_span(s, training_dims(t, layer, (enum training_part)part, s)) == coll_ranks(s))
                return true;
    return false;
}

// Read the system's settings. A key that ASTRA-sim's file lacks has ASTRA-sim's default. A job
// without the file has what clusters do: all-reduces over several dimensions scatter inwards out,
// and unequal vectors (DLRM's tables) are exchanged directly by all ranks of several dimensions.
static void read_system(struct reader *r, const struct place *place, struct coll_schedule *s,
                        const struct training_spec *training)
{
    json_t *none = json_object();
    struct place system = *place, to_all = place_key(place, "all-to-all-implementation");
    if (system.json == NULL)
        system.json = none;
    astra_system_place(r, &system, s);
    json_decref(none);
    if (place->json == NULL)
        s->phases = COLL_BANDWIDTH_AWARE;
    if (!json_is_string(place->json) && to_all.json == NULL && exchanges_across(training, s)) {
        s->flat[COLL_ALL_TO_ALL] = true;
        for (uint32_t d = 0; d <= s->n_dims; d++)
            s->choice[COLL_ALL_TO_ALL][d] = coll_choice_of(coll_find("direct"));
    }
}

// Check an all-to-all of unequal vectors, which must run over all ranks at once, not dimension by
// dimension. Errors name what makes the vectors unequal: `rank_bytes` of the layer, or the sharding
// of the tables.
static bool uneven_check(struct reader *r, const struct place *system, const struct job_spec *job,
                         uint32_t layer, int part)
{
    const struct training_settings *settings = job->settings;
    const struct coll_schedule *s = &settings->schedule;
    const struct training_step *step = &settings->training.layers[layer].parts[part];
    struct place layers = place_key(system->parent, "layers"), one = place_item(&layers, layer),
                 half = place_key(&one, training_parts[part]),
                 list = place_key(&half, "rank_bytes"), dlrm = place_key(system->parent, "dlrm"),
                 sharding = place_key(&dlrm, "sharding"),
                 algorithm = place_key(system, "all-to-all-implementation");
    const struct place *cause = dlrm.json != NULL ? &sharding : &list;
    uint32_t dims = training_dims(&settings->training, layer, (enum training_part)part, s);
    uint32_t wide = 0, ranks = coll_ranks(s);
    char text[PLACE_TEXT];
    for (uint32_t d = 0; d < s->n_dims; d++)
        wide += s->dim_size[d] > 1;
    if (step->n_rank_bytes != ranks)
        place_error(r->err, &list, "lists %zu ranks, but the job has %u", step->n_rank_bytes,
                    ranks);
    else if (coll_span(s, dims) != ranks)
        place_error(r->err, cause,
                    "needs an all-to-all over all ranks, but this one is over %u of %u",
                    coll_span(s, dims), ranks);
    else if (wide > 1 && !s->flat[COLL_ALL_TO_ALL])
        place_error(r->err, &algorithm,
                    "must be oneDirect or oneRing: the vectors that %s makes unequal need one "
                    "all-to-all over all ranks, not one for each dimension",
                    place_text(cause, text));
    else
        return true;
    return false;
}

// A list of algorithms that is shorter than the network leaves dimensions out, as in ASTRA-sim.
static void warn_of_dims(struct reader *r, const struct place *system,
                         const struct training_settings *settings)
{
    struct coll_schedule whole = settings->schedule;
    const struct training_spec *t = &settings->training;
    bool warned[COLL_OPS] = {false};
    whole.by_operation = false;
    for (uint32_t layer = 0; layer < t->n_layers; layer++)
        for (int part = 0; part < TRAINING_PARTS; part++) {
            int op = t->layers[layer].parts[part].op;
            if (op == TRAINING_NO_OP || warned[op] || whole.flat[op])
                continue;
            uint32_t all = training_dims(t, layer, (enum training_part)part, &whole);
            warned[op] = (all & ~settings->schedule.op_dims[op]) != 0;
            if (warned[op])
                place_warn(r->err, system,
                           "the list of algorithms for %s is shorter than the network's %u "
                           "dimensions: its collectives leave out those beyond it",
                           coll_op_name((enum coll_op)op), whole.n_dims);
        }
}

// Check that the library runs an operation over each group of ranks that agree in all dimensions
// but `dims`.
static bool check_library(struct reader *r, const struct place *place, const struct job_spec *job,
                          uint32_t dims, const struct coll_shape *shape)
{
    const struct training_settings *settings = job->settings;
    const struct coll_schedule *s = &settings->schedule;
    struct place at = place_key(place, "library");
    if (shape->uneven != NULL) {
        place_error(r->err, &at, "the library's all-to-all has no vectors of different sizes");
        return false;
    }
    uint32_t n = 1, ranks = coll_ranks(s), stride = 1;
    uint32_t *offsets = memory_zeroed(ranks, sizeof *offsets),
             *members = memory_zeroed(ranks, sizeof *members);
    bool *seen = memory_zeroed(ranks, sizeof *seen), runs = true;
    for (uint32_t d = 0; d < s->n_dims; stride *= s->dim_size[d++]) {
        if (!(dims >> d & 1))
            continue;
        for (uint32_t i = n; i < n * s->dim_size[d]; i++)
            offsets[i] = offsets[i % n] + i / n * stride;
        n *= s->dim_size[d];
    }
    struct coll_shape whole = {.op = shape->op, .ranks = n, .bytes = EXECUTOR_ANY_BYTES};
    for (uint32_t first = 0; first < ranks && runs; first++) {
        if (seen[first] || (first > 0 && executor_checks_all(&settings->library)))
            continue;
        for (uint32_t i = 0; i < n; i++) {
            members[i] = first + offsets[i];
            seen[members[i]] = true;
        }
        runs = executor_check(r, &at, job, &settings->library, &whole, members);
    }
    free(offsets);
    free(members);
    free(seen);
    return runs;
}

static void check_programs(struct reader *r, const struct place *system, const struct job_spec *job)
{
    const struct training_settings *settings = job->settings;
    const struct training_spec *t = &settings->training;
    const struct coll_schedule *s = &settings->schedule;
    bool seen[COLL_OPS][1 << COLL_MAX_DIMS] = {{false}}; // checked already; many layers are alike
    for (uint32_t layer = 0; layer < t->n_layers; layer++)
        for (int part = 0; part < TRAINING_PARTS; part++) {
            const struct training_step *step = &t->layers[layer].parts[part];
            uint32_t dims = training_dims(t, layer, (enum training_part)part, s);
            struct coll_uneven uneven = {step->rank_bytes, step->of_receiver};
            if (step->rank_bytes != NULL && !uneven_check(r, system, job, layer, part))
                return;
            struct coll_shape whole = {.op = (enum coll_op)step->op,
                                       .uneven = step->rank_bytes ? &uneven : NULL,
                                       .bytes = step->bytes};
            if (step->op == TRAINING_NO_OP || (!step->rank_bytes && seen[step->op][dims]))
                continue;
            if (s->library != NULL ? !check_library(r, system->parent, job, dims, &whole)
                                   : !algorithms_check(r, system, job, s, dims, &whole))
                return;
            seen[step->op][dims] = seen[step->op][dims] || !step->rank_bytes;
        }
}

// Rings of direct links send in both directions, as in ASTRA-sim.
static void use_both_directions(struct coll_schedule *s)
{
    for (unsigned op = 0; op < COLL_OPS; op++)
        for (uint32_t d = 0; d <= s->n_dims; d++)
            coll_choice_set(&s->choice[op][d], "ring_directions", "2");
}

// Read `stragglers`: [{"rank": 3, "factor": 1.5}, ..].
static void read_stragglers(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct training_settings *settings = job->settings;
    size_t n = json_array_size(place->json);
    if (!read_list(r, place))
        return;
    settings->stragglers = memory_zeroed(n, sizeof *settings->stragglers);
    for (size_t i = 0; i < n; i++) {
        struct keys keys = {0};
        struct place item = place_item(place, i), rank = place_key(&item, "rank");
        struct straggler_params words = {0};
        if (!read_object(r, &item))
            continue;
        read_params(r, &item, &keys, straggler_params, N_STRAGGLER_PARAMS, &words);
        keys_check(r, &item, &keys);
        for (size_t j = 0; j < settings->n_stragglers; j++)
            if (settings->stragglers[j].rank == words.rank)
                place_error(r->err, &rank, "rank %u is listed twice", settings->stragglers[j].rank);
        if (rank_check(r, &rank, job, (int64_t)words.rank))
            settings->stragglers[settings->n_stragglers++] =
                (struct straggler){(uint32_t)words.rank, words.factor};
    }
}

// Check times and bytes after multiplication by the job's factors: within a scenario's range sums
// cannot overflow.
static bool check_factors(struct reader *r, const struct place *place,
                          const struct training_settings *settings)
{
    const struct training_spec *t = &settings->training;
    const struct training_params *params = &settings->params;
    struct place compute = place_key(place, "compute_scale"), comm = place_key(place, "comm_scale");
    double slowest = 1;
    for (size_t i = 0; i < settings->n_stragglers; i++)
        slowest =
            settings->stragglers[i].factor > slowest ? settings->stragglers[i].factor : slowest;
    slowest *= params->compute_scale * (1 + params->compute_jitter);
    for (uint32_t i = 0; i < t->n_layers; i++)
        for (int part = 0; part < TRAINING_PARTS; part++) {
            const struct training_layer *layer = &t->layers[i];
            const struct training_step *step = &layer->parts[part];
            uint32_t dims = training_dims(t, i, (enum training_part)part, &settings->schedule);
            uint64_t copies = training_copies(t, step, coll_span(&settings->schedule, dims));
            double bytes = (double)step->bytes * params->comm_scale * (double)copies;
            if (slowest > 1 && (double)step->compute_ns * slowest > (double)TRAINING_NS_MAX)
                place_error(r->err, &compute,
                            "with stragglers and jitter, %s of layer %s takes more than 100000 s",
                            training_parts[part], layer->name);
            else if (bytes > (double)TRAINING_BYTES_MAX)
                place_error(r->err, &comm, "%s of layer %s exchanges more than 1 PB",
                            training_parts[part], layer->name);
            else
                continue;
            return false;
        }
    return true;
}

static bool has_rings(const struct site *site)
{
    for (uint32_t d = 0; d < site->n_dims; d++)
        if (site->dims[d].direct && site->dims[d].size > 2)
            return true;
    return false;
}

static void check_input(struct reader *r, const struct place *place, const struct input_spec *in)
{
    struct place input = place_key(place, "input"), from = place_key(&input, "from"),
                 size = place_key(&input, "sample_bytes");
    if (input.json == NULL)
        return;
    if ((double)in->p.samples * (double)in->p.sample_bytes > (double)TRAINING_BYTES_MAX)
        place_error(r->err, &size, "makes batches above 1 PB");
    else
        tier_copy_check(r, &in->tiers, in->tier, 0, in->p.samples * in->p.sample_bytes, &from,
                        &size);
}

static void read_training(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct training_settings *settings = job->settings;
    const struct training_spec *training = &settings->training;
    struct place dims = place_key(place, "dims"), system = place_key(place, "system"),
                 stragglers = place_key(place, "stragglers");
    struct place chunks = place_key(&system, "preferred-dataset-splits");
    char path[PLACE_TEXT];
    map_ranks(r, place, job, &settings->params.mapping);
    size_t errors = r->err->n_errors;
    uint32_t ranks = job_size(r, job);
    struct coll_schedule *s = &settings->schedule;
    job_input_read(r, place, job, &settings->input);
    bool known = read_layers(r, place, job, settings);
    if (ranks == 0) // the network has errors
        return;
    read_stragglers(r, &stragglers, job);
    read_job_dims(r, &dims, ranks, s);
    read_system(r, &system, s, training);
    executor_read(r, place, &settings->library);
    s->library = executor_is_given(&settings->library) ? &settings->library : NULL;
    if (s->library != NULL && system.json != NULL)
        place_error(r->err, &system, "is decided by the library: leave it out");
    if (has_rings(r->site))
        use_both_directions(s);
    if (!known || r->err->n_errors > errors ||
        training_check_group(training, s->dim_size, s->n_dims, place_text(place, path), r->err) !=
            0)
        return;
    if (!split_dims(training, s))
        place_error(r->err, place, "the groups of ranks make more than %d dimensions",
                    COLL_MAX_DIMS);
    else if (check_factors(r, place, settings) && chunks_check(r, &chunks, s)) {
        warn_of_dims(r, &system, settings);
        training_memory(settings, ranks, &settings->memory);
        check_input(r, place, &settings->input);
        check_programs(r, &system, job);
    }
}

/* ---- keys ---- */

static void trim(json_t *json, const struct job_spec *job, const json_t *given)
{
    const struct training_settings *settings = job->settings;
    if (settings->params.file[0] != '\0' || json_object_get(given, "dlrm") != NULL)
        parts_remove(json, layer_keys);
}

// The schema does not describe the keys of a layer and of the system settings; they are checked
// when they are read.
static json_t *parallelism_schema(void) { return schema_words(training_keywords); }
static json_t *integer_schema(void) { return json_pack("{s:s}", "type", "integer"); }
static json_t *marks_schema(void) { return schema_list(schema_integer(0)); }
static json_t *layers_schema(void) { return schema_list(json_pack("{s:s}", "type", "object")); }
static json_t *system_schema(void) { return json_pack("{s:[s,s]}", "type", "string", "object"); }
static json_t *stragglers_schema(void)
{
    return schema_list(schema_table(straggler_params, N_STRAGGLER_PARAMS));
}

#define OF struct training_settings
#define DESCRIBED (PART_LISTED | PART_IN_SCHEMA)
static const struct job_part training_parts_of[] = {
    LIBRARY_PART(OF, library, PART_WRITTEN),
    INPUT_PARTS(OF, input, PART_WRITTEN),
    PART_ROW("parallelism", "word", "", "which dimensions what is exchanged over, and the loop",
             .offset = offsetof(OF, training), .write = training_write,
             .schema = parallelism_schema),
    PART_ROW("layers", "list", "",
             "of {name, fwd, ig, wg: {compute, op, bytes, group}, update_delay, weights, "
             "activations}: "
             "forward, input and weight gradient; what a rank keeps, as far as its exchanges do "
             "not show it",
             .only = PART_LISTED),
    PART_ROW("last_bottom_layer", "count", "", "HYBRID_DLRM: the last layer of the bottom MLP",
             .schema = integer_schema, .only = DESCRIBED),
    PART_ROW("model_parallel", "count", "",
             "HYBRID_TRANSFORMER: ranks of a group that share the model", .schema = integer_schema,
             .only = DESCRIBED),
    PART_ROW("expert_parallel", "count", "0",
             "HYBRID_TRANSFORMER: data-parallel ranks that share experts, for parts with `group` "
             "ep (these ranks) or dp_ep (those with the same experts)",
             .schema = integer_schema, .only = DESCRIBED),
    PART_ROW("checkpoints", "list of layers", "", "layers whose activations are kept",
             .schema = marks_schema, .only = DESCRIBED),
    PART_ROW("checkpoint_initiates", "list of layers", "",
             "layers of the backward pass that begin to compute activations again",
             .schema = marks_schema, .only = DESCRIBED),
    {.own.key = "layers", .schema = layers_schema, .only = PART_IN_SCHEMA},
    {.own.key = "stragglers", .schema = stragglers_schema, .only = PART_IN_SCHEMA},
    PART_ROW("dlrm", "object", "",
             "instead of layers: a recommendation model; see collwire list workload dlrm",
             .write = dlrm_write, .schema = dlrm_schema),
    PART_ROW("system", "file or object", "",
             "scheduling of collectives: the keys of an ASTRA-sim system file",
             .schema = system_schema),
    PART_ROW("dims", "list", "the network's", "sizes of the ranks' dimensions, innermost first",
             .schema = schema_sizes),
    PART_ROW("stragglers", "list", "none",
             "of {rank, factor}: ranks of the job that compute slower, or faster",
             .only = PART_LISTED | PART_WRITTEN),
    LIBRARY_PART(OF, library, DESCRIBED),
    INPUT_PARTS(OF, input, DESCRIBED),
    PARTS_END,
};
const struct job_reader training_reader = {
    .read = read_training,
    .parts = training_parts_of,
    .trim = trim,
};

// SPDX-License-Identifier: MIT
// Training jobs: layers from a file or the scenario, the system's settings, dimensions.
#include <stdlib.h>

#include "collective/grid.h"
#include "config/astra_system.h"
#include "config/astra_workload.h"
#include "config/read_dlrm.h"
#include "config/training.h"
#include "engine/memory.h"
#include "workload/training_loop.h"

static const char *const layer_keys[] = {"parallelism",    "layers",      "last_bottom_layer",
                                         "model_parallel", "checkpoints", "checkpoint_initiates"};

static bool read_layers(struct reader *r, const struct place *place, struct keys *keys,
                        struct job_spec *job, const char *file)
{
    char path[PLACE_TEXT];
    struct place at = place_key(place, "file"), dlrm = place_key(place, "dlrm");
    keys_add(keys, "dlrm");
    if (file[0] != '\0' && dlrm.json != NULL)
        place_error(r->err, &dlrm, "does not go with `file`");
    if (file[0] == '\0' && dlrm.json == NULL)
        return training_read(r, place, keys, job->training) == 0;
    for (size_t i = 0; i < sizeof layer_keys / sizeof *layer_keys; i++) {
        struct place other = place_key(place, layer_keys[i]);
        keys_add(keys, layer_keys[i]);
        if (other.json != NULL)
            place_error(r->err, &other, "is given by `%s` already", dlrm.json ? "dlrm" : "file");
    }
    if (dlrm.json != NULL)
        return dlrm_read(r, &dlrm, job_size(r, job), job->training) == 0;
    return astra_workload_read(r->scenario->dir, file, place_text(&at, path), job->training,
                               r->err) == 0;
}

// A model-parallel group that takes part of a dimension makes two of it. False: they are too many.
static bool split_dims(const struct training_spec *t, struct coll_schedule *s)
{
    uint64_t left = t->model_parallel;
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
        for (unsigned op = 0; op < COLL_OPS; op++)
            s->choice[op][d + 1] = s->choice[op][d];
        s->dim_size[d + 1] /= (uint32_t)left;
        s->dim_size[d] = (uint32_t)left;
        left = 1;
    }
    return true;
}

// The system's settings; those left out, or all of them, have defaults.
static void read_system(struct reader *r, const struct place *place, struct coll_schedule *s)
{
    json_t *none = json_object();
    struct place system = *place;
    if (system.json == NULL)
        system.json = none;
    astra_system_place(r, &system, s);
    json_decref(none);
}

// Ranks that are not alike exchange all at once, not dimension by dimension.
static bool uneven_check(struct reader *r, const struct place *system, const struct job_spec *job,
                         uint32_t dims, const struct training_step *step)
{
    const struct coll_schedule *s = job->schedule;
    uint32_t wide = 0, ranks = coll_ranks(s), span = coll_span(s, dims);
    for (uint32_t d = 0; d < s->n_dims; d++)
        wide += s->dim_size[d] > 1;
    if (step->n_rank_bytes != ranks)
        place_error(r->err, system->parent, "rank_bytes lists %zu ranks of %u", step->n_rank_bytes,
                    ranks);
    else if (span != ranks || (wide > 1 && !s->flat[COLL_ALL_TO_ALL]))
        place_error(r->err, system,
                    "rank_bytes need an all-to-all over all ranks at once: "
                    "all-to-all-implementation oneDirect or oneRing");
    else
        return true;
    return false;
}

static void check_programs(struct reader *r, const struct place *system, const struct job_spec *job)
{
    const struct training_spec *t = job->training;
    bool seen[COLL_OPS][1 << COLL_MAX_DIMS] = {{false}}; // layers are much alike
    for (uint32_t layer = 0; layer < t->n_layers; layer++)
        for (int part = 0; part < TRAINING_PARTS; part++) {
            const struct training_step *step = &t->layers[layer].parts[part];
            uint32_t dims = training_dims(t, layer, (enum training_part)part, job->schedule);
            struct coll_uneven uneven = {step->rank_bytes, step->of_receiver};
            if (step->rank_bytes != NULL && !uneven_check(r, system, job, dims, step))
                return;
            struct coll_shape whole = {.op = (enum coll_op)step->op,
                                       .uneven = step->rank_bytes ? &uneven : NULL,
                                       .bytes = step->bytes,
                                       .bidirectional = job->schedule->bidirectional};
            if (step->op == TRAINING_NO_OP || (!step->rank_bytes && seen[step->op][dims]))
                continue;
            if (!programs_check(r, system, job, dims, &whole))
                return;
            seen[step->op][dims] = seen[step->op][dims] || !step->rank_bytes;
        }
}

// `stragglers`: [{"rank": 3, "factor": 1.5}, ..].
static void read_stragglers(struct reader *r, const struct place *place, struct job_spec *job)
{
    size_t n = json_array_size(place->json);
    if (!read_list(r, place))
        return;
    job->stragglers = memory_zeroed(n, sizeof *job->stragglers);
    for (size_t i = 0; i < n; i++) {
        struct keys keys = {0};
        struct place item = place_item(place, i), rank = place_key(&item, "rank");
        struct straggler_params words = {0};
        if (!read_object(r, &item))
            continue;
        read_params(r, &item, &keys, straggler_params, n_straggler_params, &words);
        keys_check(r, &item, &keys);
        for (size_t j = 0; j < job->n_stragglers; j++)
            if (job->stragglers[j].rank == words.rank)
                place_error(r->err, &rank, "rank %u is listed twice", job->stragglers[j].rank);
        if (rank_check(r, &rank, job, (int64_t)words.rank))
            job->stragglers[job->n_stragglers++] =
                (struct straggler){(uint32_t)words.rank, words.factor};
    }
}

// Times and bytes after the job's factors; they stay in a scenario's range, so sums do not wrap.
static bool check_factors(struct reader *r, const struct place *place, const struct job_spec *job)
{
    const struct training_spec *t = job->training;
    struct place compute = place_key(place, "compute_scale"), comm = place_key(place, "comm_scale");
    double slowest = 1;
    for (size_t i = 0; i < job->n_stragglers; i++)
        slowest = job->stragglers[i].factor > slowest ? job->stragglers[i].factor : slowest;
    slowest *= job->compute_scale * (1 + job->compute_jitter);
    for (uint32_t i = 0; i < t->n_layers; i++)
        for (int part = 0; part < TRAINING_PARTS; part++) {
            const struct training_layer *layer = &t->layers[i];
            const struct training_step *step = &layer->parts[part];
            uint32_t dims = training_dims(t, i, (enum training_part)part, job->schedule);
            double bytes = (double)step->bytes * job->comm_scale;
            if (step->op == COLL_ALL_GATHER)
                bytes *= coll_span(job->schedule, dims);
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

static bool has_rings(const struct spec *spec)
{
    for (uint32_t d = 0; d < spec->n_dims; d++)
        if (spec->dims[d].kind->direct && spec->dims[d].size > 2)
            return true;
    return false;
}

void read_training(struct reader *r, const struct place *place, struct keys *keys,
                   struct job_spec *job, const struct job_params *params)
{
    struct place dims = place_key(place, "dims"), system = place_key(place, "system"),
                 stragglers = place_key(place, "stragglers");
    struct place chunks = place_key(&system, "preferred-dataset-splits");
    char path[PLACE_TEXT];
    size_t errors = r->err->n_errors;
    uint32_t ranks = job_size(r, job);
    struct coll_schedule *s = job->schedule = memory_zeroed(1, sizeof *s);
    job->training = memory_zeroed(1, sizeof *job->training);
    job->iterations = params->iterations;
    job->compute_scale = params->compute_scale;
    job->comm_scale = params->comm_scale;
    job->compute_jitter = params->compute_jitter;
    keys_add(keys, "dims");
    keys_add(keys, "system");
    keys_add(keys, "stragglers");
    bool known = read_layers(r, place, keys, job, params->file);
    if (ranks == 0) // the network is in error
        return;
    read_stragglers(r, &stragglers, job);
    read_job_dims(r, &dims, ranks, s);
    read_system(r, &system, s);
    s->bidirectional = has_rings(&r->scenario->spec);
    if (!known || r->err->n_errors > errors ||
        training_check_group(job->training, s->dim_size, s->n_dims, place_text(place, path),
                             r->err) != 0)
        return;
    if (!split_dims(job->training, s))
        place_error(r->err, place, "the model-parallel group makes more than %d dimensions",
                    COLL_MAX_DIMS);
    else if (check_factors(r, place, job) && chunks_check(r, &chunks, s))
        check_programs(r, &system, job);
}

// SPDX-License-Identifier: MIT
// {"tiers": {"ssd": {"read_rate": "28Gbps"}},
//  "input": {"from": "ssd", "sample_bytes": "110KB", "shuffle": "global", "prefetch": 2}}
#include "workload/nodes/read_input.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/text/schema_parts.h"
#include "workload/read/group_algorithms.h"

#define BATCH_MOST 1e15 // bytes of a rank

// How many samples a rank reads follows from the batch, where the job has one.
static void check_samples(struct reader *r, const struct place *input, const struct job_spec *job,
                          const struct input_spec *in)
{
    struct place samples = place_key(input, "samples"), shuffle = place_key(input, "shuffle");
    if (!job->kind->trains && in->p.samples != PARAM_AUTO)
        place_error(r->err, &samples, "follow from the job's batch: leave it out");
    if (job->kind->trains && in->p.samples == PARAM_AUTO)
        place_error(r->err, &samples, "is required: those of a rank in an iteration");
    if (job->kind->trains && in->p.shuffle == INPUT_GLOBAL)
        place_error(r->err, &shuffle, "a training job reads its own samples only (local)");
}

void job_input_read(struct reader *r, const struct place *job_place, struct job_spec *job,
                    struct input_spec *in)
{
    struct place input = place_key(job_place, "input");
    struct place from = place_key(&input, "from");
    struct keys own = {0};
    tiers_read(r, job_place, job, &in->tiers);
    if (input.json == NULL) {
        struct place tiers = place_key(job_place, "tiers");
        if (tiers.json != NULL)
            place_error(r->err, &tiers, "is used only with `input`");
        in->p.from = "";
        return;
    }
    if (!read_object(r, &input))
        return;
    params_default(input_params, n_input_params, &in->p);
    read_params(r, &input, &own, input_params, n_input_params, &in->p);
    keys_check(r, &input, &own);
    if (!json_is_string(from.json)) // the table has reported it
        return;
    check_samples(r, &input, job, in);
    in->tier = tier_find(&in->tiers, in->p.from);
    if (in->tier == 0)
        place_error(r->err, &from, "hbm is where samples are computed: name another tier");
    else if (in->tier == TIER_NONE)
        place_error(r->err, &from, "no tier is called \"%.40s\" (`tiers`)", in->p.from);
}

// Ranks that exchange samples with an algorithm that their number and network allow.
static void check_exchange(struct reader *r, const struct place *input, const struct job_spec *job,
                           const struct node_input *in, const struct node_program *program)
{
    struct place at = place_key(input, "shuffle");
    const struct node_group *group = &program->groups[in->group];
    if (in->exchanges)
        group_check(r, &at, job, &group->schedule,
                    (struct coll_shape){.op = COLL_ALL_TO_ALL, .bytes = 1 << 20}, group->ranks);
}

void job_input_add(struct reader *r, const struct place *job_place, const struct job_spec *job,
                   struct node_input *in, struct node_program *program, double *samples,
                   uint64_t iterations, const struct group_choice *choice)
{
    struct place input = place_key(job_place, "input");
    struct place from = place_key(&input, "from"), size = place_key(&input, "sample_bytes");
    uint64_t most = 0;
    if (input.json != NULL)
        in->bytes = memory_zeroed(program->n_ranks, sizeof *in->bytes);
    for (uint32_t i = 0; i < program->n_ranks && input.json != NULL; i++) {
        double bytes = samples[i] * (double)in->spec.p.sample_bytes;
        in->bytes[i] = bytes < BATCH_MOST ? (uint64_t)ceil(bytes) : UINT64_MAX;
        most = in->bytes[i] > most ? in->bytes[i] : most;
    }
    free(samples);
    if (input.json == NULL)
        return;
    if (most == UINT64_MAX)
        place_error(r->err, &size, "makes batches above 1 PB");
    else if (tier_copy_check(r, &in->spec.tiers, in->spec.tier, 0, most, &from, &size)) {
        node_input_add(in, program, iterations, choice);
        check_exchange(r, &input, job, in, program);
    }
}

void job_input_write(json_t *json, const char *key, const void *value, const json_t *given)
{
    const struct input_spec *in = value;
    if (json_object_get(given, key) != NULL)
        json_object_set_new(json, key, params_json(input_params, n_input_params, &in->p));
}

json_t *job_input_schema(void) { return schema_table(input_params, n_input_params); }

// SPDX-License-Identifier: MIT
// The `workload`: one job or a list of jobs.
#include <stdlib.h>

#include "config/read.h"
#include "engine/memory.h"

// Reads the keys that no table describes, and adds them to `keys`.
typedef void job_reader(struct reader *r, const struct place *place, struct keys *keys,
                        struct job_spec *job, const struct job_params *params);

static job_reader *const kind_readers[N_JOB_KINDS] = {
    [JOB_FLOWS] = read_flows,
    [JOB_INCAST] = read_incast,
    [JOB_PERMUTATION] = read_permutation,
    [JOB_COLLECTIVE] = read_collective,
    [JOB_TRAINING] = read_training,
    [JOB_POISSON] = read_poisson,
};

// Rank numbers of the network, each once. `job` has no ranks yet, so rank_check() means all.
static void read_ranks(struct reader *r, const struct place *place, struct job_spec *job)
{
    size_t n = json_array_size(place->json), errors = r->err->n_errors;
    if (!read_list(r, place))
        return;
    if (n == 0) {
        place_error(r->err, place, "lists no rank");
        return;
    }
    uint32_t *ranks = memory_zeroed(n, sizeof *ranks);
    bool *taken = memory_zeroed(r->ranks.n_ranks, sizeof *taken);
    for (size_t i = 0; i < n; i++) {
        struct place at = place_item(place, i);
        if (!json_is_integer(at.json)) {
            place_error(r->err, &at, "must be a rank, not %s", json_noun(at.json));
            continue;
        }
        int64_t rank = json_integer_value(at.json);
        if (!rank_check(r, &at, job, rank) || r->ranks.n_ranks == 0)
            continue;
        ranks[i] = (uint32_t)rank;
        if (taken[rank])
            place_error(r->err, &at, "rank %u is listed twice", ranks[i]);
        taken[rank] = true;
    }
    free(taken);
    job->ranks = ranks;
    bool known = r->err->n_errors == errors && r->ranks.n_ranks > 0;
    job->n_ranks = known ? n : 0; // 0: nothing can be checked against them
}

static void read_job(struct reader *r, const struct place *place, struct job_spec *job,
                     struct job_source *source)
{
    struct keys keys = {0};
    const char *words[N_JOB_KINDS + 1] = {0};
    if (!read_object(r, place))
        return;
    for (size_t i = 0; i < N_JOB_KINDS; i++)
        words[i] = job_kinds[i].name;
    struct place kind = place_key(place, "kind"), ranks = place_key(place, "ranks");
    int word = read_word(r, &kind, "workload kind", words);
    if (word < 0)
        return;
    const struct job_kind_info *info = &job_kinds[word];
    struct job_params *params = &source->params;
    source->json = place->json;
    params_default(info->params, info->n_params, params);
    read_params(r, place, &keys, info->params, info->n_params, params);
    if (params->name[0] == '\0')
        params->name = info->name;
    *job = (struct job_spec){.kind = (enum job_kind)word,
                             .name = params->name,
                             .start_ps = params->start_ps,
                             .cls = (uint32_t)params->cls};
    read_ranks(r, &ranks, job);
    if (word == JOB_COLLECTIVE || word == JOB_TRAINING)
        map_ranks(r, place, job, params);
    kind_readers[word](r, place, &keys, job, params);
    keys_add(&keys, "kind");
    keys_add(&keys, "ranks");
    keys_check(r, place, &keys);
}

void read_workload(struct reader *r, const struct place *place)
{
    struct scenario *s = r->scenario;
    s->jobs_listed = json_is_array(place->json);
    size_t n = s->jobs_listed ? json_array_size(place->json) : 1;
    if (place->json == NULL)
        place_error(r->err, place, "is required: a job, or a list of jobs");
    else if (s->jobs_listed && n == 0)
        place_error(r->err, place, "lists no job");
    if (place->json == NULL || n == 0)
        return;
    if (n > UINT16_MAX) {
        place_error(r->err, place, "%zu jobs are more than %d", n, UINT16_MAX);
        return;
    }
    s->spec.n_jobs = n;
    s->spec.jobs = memory_zeroed(n, sizeof *s->spec.jobs);
    s->sources = memory_zeroed(n, sizeof *s->sources);
    for (size_t i = 0; i < n; i++) {
        struct place item = place_item(place, i);
        read_job(r, s->jobs_listed ? &item : place, &s->spec.jobs[i], &s->sources[i]);
    }
}

// SPDX-License-Identifier: MIT
// The `workload`: one job or a list of jobs.
#include <stdlib.h>

#include "config/job_reader.h"
#include "engine/memory.h"

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

// The kind that a job names, or NULL with an error.
static const struct job_entry *read_kind(struct reader *r, const struct place *place)
{
    struct keys words = {0};
    for (size_t i = 0; job_registry[i].kind != NULL; i++)
        keys_add(&words, job_registry[i].kind->name);
    int word = read_word(r, place, "workload kind", words.names);
    return word >= 0 ? &job_registry[word] : NULL;
}

static void read_job(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    struct place kind_place = place_key(place, "kind"), ranks = place_key(place, "ranks");
    const struct job_entry *entry = read_kind(r, &kind_place);
    if (entry == NULL)
        return;
    const struct job_kind *kind = entry->kind;
    *job = (struct job_spec){.kind = kind, .settings = job_settings_new(kind)};
    params_default(job_params, n_job_params, job);
    read_params(r, place, &keys, job_params, n_job_params, job);
    read_params(r, place, &keys, kind->params, kind->n_params, job->settings);
    if (job->name[0] == '\0')
        job->name = kind->name;
    read_ranks(r, &ranks, job);
    if (entry->reader != NULL)
        entry->reader->read(r, place, &keys, job);
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
    s->jobs = memory_zeroed(n, sizeof(json_t *));
    for (size_t i = 0; i < n; i++) {
        struct place item = place_item(place, i);
        s->jobs[i] = s->jobs_listed ? item.json : place->json;
        read_job(r, s->jobs_listed ? &item : place, &s->spec.jobs[i]);
    }
}

// SPDX-License-Identifier: MIT
// The `workload`: one job or a list of jobs.
#include <stdlib.h>
#include <string.h>

#include "config/object/stacks.h"
#include "engine/base/memory.h"
#include "engine/text/object.h"
#include "engine/text/rank_ranges.h"
#include "engine/text/schema_parts.h"
#include "engine/text/synonyms.h"
#include "transport/transport.h"
#include "workload/nodes/read_input.h"
#include "workload/read/executor_key.h"
#include "workload/read/job_reader.h"
#include "workload/training/gemm.h"
#include "workload/training/read_dlrm.h"

// Read distinct rank numbers of the network. `job` has no ranks yet, so rank_check() accepts all
// ranks.
static void read_ranks(struct reader *r, struct place *place, struct job_spec *job)
{
    size_t errors = r->err->n_errors;
    bool good = ranks_expand(r, place, r->scenario->site.ranks.n_ranks);
    size_t n = json_array_size(place->json);
    if (good && place->json != NULL && !json_is_array(place->json))
        place_error(r->err, place, "must be a list of ranks like [0, 1, 2, 3] or \"0-3\", not %s",
                    json_noun(place->json));
    if (r->err->n_errors > errors) {
        job->ranks = memory_zeroed(1, sizeof *job->ranks); // their number is unknown
        return;
    }
    if (!read_list(r, place))
        return;
    if (n == 0) {
        place_error(r->err, place, "must not be empty");
        return;
    }
    uint32_t *ranks = memory_zeroed(n, sizeof *ranks);
    bool *taken = memory_zeroed(r->scenario->site.ranks.n_ranks, sizeof *taken);
    for (size_t i = 0; i < n; i++) {
        struct place at = place_item(place, i);
        if (!json_is_integer(at.json)) {
            place_error(r->err, &at, "must be a rank, not %s", json_noun(at.json));
            continue;
        }
        int64_t rank = json_integer_value(at.json);
        if (!rank_check(r, &at, job, rank) || r->scenario->site.ranks.n_ranks == 0)
            continue;
        ranks[i] = (uint32_t)rank;
        if (taken[rank])
            place_error(r->err, &at, "rank %u is listed twice", ranks[i]);
        taken[rank] = true;
    }
    free(taken);
    job->ranks = ranks;
    bool known = r->err->n_errors == errors && r->scenario->site.ranks.n_ranks > 0;
    job->n_ranks = known ? n : 0; // 0 = unknown: nothing can be checked against the ranks
}

extern const struct object workload_object; // objects.c lists it

// Keys of all kinds that are in no table, beside `kind`.
static const struct job_part common_parts[] = {
    PART_ROW("ranks", "list like [0, 1, 4] or range like 0-15", "all",
             "ranks of the network that are ranks 0, 1, .. of the job", .schema = schema_ranks),
    PARTS_END,
};

// For kinds whose table describes all of their keys.
static const struct job_reader plain_reader = {.parts = NULL};

static const struct job_reader *reader_of(const struct job_entry *entry)
{
    return entry->reader != NULL ? entry->reader : &plain_reader;
}

// The kind of a job, or NULL with an error.
static const struct job_entry *read_kind(struct reader *r, const struct place *place)
{
    struct keys words = {0};
    for (size_t i = 0; job_registry[i].kind != NULL; i++)
        keys_add(&words, job_registry[i].kind->name);
    const char *given = json_string_value(place->json);
    // read_word() reports a word that is close to a kind. One that is close to an operation was
    // probably meant as that operation.
    const char *op = given == NULL || word_meant(given, words.names) != NULL
                         ? NULL
                         : err_near_miss(given, coll_op_names);
    if (op != NULL) {
        place_error(r->err, place,
                    "\"%s\" is an operation: write {\"kind\": \"collective\", \"op\": \"%s\", ..}",
                    given, op);
        return NULL;
    }
    int word = read_word(r, place, "workload kind", words.names);
    return word >= 0 ? &job_registry[word] : NULL;
}

// The transport of a job, and the class of its data.
static void read_job_transport(struct reader *r, const struct place *place, struct job_spec *job)
{
    const struct dim_spec *base = &r->scenario->base;
    struct place transport = place_key(place, "transport");
    struct keys words = stack_words(base);
    if (json_is_string(transport.json)) { // the table has reported other types
        int t = read_word(r, &transport, "transport of the scenario", words.names);
        job->transport = t >= 0 ? (uint32_t)t : 0;
    }
    if (job->cls == PARAM_AUTO)
        job->cls = base->stacks[job->transport].transport.ops->data_class;
}

static void read_job(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct keys keys = {0};
    struct param rows[ALGORITHM_ROWS_MAX];
    if (!read_object_of(r, place, "kind"))
        return;
    struct place kind_place = place_key(place, "kind"), ranks = place_key(place, "ranks");
    const struct job_entry *entry = read_kind(r, &kind_place);
    if (entry == NULL)
        return;
    const struct job_kind *kind = entry->kind;
    const struct job_reader *reader = reader_of(entry);
    *job = (struct job_spec){.kind = kind, .settings = job_settings_new(kind)};
    params_default(job_params, n_job_params, job);
    read_params(r, place, &keys, job_params, n_job_params, job);
    read_params(r, place, &keys, kind->params, kind->n_params, job->settings);
    if (job->name[0] == '\0')
        job->name = kind->name;
    read_job_transport(r, place, job);
    read_ranks(r, &ranks, job);
    if (reader->read != NULL)
        reader->read(r, place, job);
    size_t n_rows = job_algorithm_rows(reader, rows);
    for (size_t i = 0; i < n_rows; i++)
        keys_add(&keys, rows[i].name);
    parts_add(&keys, reader->parts);
    keys_add(&keys, "kind");
    parts_add(&keys, common_parts);
    keys_check_of(r, place, &keys, &workload_object);
}

// The network as the readers of jobs see it.
static void describe_site(struct scenario *s)
{
    const struct spec *spec = &s->spec;
    struct site *site = &s->site;
    site->n_dims = spec->n_dims;
    site->analytical = spec->network == NETWORK_ANALYTICAL;
    site->analytical_links = spec->route == ANALYTICAL_LINKS;
    site->relays = s->base.sw.routing.relay;
    site->seed = spec->seed;
    site->slowest_bps = spec_slowest_bps(spec);
    site->capacity_bytes = spec->memory.capacity_bytes;
    site->reserve_bytes = spec->memory.reserve_bytes;
    site->machine = spec->machine;
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct dim_spec *dim = &spec->dims[d];
        site->dims[d] =
            (struct site_dim){.size = dim->size,
                              .fabric = dim->kind && dim->kind->fabric,
                              .direct = dim->kind && dim->kind->direct,
                              .reduces = dim->sw.reduction.enabled,
                              .rate_bps = dim->links[0].rate_bps,
                              .path_ps = dim->kind && dim->size > 1 && site->ranks.n_ranks > 0
                                             ? dim_path_ps(dim, site->ranks.n_ranks)
                                             : 0};
    }
}

static void workload_read(struct reader *r, const struct place *place, void *value)
{
    describe_site(r->scenario);
    struct scenario *s = value;
    s->jobs_listed = json_is_array(place->json);
    size_t n = s->jobs_listed ? json_array_size(place->json) : 1;
    if (place->json == NULL)
        place_error(r->err, place, "is required: a job, or a list of jobs");
    else if (s->jobs_listed && n == 0)
        place_error(r->err, place, "must not be empty");
    if (place->json == NULL || n == 0)
        return;
    if (n > JOBS_MAX) {
        place_error(r->err, place, "%zu jobs are more than %d", n, JOBS_MAX);
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

// ---- the resolved form ----

static json_t *job_json(const struct job_spec *job, const json_t *given)
{
    const struct job_kind *kind = job->kind;
    const struct job_entry *entry = job_registry;
    while (entry->kind != kind)
        entry++;
    const struct job_reader *reader = reader_of(entry);
    struct param rows[ALGORITHM_ROWS_MAX];
    json_t *json = json_object();
    json_object_set_new(json, "kind", json_string(kind->name));
    write_params(json, job_params, n_job_params, job);
    write_params(json, kind->params, kind->n_params, job->settings);
    write_params(json, rows, job_algorithm_rows(reader, rows),
                 (const char *)job->settings + reader->algorithms);
    parts_write(json, reader->parts, job->settings, given);
    if (reader->trim != NULL)
        reader->trim(json, job, given);
    parts_write(json, common_parts, NULL, given);
    return json;
}

static json_t *workload_write(const struct scenario *s, const void *value)
{
    (void)value;
    if (!s->jobs_listed)
        return job_json(&s->spec.jobs[0], s->jobs[0]);
    json_t *jobs = json_array();
    for (size_t i = 0; i < s->spec.n_jobs; i++)
        json_array_append_new(jobs, job_json(&s->spec.jobs[i], s->jobs[i]));
    return jobs;
}

// ---- the schema ----

static void workload_definitions(json_t *defs)
{
    json_t *kinds = json_array();
    executor_definition(defs);
    for (const struct job_entry *entry = job_registry; entry->kind != NULL; entry++) {
        const struct job_reader *reader = reader_of(entry);
        struct param rows[ALGORITHM_ROWS_MAX];
        json_t *job = schema_object();
        schema_key(job, "kind", schema_constant(entry->kind->name), true);
        schema_params(job, job_params, n_job_params);
        schema_params(job, entry->kind->params, entry->kind->n_params);
        schema_params(job, rows, job_algorithm_rows(reader, rows));
        parts_schema(job, reader->parts);
        parts_schema(job, common_parts);
        json_object_set_new(job, "description", json_string(entry->kind->doc));
        json_array_append_new(kinds, job);
    }
    json_object_set_new(defs, "job", json_pack("{s:o}", "oneOf", kinds));
}

static json_t *workload_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    return json_pack("{s:[o,{s:s,s:o,s:i}]}", "anyOf", schema_ref("job"), "type", "array", "items",
                     schema_ref("job"), "minItems", 1);
}

// ---- the object ----

// Tables of settings for workloads that are not kinds of jobs themselves.
static const struct model {
    struct object_entry entry;
    const struct param *params;
    const size_t *n_params;
    const struct job_part *parts;
    bool computes; // times of computations as a GPU has them
} models[] = {
    {.entry = {.name = "gemm",
               .doc = "settings of `collwire workload gemm`: a training workload from the matrix "
                      "products of a network's layers",
               .source = "Samajdar et al., ISPASS 2020; Williams et al., CACM 2009"},
     .computes = true},
    {.entry = {.name = "dlrm",
               .doc = "`dlrm` of a training job: a recommendation model, its tables sharded "
                      "(element: 4B unless given)",
               .source = "Naumov et al. 2019; Mudigere et al., ISCA 2022"},
     .params = dlrm_params,
     .n_params = &n_dlrm_params,
     .parts = dlrm_parts,
     .computes = true},
    {.entry = {.name = "tier",
               .doc = "an entry of `tiers` of a job: a memory beside the GPU's own"},
     .params = tier_params,
     .n_params = &n_tier_params,
     .parts = tier_parts},
    {.entry = {.name = "input",
               .doc = "`input` of cnn, llm and training jobs: samples that are read for each "
                      "iteration"},
     .params = input_params,
     .n_params = &n_input_params},
    {.entry = {.name = "remote_tier", .doc = "further keys of a tier with `hosts`"},
     .params = tier_remote_params,
     .n_params = &n_tier_remote_params},
    {.entry = {.name = "pool_tier", .doc = "further keys of a tier with a `pool`"},
     .params = tier_pool_params,
     .n_params = &n_tier_pool_params},
};
enum { N_MODELS = sizeof models / sizeof *models };

static bool workload_entry(const struct cc_catalogue *policies, size_t i, struct object_entry *out)
{
    (void)policies;
    size_t n = 0;
    while (job_registry[n].kind != NULL)
        n++;
    if (i >= n + N_MODELS)
        return false;
    if (i >= n) {
        *out = models[i - n].entry;
        out->kind = NULL;
        return true;
    }
    const struct job_kind *kind = job_registry[i].kind;
    *out = (struct object_entry){
        .name = kind->name, .doc = kind->doc, .source = kind->source, .kind = &job_registry[i]};
    return true;
}

static void model_keys(const char *name, const char *prefix, const struct key_sink *to)
{
    const struct model *m = models;
    while (strcmp(m->entry.name, name) != 0)
        m++;
    if (m->params != NULL)
        to->table(to->ctx, prefix, m->params, *m->n_params);
    if (m->computes)
        to->table(to->ctx, prefix, gemm_params, n_gemm_params);
    parts_list(m->parts, to);
}

static void workload_keys(const struct object_entry *entry, const char *prefix,
                          const struct key_sink *to)
{
    const struct job_entry *job = entry->kind;
    if (job == NULL) {
        model_keys(entry->name, prefix, to);
        return;
    }
    to->table(to->ctx, prefix, job_params, n_job_params);
    to->table(to->ctx, prefix, job->kind->params, job->kind->n_params);
    parts_list(reader_of(job)->parts, to);
    parts_list(common_parts, to);
}

static void workload_free(void *value)
{
    struct scenario *s = value;
    for (size_t i = 0; i < s->spec.n_jobs; i++)
        job_free(&s->spec.jobs[i]);
    free(s->spec.jobs);
    free(s->jobs);
}

const struct object workload_object = {
    .key = "workload",
    .doc = "kinds of jobs",
    .stage = STAGE_REST,
    .required = true,
    .read = workload_read,
    .write = workload_write,
    .schema = workload_schema,
    .definitions = workload_definitions,
    .free = workload_free,
    .entry = workload_entry,
    .keys = workload_keys,
};

// SPDX-License-Identifier: MIT
// Reads collective jobs: algorithms, dimensions, schedule, and checks that the algorithms can run
// on these ranks over this network.
#include <string.h>

#include "collective/algorithm/grid.h"
#include "engine/text/schema_parts.h"
#include "workload/collective_job.h"
#include "workload/read/executor_key.h"
#include "workload/read/job_reader.h"

#define RUNS_MAX                                                                                   \
    (UINT64_C(1) << 27) // limit of the numbering in tokens (collective/comm_internal.h)

struct collective_places {
    struct place algorithm, dims, bytes, chunks, root;
};

static void choose(struct coll_schedule *s, uint32_t dim, struct coll_choice choice)
{
    for (unsigned op = 0; op < COLL_OPS; op++)
        s->choice[op][dim] = choice;
}

void read_job_dims(struct reader *r, const struct place *place, uint32_t ranks,
                   struct coll_schedule *s)
{
    const struct site *site = r->site;
    uint64_t product = 1;
    s->n_dims = site->n_dims;
    for (uint32_t d = 0; d < site->n_dims; d++)
        product *= s->dim_size[d] = site->dims[d].size;
    if (place->json == NULL) {
        if (product != ranks)
            place_error(r->err, place, "is required: the job has %u of the network's %u ranks",
                        ranks, (unsigned)product);
        return;
    }
    if (!read_list(r, place))
        return;
    size_t n = json_array_size(place->json);
    s->n_dims = (uint32_t)n;
    product = 1;
    if (n == 0 || n > COLL_MAX_DIMS) {
        place_error(r->err, place, "lists %zu dimensions: 1 to %d are possible", n, COLL_MAX_DIMS);
        return;
    }
    for (uint32_t d = 0; d < n; d++) {
        struct place item = place_item(place, d);
        json_int_t size = json_integer_value(item.json);
        if (size < 1 || size > ranks) {
            place_error(r->err, &item, "must be a size from 1 to the job's %u ranks", ranks);
            return;
        }
        product *= s->dim_size[d] = (uint32_t)size;
        if (product > ranks)
            break;
    }
    if (product != ranks)
        place_error(r->err, place, "the sizes do not multiply to the job's %u ranks", ranks);
}

// True if an algorithm over all ranks at once has a pair that differs in several dimensions of the
// network, which no message crosses without a relay, so that each dimension is to run its own.
static bool each_dim_runs(const struct reader *r, const struct job_spec *job, enum coll_op op,
                          const struct coll_schedule *s)
{
    const struct site *site = r->site;
    uint32_t ranks = job_size(r, job);
    uint64_t product = 1;
    for (uint32_t d = 0; d < site->n_dims; d++)
        product *= site->dims[d].size;
    if (pairs_all_joined(r) || site->relays || op > COLL_ALL_TO_ALL || product != ranks)
        return false;
    // In closed form all pairs can exchange messages, but the algorithm is that of the packets.
    struct site packets = *site;
    struct err refused = {0};
    struct reader probe = *r;
    struct place top = {.json = NULL}, place = place_key(&top, "algorithm");
    struct coll_shape whole = {.op = op, .ranks = ranks, .bytes = 1 << 20};
    packets.analytical = false;
    probe.site = &packets;
    probe.err = &refused;
    bool fits = algorithms_check(&probe, &place, job, s, UINT32_MAX, &whole);
    err_free(&refused);
    return !fits;
}

// Without `algorithm` each dimension runs the default one.
static void run_each_dim(struct reader *r, const struct place *algorithm, struct coll_schedule *s)
{
    const struct site *site = r->site;
    struct coll_choice choice = s->choice[0][0];
    if (algorithm->json != NULL && !site->analytical)
        place_error(r->err, algorithm,
                    "\"%s\" over all ranks has pairs that differ in more than one dimension: list "
                    "one for each dimension, [\"%s\", \"%s\"], leave it out, set "
                    "switch.routing.relay, or use a dimension that connects all ranks",
                    choice.algorithm->name, choice.algorithm->name, choice.algorithm->name);
    if (algorithm->json != NULL)
        return;
    s->n_dims = site->n_dims;
    for (uint32_t d = 0; d < site->n_dims; d++) {
        s->dim_size[d] = site->dims[d].size;
        choose(s, d, choice);
    }
}

// Read one algorithm for all ranks at once, or one for each dimension.
static void read_algorithms(struct reader *r, const struct collective_places *at,
                            const struct coll_choice *algorithms, uint32_t ranks,
                            struct coll_schedule *s)
{
    if (!json_is_array(at->algorithm.json)) {
        struct coll_choice choice = at->algorithm.json != NULL
                                        ? algorithm_read(r, &at->algorithm, algorithms)
                                        : algorithm_named(algorithms, "ring");
        s->n_dims = 1;
        s->dim_size[0] = ranks;
        choose(s, 0, choice);
        if (at->dims.json != NULL)
            place_error(r->err, &at->dims,
                        "is used only with a list of algorithms, one per dimension");
        return;
    }
    size_t n = json_array_size(at->algorithm.json), errors = r->err->n_errors;
    if (ranks > 0)
        read_job_dims(r, &at->dims, ranks, s);
    if (r->err->n_errors == errors && ranks > 0 && n != s->n_dims)
        place_error(r->err, &at->algorithm, "lists %zu algorithms for %u dimensions", n, s->n_dims);
    for (uint32_t d = 0; d < n && d < COLL_MAX_DIMS; d++) {
        struct place item = place_item(&at->algorithm, d);
        choose(s, d, algorithm_read(r, &item, algorithms));
    }
}

static void set_schedule(const struct collective_params *params, bool flat, struct coll_schedule *s)
{
    bool themis = params->schedule == SCHEDULE_THEMIS;
    s->chunks = params->chunks;
    s->active_chunks = params->active_chunks != PARAM_AUTO ? params->active_chunks : !flat;
    s->phases = params->schedule == SCHEDULE_BASELINE ? COLL_BASELINE : COLL_BANDWIDTH_AWARE;
    s->order = params->schedule == SCHEDULE_ROUND_ROBIN ? COLL_ROUND_ROBIN
               : themis                                 ? COLL_THEMIS
                                                        : COLL_ASCENDING;
    s->queueing = params->order;
    s->endpoint_ps = params->endpoint_ps;
    s->wire_factor = params->wire_precision;
    s->reduce_bps = params->reduce_bps == PARAM_AUTO ? 0 : params->reduce_bps;
}

bool chunks_check(struct reader *r, const struct place *place, const struct coll_schedule *s)
{
    uint64_t groups = 0;
    for (uint32_t d = 0; d < s->n_dims; d++)
        groups += coll_n_groups(s, d);
    if (groups * s->chunks * coll_largest_group(s) <= RUNS_MAX)
        return true;
    place_error(r->err, place, "%u chunks over %u ranks are too many", (unsigned)s->chunks,
                coll_ranks(s));
    return false;
}

static void check_sizes(struct reader *r, const struct collective_places *at,
                        const struct collective_params *params, const struct coll_schedule *s,
                        uint32_t ranks)
{
    chunks_check(r, &at->chunks, s);
    if (params->root >= ranks)
        place_error(r->err, &at->root, "rank %u is not one of the job's %u", (unsigned)params->root,
                    ranks);
    if (json_is_array(at->algorithm.json) && params->op > COLL_ALL_TO_ALL)
        place_error(r->err, &at->algorithm,
                    "%s runs over all ranks at once: give one algorithm, not a list",
                    coll_op_name((enum coll_op)params->op));
}

static void check_bytes(struct reader *r, const struct collective_places *at,
                        const struct collective_params *params)
{
    const char *text = json_string_value(at->bytes.json);
    uint64_t bytes = 0;
    if (params->bytes > 0 || params->op == COLL_BARRIER)
        return;
    if (at->bytes.json == NULL)
        place_error(r->err, &at->bytes, "is required: a size like \"128MB\"");
    else if (text ? parse_bytes(text, &bytes) == 0 && bytes == 0
                  : json_is_number(at->bytes.json) && json_number_value(at->bytes.json) == 0)
        place_error(r->err, &at->bytes, "0 bytes: nothing would be sent");
}

static void check_network(struct reader *r, const struct place *place,
                          const struct collective_params *params)
{
    struct place rate = place_key(place, "reduce_rate");
    if (r->site->analytical && params->reduce_bps != PARAM_AUTO)
        place_error(r->err, &rate, "the analytical network has its own: 3 ns for 500 kB");
}

// Keys whose values a library decides: they are neither given nor part of the resolved scenario.
static const char *const decided[] = {"algorithm",      "dims",        "chunks",
                                      "active_chunks",  "channels",    "schedule",
                                      "endpoint_delay", "reduce_rate", NULL};

static bool executor_decides(const struct collective_settings *settings)
{
    return executor_is_given(&settings->library) && !settings->library.by_switches;
}

static void check_library(struct reader *r, const struct place *place, const struct job_spec *job,
                          const struct coll_shape *whole)
{
    const struct collective_settings *settings = job->settings;
    struct place at = place_key(place, "library");
    size_t errors = r->err->n_errors;
    for (size_t i = 0; decided[i] != NULL; i++) {
        struct place key = place_key(place, decided[i]);
        if (key.json != NULL)
            place_error(r->err, &key, "is decided by the library: leave it out");
    }
    if (r->err->n_errors == errors)
        executor_check(r, &at, job, &settings->library, whole, NULL);
}

// A machine that is named runs its vendor's library, unless the scenario gives something that a
// library decides, or the library cannot run the collective: then it is a textbook's.
static void use_default_library(struct reader *r, const struct place *place,
                                const struct job_spec *job, const struct coll_shape *whole)
{
    struct collective_settings *settings = job->settings;
    struct place library = place_key(place, "library");
    bool open = r->site->machine != NULL && !r->site->analytical && library.json == NULL;
    for (size_t i = 0; decided[i] != NULL; i++)
        open &= place_key(place, decided[i]).json == NULL;
    if (!open)
        return;
    struct err *err = r->err, tried = {0};
    r->err = &tried;
    executor_default(r, &settings->library);
    if (!executor_check(r, &library, job, &settings->library, whole, NULL))
        settings->library = (struct executor_spec){.machine = NULL};
    err_free(&tried);
    r->err = err;
}

#define COLLNET_CHUNK (UINT64_C(1) << 22) // bytes: a step of 512 KiB of each of eight heads
#define COLLNET_CHUNKS 64
#define COLLNET_ACTIVE 2
#define COLLNET_STEPS 4 // delays of a rank in an all-reduce

// CollNet: GPUs of a server exchange directly, so that each has a part; over each part switches
// add between servers; and back. Its latencies of hwLat, 3.7 us twice inside and 31 us between, are
// shared out over the steps.
static void use_switches(struct reader *r, const struct place *place,
                         struct collective_settings *settings, uint32_t ranks)
{
    const struct site *site = r->site;
    struct coll_schedule *s = &settings->schedule;
    struct place at = place_key(place, "library"), algo = place_key(&at, "algo");
    const struct site_dim *last = &site->dims[site->n_dims > 0 ? site->n_dims - 1 : 0];
    uint32_t gpus = settings->library.gpus;
    uint64_t chunks = (settings->params.bytes + COLLNET_CHUNK - 1) / COLLNET_CHUNK;
    if (settings->params.op != COLL_ALL_REDUCE)
        place_error(r->err, &algo, "collnet has all_reduce alone");
    else if (!last->reduces)
        place_error(r->err, &algo, "collnet needs switches that add: switch.reduction.enabled");
    else if (ranks % gpus != 0 || ranks / gpus < 2 || ranks != r->site->ranks.n_ranks)
        place_error(r->err, &algo, "collnet needs all GPUs of several servers");
    s->n_dims = gpus > 1 ? 2 : 1;
    s->dim_size[0] = gpus > 1 ? gpus : ranks;
    s->dim_size[1] = ranks / gpus;
    if (gpus > 1)
        choose(s, 0, algorithm_named(settings->algorithms, "direct"));
    struct coll_choice switches = algorithm_named(settings->algorithms, "in_network");
    coll_choice_set(&switches, "reduction_segment", "512KiB"); // a step of a buffer
    choose(s, gpus > 1, switches);
    s->phases = COLL_BANDWIDTH_AWARE;
    s->chunks = chunks < 1 ? 1 : chunks < COLLNET_CHUNKS ? chunks : COLLNET_CHUNKS;
    s->active_chunks = COLLNET_ACTIVE;
    s->endpoint_ps = (31000 + 2 * 3700) * PS_PER_NS / COLLNET_STEPS;
}

static void read_collective(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct collective_settings *settings = job->settings;
    const struct collective_params *params = &settings->params;
    struct collective_places at = {place_key(place, "algorithm"), place_key(place, "dims"),
                                   place_key(place, "bytes"), place_key(place, "chunks"),
                                   place_key(place, "root")};
    struct place op = place_key(place, "op");
    map_ranks(r, place, job, &params->mapping);
    size_t errors = r->err->n_errors;
    uint32_t ranks = job_size(r, job);
    enum coll_op known;
    struct coll_schedule *s = &settings->schedule;
    settings->inner = r->site->n_dims > 1 ? r->site->dims[0].size : 1;
    algorithms_read(r, place, settings->algorithms);
    executor_read(r, place, &settings->library);
    struct coll_shape whole = {.op = (enum coll_op)params->op,
                               .ranks = ranks,
                               .bytes = params->bytes,
                               .root = (uint32_t)params->root,
                               .inner = settings->inner};
    if (ranks > 0 && r->err->n_errors == errors)
        use_default_library(r, place, job, &whole);
    read_algorithms(r, &at, settings->algorithms, ranks, s);
    if (!json_is_array(at.algorithm.json) && r->err->n_errors == errors &&
        !executor_is_given(&settings->library) &&
        each_dim_runs(r, job, (enum coll_op)params->op, s))
        run_each_dim(r, &at.algorithm, s);
    set_schedule(params, !json_is_array(at.algorithm.json) && s->n_dims == 1, s);
    s->library = executor_is_given(&settings->library) ? &settings->library : NULL;
    if (s->library != NULL && s->library->by_switches)
        use_switches(r, place, settings, ranks);
    if (!json_is_string(op.json) || coll_op_find(json_string_value(op.json), &known) != 0)
        return; // the table has reported it
    check_bytes(r, &at, params);
    check_network(r, place, params);
    if (ranks == 0 || r->err->n_errors > errors)
        return;
    check_sizes(r, &at, params, s, ranks);
    if (executor_decides(settings))
        check_library(r, place, job, &whole);
    else if (r->err->n_errors == errors)
        algorithms_check(r, &at.algorithm, job, s, UINT32_MAX, &whole);
}

// Write `algorithm` and, where dimensions have one each, `dims`.
static void write_algorithm(json_t *json, const char *key, const void *value, const json_t *given)
{
    const struct collective_settings *settings = value;
    const struct coll_schedule *s = &settings->schedule;
    json_t *list = json_array(), *dims = json_array();
    for (uint32_t d = 0; d < s->n_dims; d++) {
        const struct coll_choice *choice = &s->choice[settings->params.op][d];
        json_array_append_new(list, json_string(choice->algorithm->name));
        json_array_append_new(dims, json_integer(s->dim_size[d]));
    }
    bool each = json_is_array(json_object_get(given, key)) || (s->n_dims > 1 && s->library == NULL);
    json_object_set(json, key, each ? list : json_array_get(list, 0));
    if (each)
        json_object_set(json, "dims", dims);
    json_decref(list);
    json_decref(dims);
}

static json_t *algorithm_schema(void)
{
    struct keys words = {0};
    algorithm_words(&words);
    return json_pack("{s:[o,o]}", "anyOf", schema_words(words.names),
                     schema_list(schema_words(words.names)));
}

static void trim(json_t *json, const struct job_spec *job, const json_t *given)
{
    (void)given;
    if (executor_decides(job->settings))
        parts_remove(json, decided);
}

#define LIBRARY(only) LIBRARY_PART(struct collective_settings, library, only)
static const struct job_part collective_parts[] = {
    LIBRARY(PART_WRITTEN | PART_IN_SCHEMA),
    PART_ROW("algorithm", "word or list", "ring",
             "one for all ranks, or one per dimension; each has its settings: collwire list "
             "collective",
             .write = write_algorithm, .schema = algorithm_schema),
    PART_ROW("dims", "list", "the network's",
             "sizes of the dimensions that a list of algorithms is for, innermost first",
             .schema = schema_sizes, .only = PART_LISTED | PART_IN_SCHEMA),
    LIBRARY(PART_LISTED),
    PARTS_END,
};
const struct job_reader collective_reader = {
    .read = read_collective,
    .parts = collective_parts,
    .algorithms = offsetof(struct collective_settings, algorithms),
    .trim = trim,
};

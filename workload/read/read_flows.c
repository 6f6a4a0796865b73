// SPDX-License-Identifier: MIT
// Reads jobs that are lists of messages: flows (inline or CSV), incast, permutation.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/text/rank_ranges.h"
#include "engine/text/schema_parts.h"
#include "workload/flows.h"
#include "workload/read/flow_file.h"
#include "workload/read/job_reader.h"

struct flow_params {
    uint64_t src, dst, bytes;
    ps_t start_ps;
};

#define FL(f) offsetof(struct flow_params, f)
static const struct param flow_params[] = {
    PARAM_ROW("src", COUNT, FL(src), .help = "rank that sends"),
    PARAM_ROW("dst", COUNT, FL(dst), .help = "rank that receives"),
    PARAM_ROW("bytes", BYTES, FL(bytes), .min = "1B", .max = "1PB", .help = "payload"),
    PARAM_ROW("start", TIME, FL(start_ps), .def = "0ns", .min = "0ns", .max = "100000s",
              .help = "after the start of the job"),
};
enum { N_FLOW_PARAMS = sizeof flow_params / sizeof *flow_params };

// ---- flows ----

// Check a complete flow; its ranks exist.
static bool flow_check(struct reader *r, const struct place *place, const struct job_spec *job,
                       uint32_t src, uint32_t dst)
{
    if (src == dst) {
        place_error(r->err, place, "src and dst are both rank %u", src);
        return false;
    }
    return job_size(r, job) == 0 || pair_check(r, place, job, src, dst);
}

static void read_flow(struct reader *r, const struct place *place, const struct job_spec *job,
                      struct raw_flow *flow)
{
    struct keys keys = {0};
    struct flow_params params = {0};
    size_t errors = r->err->n_errors;
    if (!read_object(r, place))
        return;
    struct place src = place_key(place, "src"), dst = place_key(place, "dst");
    params_default(flow_params, N_FLOW_PARAMS, &params);
    read_params(r, place, &keys, flow_params, N_FLOW_PARAMS, &params);
    keys_check(r, place, &keys);
    if (json_is_number(src.json))
        rank_check(r, &src, job, (int64_t)params.src);
    if (json_is_number(dst.json))
        rank_check(r, &dst, job, (int64_t)params.dst);
    *flow = (struct raw_flow){.src = (uint32_t)params.src,
                              .dst = (uint32_t)params.dst,
                              .bytes = params.bytes,
                              .start_ps = params.start_ps};
    if (r->err->n_errors == errors)
        flow_check(r, place, job, flow->src, flow->dst);
}

static void read_flow_list(struct reader *r, const struct place *place, struct job_spec *job)
{
    size_t n = json_array_size(place->json);
    if (!read_list(r, place))
        return;
    if (n == 0)
        place_error(r->err, place, "must not be empty");
    struct flow_list *list = job_flows(job);
    list->flows = memory_zeroed(n, sizeof *list->flows);
    list->n = n;
    for (size_t i = 0; i < n; i++) {
        struct place item = place_item(place, i);
        read_flow(r, &item, job, &list->flows[i]);
    }
}

static void check_flow_file(struct reader *r, const struct place *place, const char *file,
                            const struct job_spec *job)
{
    enum { ERRORS_MAX = 20 };
    const struct flow_list *list = job_flows(job);
    for (size_t i = 0, wrong = 0; i < list->n && wrong < ERRORS_MAX; i++) {
        char key[64];
        const struct raw_flow *flow = &list->flows[i];
        snprintf(key, sizeof key, "file: %.30s, flow %zu", file, i + 1);
        struct place at = {.parent = place, .key = key};
        wrong += !rank_check(r, &at, job, flow->src) || !rank_check(r, &at, job, flow->dst) ||
                 !flow_check(r, &at, job, flow->src, flow->dst);
    }
}

static void read_flows(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct flows_settings *settings = job->settings;
    struct place flows = place_key(place, "flows"), file = place_key(place, "file");
    bool filed = settings->file[0] != '\0';
    if (filed && flows.json != NULL) {
        place_error(r->err, &file, "cannot be combined with `flows`");
    } else if (filed) {
        char path[PLACE_TEXT];
        static const ps_t units[] = {0, PS_PER_US, PS_PER_NS, 1};
        const struct flow_file from = {r->dir, settings->file, place_text(&file, path),
                                       units[settings->start_unit]};
        settings->list.flows = flow_file_read(&from, &settings->list.n, r->err);
        check_flow_file(r, place, settings->file, job);
    } else if (flows.json == NULL) {
        place_error(r->err, &flows, "is required: a list of flows (or `file`, a CSV of them)");
    } else {
        read_flow_list(r, &flows, job);
    }
}

static void write_flows(json_t *json, const char *key, const void *value, const json_t *given)
{
    const struct flows_settings *settings = value;
    (void)given;
    if (settings->file[0] != '\0')
        return;
    json_t *flows = json_array();
    for (size_t i = 0; i < settings->list.n; i++) {
        const struct raw_flow *flow = &settings->list.flows[i];
        struct flow_params params = {flow->src, flow->dst, flow->bytes, flow->start_ps};
        json_array_append_new(flows, params_json(flow_params, N_FLOW_PARAMS, &params));
    }
    json_object_set_new(json, key, flows);
}

static json_t *flows_schema(void) { return schema_list(schema_table(flow_params, N_FLOW_PARAMS)); }

static const struct job_part flows_parts[] = {
    PART_ROW("flows", "list", "", "of {src, dst, bytes, start}", .write = write_flows,
             .schema = flows_schema),
    PARTS_END,
};
const struct job_reader flows_reader = {.read = read_flows, .parts = flows_parts};

// ---- flows generated by a rule ----

// Make the job's flows src[i] -> dst, in the order of the senders.
static void flows_make(struct reader *r, const struct place *place, struct job_spec *job,
                       struct raw_flow *flows, size_t n)
{
    *job_flows(job) = (struct flow_list){.flows = flows, .n = n};
    for (size_t i = 0; i < n; i++)
        if (!flow_check(r, place, job, flows[i].src, flows[i].dst))
            return; // the other pairs would give the same error
}

// Read `senders` as a list of distinct ranks without the receiver. Returns their number.
static size_t sender_list(struct reader *r, const struct place *place, const struct job_spec *job,
                          const struct incast_settings *settings, struct raw_flow *flows)
{
    size_t n = json_array_size(place->json), errors = r->err->n_errors;
    bool *taken = memory_zeroed(job_size(r, job), sizeof *taken);
    for (size_t i = 0; i < n; i++) {
        struct place at = place_item(place, i);
        int64_t rank = json_integer_value(at.json);
        if (!json_is_integer(at.json)) {
            place_error(r->err, &at, "must be a rank, not %s", json_noun(at.json));
        } else if ((uint64_t)rank == settings->receiver) {
            place_error(r->err, &at, "rank %" PRId64 " is the receiver", rank);
        } else if (rank_check(r, &at, job, rank)) {
            if (taken[rank])
                place_error(r->err, &at, "rank %" PRId64 " is listed twice", rank);
            taken[rank] = true;
            flows[i] = (struct raw_flow){.src = (uint32_t)rank,
                                         .dst = (uint32_t)settings->receiver,
                                         .bytes = settings->bytes};
        }
    }
    free(taken);
    if (n == 0)
        place_error(r->err, place, "must not be empty");
    return r->err->n_errors == errors ? n : 0;
}

// Read `senders` as a number: the first ranks except the receiver; default: all of them.
static size_t sender_count(struct reader *r, const struct place *place, uint32_t n_ranks,
                           const struct incast_settings *settings, struct raw_flow *flows)
{
    int64_t n = place->json != NULL ? json_integer_value(place->json) : (int64_t)n_ranks - 1;
    if (place->json != NULL && !json_is_integer(place->json)) {
        place_error(r->err, place,
                    "must be a count, a list of ranks or a range like \"0-15\", not %s",
                    json_noun(place->json));
        return 0;
    }
    if (n < 1 || n >= n_ranks) {
        place_error(r->err, place, "%" PRId64 " senders and a receiver are not possible with %u %s",
                    n, n_ranks, n_ranks == 1 ? "rank" : "ranks");
        return 0;
    }
    for (uint32_t i = 0; i < n; i++)
        flows[i] = (struct raw_flow){.src = i + (i >= settings->receiver),
                                     .dst = (uint32_t)settings->receiver,
                                     .bytes = settings->bytes};
    return (size_t)n;
}

static void read_incast(struct reader *r, const struct place *place, struct job_spec *job)
{
    const struct incast_settings *settings = job->settings;
    struct place senders = place_key(place, "senders"), receiver = place_key(place, "receiver");
    uint32_t n_ranks = job_size(r, job);
    if (n_ranks == 0 || !rank_check(r, &receiver, job, (int64_t)settings->receiver))
        return;
    if (!ranks_expand(r, &senders, n_ranks))
        return;
    bool list = json_is_array(senders.json);
    size_t cap = list ? json_array_size(senders.json) : n_ranks;
    struct raw_flow *flows = memory_zeroed(cap, sizeof *flows);
    size_t n = list ? sender_list(r, &senders, job, settings, flows)
                    : sender_count(r, &senders, n_ranks, settings, flows);
    flows_make(r, place, job, flows, n);
}

static void write_senders(json_t *json, const char *key, const void *value, const json_t *given)
{
    const struct incast_settings *settings = value;
    json_t *senders = json_object_get(given, key);
    json_object_set_new(json, key,
                        senders != NULL ? json_deep_copy(senders)
                                        : json_integer((json_int_t)settings->list.n));
}

static json_t *senders_schema(void)
{
    return json_pack("{s:[o,o]}", "anyOf", schema_integer(1), schema_ranks());
}

static const struct job_part incast_parts[] = {
    PART_ROW("senders", "count or list", "all others", "ranks that send", .write = write_senders,
             .schema = senders_schema),
    PARTS_END,
};
const struct job_reader incast_reader = {.read = read_incast, .parts = incast_parts};

static void read_permutation(struct reader *r, const struct place *place, struct job_spec *job)
{
    const struct permutation_settings *settings = job->settings;
    struct place shift = place_key(place, "shift");
    uint32_t n = job_size(r, job);
    if (n == 0)
        return;
    if (settings->shift % n == 0) {
        place_error(r->err, &shift, "%" PRIu64 " sends every one of %u ranks to itself",
                    settings->shift, n);
        return;
    }
    struct raw_flow *flows = memory_zeroed(n, sizeof *flows);
    for (uint32_t i = 0; i < n; i++)
        flows[i] = (struct raw_flow){
            .src = i, .dst = (uint32_t)((i + settings->shift) % n), .bytes = settings->bytes};
    flows_make(r, place, job, flows, n);
}

const struct job_reader permutation_reader = {.read = read_permutation};

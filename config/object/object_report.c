// SPDX-License-Identifier: MIT
// `report`: files and lists that a run writes in addition to its metrics.
#include <stdlib.h>

#include "config/object/scenario_parts.h"
#include "engine/base/memory.h"
#include "engine/text/object.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"

#define FIELD(name) offsetof(struct report_spec, name)

static const struct param report_params[] = {
    PARAM_ROW("sample", TIME, FIELD(sample_ps), .def = "0ns", .max = "100000s",
              .help =
                  "interval of the time series; 0ns = none. Of more than 2 million values those of "
                  "ports are kept before those of flows, and `thinned` says what was left out"),
    PARAM_ROW("flows_max", COUNT, FIELD(flows_max), .def = "10000",
              .help = "above so many flows only their summary is written"),
    PARAM_ROW("collectives_max", COUNT, FIELD(collectives_max), .def = "10000",
              .help = "above so many collectives only the jobs' means are written"),
    PARAM_ROW("timeline", BOOL, FIELD(timeline), .def = "false",
              .help = "timeline.json: what ranks of training jobs and programs did when, and "
                      "when collectives of other jobs ran; opens in Perfetto",
              .source = "Trace Event Format"),
    PARAM_ROW("timeline_ranks", COUNT, FIELD(timeline_ranks), .def = "16", .min = "1",
              .max = "262144", .help = "the first ranks of a job that the timeline shows"),
};
static const size_t n_report_params = sizeof report_params / sizeof *report_params;

// ---- sample_at: a list of places ----

static void sample_at_read(struct reader *r, const struct place *place, void *value)
{
    struct report_spec *report = value;
    if (!read_list(r, place))
        return;
    report->n_sample_at = json_array_size(place->json);
    report->sample_at = memory_zeroed(report->n_sample_at, sizeof *report->sample_at);
    for (size_t i = 0; i < report->n_sample_at; i++) {
        struct place item = place_item(place, i);
        report->sample_at[i] = json_string_value(item.json);
        if (report->sample_at[i] == NULL)
            place_error(r->err, &item, "must be a place like \"leaf*->*\", not %s",
                        json_noun(item.json));
    }
}

static json_t *sample_at_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct report_spec *report = value;
    json_t *places = json_array();
    for (size_t i = 0; i < report->n_sample_at; i++)
        json_array_append_new(places, json_string(report->sample_at[i]));
    return places;
}

static json_t *sample_at_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    return schema_list(json_pack("{s:s}", "type", "string"));
}

static void sample_at_free(void *value)
{
    struct report_spec *report = value;
    free(report->sample_at);
}

static const struct object sample_at_object = {
    .key = "sample_at",
    .doc = "places that the time series are of, like leaf*->*",
    .type = "list",
    .def = "all switch output ports",
    .read = sample_at_read,
    .write = sample_at_write,
    .schema = sample_at_schema,
    .free = sample_at_free,
};

// ---- the object ----

static const struct object *const report_parts[] = {&sample_at_object, NULL};

// Warn of a timeline that no job has: plain messages are in flows[] of metrics.json alone.
static void timeline_check(struct reader *r, const struct place *timeline)
{
    const struct spec *spec = &r->scenario->spec;
    for (size_t j = 0; j < spec->n_jobs; j++) {
        const struct job_kind *kind = spec->jobs[j].kind;
        if (kind == NULL || kind->nodes != NULL || kind->trains || kind->collectives != NULL)
            return;
    }
    place_warn(r->err, timeline,
               "will be empty: only training jobs, programs and collectives have a timeline");
}

static void report_finish(struct reader *r, const struct place *place, void *value)
{
    const struct report_spec *report = value;
    struct place sample = place_key(place, "sample"), timeline = place_key(place, "timeline");
    if (report->timeline)
        timeline_check(r, &timeline);
    if (r->scenario->spec.network == NETWORK_ANALYTICAL && report->sample_ps != 0)
        place_error(r->err, &sample, "the analytical network has no queues or rates to sample");
}

extern const struct object report_object;
const struct object report_object = {
    .key = "report",
    .doc = "what a run writes beside its metrics",
    .stage = STAGE_REST,
    .params = report_params,
    .n_params = &n_report_params,
    .offset = offsetof(struct scenario, spec.report),
    .parts = report_parts,
    .finish = report_finish,
};

// SPDX-License-Identifier: MIT
// `faults`: links that lose packets, at random or as listed, that fail and are repaired, or lose
// lanes.
#include <inttypes.h>
#include <stdlib.h>

#include "config/object/scenario_parts.h"
#include "engine/base/memory.h"
#include "engine/text/object.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"

#define FIELD(name) offsetof(struct fault_spec, name)

static const struct param fault_params[] = {
    PARAM_ROW("at", TEXT, FIELD(at), .help = "places: leaf0->spine1, rank3, *->spine0"),
    PARAM_ROW("one_way", BOOL, FIELD(one_way), .def = "false",
              .help = "only the directions that `at` names; else both of each link"),
    PARAM_ROW("loss", RATIO, FIELD(loss), .def = "0", .min = "0", .max = "1",
              .help = "probability that a packet is lost on the link"),
    PARAM_ROW("corruption", RATIO, FIELD(corruption), .def = "0", .min = "0", .max = "1",
              .help = "probability that a packet arrives with a bad checksum, and is dropped"),
    PARAM_ROW("every", COUNT, FIELD(every), .def = "0", .max = "1000000000000",
              .help = "lose every such data packet: the first transmissions that reach the far "
                      "end of the link in this direction are counted from 1; 0 = none"),
    PARAM_ROW("times", COUNT, FIELD(times), .def = "1", .min = "1", .max = "1000000",
              .help = "transmissions of a packet of `every` or `packets` that are lost"),
    PARAM_ROW("pfc", BOOL, FIELD(pfc), .def = "false",
              .help = "loss and corruption hit PFC frames too"),
    PARAM_ROW("down", TIME, FIELD(down_ps), .def = "auto", .max = "100000s", .can_auto = true,
              .help = "the link fails; auto = never"),
    PARAM_ROW("up", TIME, FIELD(up_ps), .def = "auto", .max = "100000s", .can_auto = true,
              .help = "the link comes back; auto = never"),
    PARAM_ROW("detect", TIME, FIELD(detect_ps), .def = "100us", .max = "100000s", .can_auto = true,
              .help = "until routes take notice; auto = never",
              .source = "link-down interrupt and local repair; BFD takes ms, routing protocols "
                        "more"),
    PARAM_ROW("storm", TIME, FIELD(storm_ps), .def = "auto", .max = "100000s", .can_auto = true,
              .help = "the output ports named pause their neighbours from now on; auto = never",
              .source = "PFC storms: Guo et al., SIGCOMM 2016"),
    PARAM_ROW("storm_end", TIME, FIELD(storm_end_ps), .def = "auto", .max = "100000s",
              .can_auto = true, .help = "end of the storm; auto = none"),
};
static const size_t n_fault_params = sizeof fault_params / sizeof *fault_params;

// ---- packets: a list of numbers ----

static uint64_t read_number(struct reader *r, const struct place *item, uint64_t before)
{
    if (!json_is_integer(item->json)) {
        place_error(r->err, item, "must be a whole number, not %s", json_noun(item->json));
        return before;
    }
    json_int_t number = json_integer_value(item->json);
    if (number < 1 || (uint64_t)number <= before) {
        place_error(
            r->err, item,
            "packets are counted from 1 and listed in ascending order; %" JSON_INTEGER_FORMAT
            " follows %" PRIu64,
            number, before);
        return before;
    }
    return (uint64_t)number;
}

static void packets_read(struct reader *r, const struct place *place, void *value)
{
    struct fault_spec *fault = value;
    if (!read_list(r, place))
        return;
    fault->n_packets = json_array_size(place->json);
    fault->packets = memory_zeroed(fault->n_packets, sizeof *fault->packets);
    for (size_t i = 0; i < fault->n_packets; i++) {
        struct place item = place_item(place, i);
        fault->packets[i] = read_number(r, &item, i > 0 ? fault->packets[i - 1] : 0);
    }
}

static json_t *packets_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct fault_spec *fault = value;
    json_t *packets = json_array();
    for (size_t i = 0; i < fault->n_packets; i++)
        json_array_append_new(packets, json_integer((json_int_t)fault->packets[i]));
    return packets;
}

static json_t *packets_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    return schema_list(schema_integer(1));
}

static void packets_keys(const struct object_entry *entry, const char *prefix,
                         const struct key_sink *to)
{
    (void)entry, (void)prefix, (void)to; // its own type describes it
}

static void packets_free(void *value)
{
    struct fault_spec *fault = value;
    free(fault->packets);
}

static const struct object packets_object = {
    .key = "packets",
    .doc = "numbers of data packets whose first transmission is lost, counted as for `every`, "
           "in ascending order",
    .type = "list",
    .def = "none",
    .read = packets_read,
    .write = packets_write,
    .schema = packets_schema,
    .keys = packets_keys,
    .free = packets_free,
};

// ---- blackout ----

static const struct param blackout_params[] = {
    PARAM_ROW("packet", COUNT, FIELD(blackout_packet), .min = "1",
              .help = "the data packet whose arrival begins the blackout, counted as for `every`"),
    PARAM_ROW(
        "for", TIME, FIELD(blackout_ps), .min = "1ps", .max = "100000s",
        .help =
            "everything that reaches the far end of the link in this direction within this time "
            "is lost, that packet and ACKs included"),
};
static const size_t n_blackout_params = sizeof blackout_params / sizeof *blackout_params;

static json_t *blackout_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct fault_spec *fault = value;
    // A fault without a blackout has no key `blackout` in the resolved form.
    return fault->blackout_packet > 0 ? params_json(blackout_params, n_blackout_params, value)
                                      : NULL;
}

static const struct object blackout_object = {
    .key = "blackout",
    .doc = "a time in which everything is lost",
    .params = blackout_params,
    .n_params = &n_blackout_params,
    .write = blackout_write,
};

// ---- flap, rate ----

static const struct param flap_params[] = {
    PARAM_ROW("start", TIME, FIELD(flap_ps), .def = "0ns", .max = "100000s",
              .help = "the link goes down for the first time"),
    PARAM_ROW("period", TIME, FIELD(flap_period_ps), .min = "1ns", .max = "100000s",
              .help = "from one time to the next"),
    PARAM_ROW("down", TIME, FIELD(flap_down_ps), .min = "1ps", .max = "100000s",
              .help = "for how long it is down each time"),
    PARAM_ROW("count", COUNT, FIELD(flap_count), .def = "1", .min = "1", .max = "100000",
              .help = "how often it goes down"),
};
static const size_t n_flap_params = sizeof flap_params / sizeof *flap_params;

static json_t *flap_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct fault_spec *fault = value;
    return fault->flap_period_ps > 0 ? params_json(flap_params, n_flap_params, value) : NULL;
}

static const struct object flap_object = {
    .key = "flap",
    .doc = "the link goes down and comes back, again and again; routes follow after `detect`",
    .params = flap_params,
    .n_params = &n_flap_params,
    .write = flap_write,
};

static const struct param rate_params[] = {
    PARAM_ROW("share", RATIO, FIELD(rate_share), .min = "0.001", .max = "1",
              .help = "of the link's rate that remains: 0.75 with three of four lanes"),
    PARAM_ROW("start", TIME, FIELD(rate_ps), .def = "0ns", .max = "100000s",
              .help = "from the first packet that starts then"),
    PARAM_ROW("end", TIME, FIELD(rate_end_ps), .def = "auto", .max = "100000s", .can_auto = true,
              .help = "the link has all lanes again; auto = never"),
    PARAM_ROW("scale_buffers", BOOL, FIELD(scale_buffers), .def = "false",
              .help = "limits of the queues at its ports (queue_limit, lossy_alpha) and ECN "
                      "thresholds have the same share, as where they follow from the port's rate",
              .source = "uet-htsim: queues of slow links"),
};
static const size_t n_rate_params = sizeof rate_params / sizeof *rate_params;

static json_t *rate_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct fault_spec *fault = value;
    return fault->rate_share > 0 ? params_json(rate_params, n_rate_params, value) : NULL;
}

static const struct object rate_object = {
    .key = "rate",
    .doc = "the link loses lanes; routes go on to use it",
    .params = rate_params,
    .n_params = &n_rate_params,
    .write = rate_write,
};

// ---- the object ----

static void check_times(struct reader *r, const struct place *item, const struct fault_spec *fault)
{
    char down[UNIT_TEXT], up[UNIT_TEXT];
    struct place at = place_key(item, "up");
    // A link that never comes back again needs no check against `down`.
    if (fault->up_ps == PARAM_AUTO_TIME)
        return;
    if (fault->down_ps == PARAM_AUTO_TIME)
        place_error(r->err, &at, "needs `down`: the link does not fail");
    else if (fault->up_ps <= fault->down_ps)
        place_error(r->err, &at, "%s must be later than down %s", format_time(fault->up_ps, up),
                    format_time(fault->down_ps, down));
}

static void check_flap(struct reader *r, const struct place *item, const struct fault_spec *fault)
{
    char down[UNIT_TEXT], other[UNIT_TEXT];
    struct place flap = place_key(item, "flap"), rate = place_key(item, "rate");
    struct place at = place_key(&flap, "down"), end = place_key(&rate, "end");
    // The link would otherwise fail again before it has come back.
    if (fault->flap_period_ps > 0 && fault->flap_down_ps >= fault->flap_period_ps)
        place_error(r->err, &at, "%s must be shorter than period %s",
                    format_time(fault->flap_down_ps, down),
                    format_time(fault->flap_period_ps, other));
    if (fault->flap_period_ps > 0 && fault->down_ps != PARAM_AUTO_TIME)
        place_error(r->err, &flap,
                    "and `down` of the same fault would both move the link: give two faults");
    if (fault->rate_share > 0 && fault->rate_end_ps <= fault->rate_ps)
        place_error(r->err, &end, "%s must be later than start %s",
                    format_time(fault->rate_end_ps, down), format_time(fault->rate_ps, other));
}

static void faults_finish(struct reader *r, const struct place *place, void *value)
{
    (void)value;
    const struct spec *spec = &r->scenario->spec;
    for (size_t i = 0; i < spec->n_faults; i++) {
        struct place item = place_item(place, i);
        // What is not an object has been reported when it was read.
        if (json_is_object(item.json)) {
            check_times(r, &item, &spec->faults[i]);
            check_flap(r, &item, &spec->faults[i]);
        }
    }
}

static const struct object *const fault_parts[] = {&packets_object, &blackout_object, &flap_object,
                                                   &rate_object, NULL};

extern const struct object faults_object;
const struct object faults_object = {
    .key = "faults",
    .doc = "links that lose packets, at random or as listed, fail and come back, flap or lose "
           "lanes, and PFC storms",
    .stage = STAGE_REST,
    .packets_only = true,
    .params = fault_params,
    .n_params = &n_fault_params,
    .item_bytes = sizeof(struct fault_spec),
    .offset = offsetof(struct scenario, spec.faults),
    .count_at = offsetof(struct scenario, spec.n_faults),
    .parts = fault_parts,
    .finish = faults_finish,
};

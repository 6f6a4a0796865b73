// SPDX-License-Identifier: MIT
// `faults`: links that lose packets, and links that fail and are repaired.
#include "config/object.h"
#include "config/read.h"

#define FIELD(name) offsetof(struct fault_spec, name)

static const struct param fault_params[] = {
    {.name = "at",
     .type = PARAM_TEXT,
     .offset = FIELD(at),
     .help = "places: leaf0->spine1, rank3, *->spine0"},
    {.name = "one_way",
     .type = PARAM_BOOL,
     .offset = FIELD(one_way),
     .def = "false",
     .help = "only the directions that `at` names; else both of each link"},
    {.name = "loss",
     .type = PARAM_RATIO,
     .offset = FIELD(loss),
     .def = "0",
     .min = "0",
     .max = "1",
     .help = "probability that a packet is lost on the link"},
    {.name = "corruption",
     .type = PARAM_RATIO,
     .offset = FIELD(corruption),
     .def = "0",
     .min = "0",
     .max = "1",
     .help = "probability that a packet arrives with a bad checksum, and is dropped"},
    {.name = "pfc",
     .type = PARAM_BOOL,
     .offset = FIELD(pfc),
     .def = "false",
     .help = "loss and corruption hit PFC frames too"},
    {.name = "down",
     .type = PARAM_TIME,
     .offset = FIELD(down_ps),
     .def = "auto",
     .max = "100000s",
     .can_auto = true,
     .help = "the link fails; auto = never"},
    {.name = "up",
     .type = PARAM_TIME,
     .offset = FIELD(up_ps),
     .def = "auto",
     .max = "100000s",
     .can_auto = true,
     .help = "the link comes back; auto = never"},
    {.name = "detect",
     .type = PARAM_TIME,
     .offset = FIELD(detect_ps),
     .def = "100us",
     .max = "100000s",
     .can_auto = true,
     .help = "until routes take notice; auto = never",
     .source = "link-down interrupt and local repair; BFD takes ms, routing protocols more"},
    {.name = "storm",
     .type = PARAM_TIME,
     .offset = FIELD(storm_ps),
     .def = "auto",
     .max = "100000s",
     .can_auto = true,
     .help = "the output ports named pause their neighbours from now on; auto = never",
     .source = "PFC storms: Guo et al., SIGCOMM 2016"},
    {.name = "storm_end",
     .type = PARAM_TIME,
     .offset = FIELD(storm_end_ps),
     .def = "auto",
     .max = "100000s",
     .can_auto = true,
     .help = "end of the storm; auto = none"},
};
static const size_t n_fault_params = sizeof fault_params / sizeof *fault_params;

static void check_times(struct reader *r, const struct place *item, const struct fault_spec *fault)
{
    char down[UNIT_TEXT], up[UNIT_TEXT];
    struct place at = place_key(item, "up");
    if (fault->up_ps == PARAM_AUTO_TIME)
        return;
    if (fault->down_ps == PARAM_AUTO_TIME)
        place_error(r->err, &at, "needs `down`: the link does not fail");
    else if (fault->up_ps <= fault->down_ps)
        place_error(r->err, &at, "%s must be later than down %s", format_time(fault->up_ps, up),
                    format_time(fault->down_ps, down));
}

static void faults_finish(struct reader *r, const struct place *place, void *value)
{
    (void)value;
    const struct spec *spec = &r->scenario->spec;
    for (size_t i = 0; i < spec->n_faults; i++) {
        struct place item = place_item(place, i);
        if (json_is_object(item.json))
            check_times(r, &item, &spec->faults[i]);
    }
}

extern const struct object faults_object;
const struct object faults_object = {
    .key = "faults",
    .doc = "links that lose packets, fail and come back, and PFC storms",
    .stage = STAGE_REST,
    .packets_only = true,
    .params = fault_params,
    .n_params = &n_fault_params,
    .item_bytes = sizeof(struct fault_spec),
    .offset = offsetof(struct scenario, spec.faults),
    .count_at = offsetof(struct scenario, spec.n_faults),
    .finish = faults_finish,
};

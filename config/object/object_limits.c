// SPDX-License-Identifier: MIT
// `limits`: conditions that end a run before all jobs have ended.
#include "config/object/scenario_parts.h"
#include "engine/text/object.h"
#include "engine/text/read.h"

#define STALL_PS (100 * PS_PER_MS)
#define FIELD(name) offsetof(struct limits_params, name)

static const struct param limits_params[] = {
    PARAM_ROW("sim_time", TIME, FIELD(sim_time_ps), .def = "auto", .min = "1ns", .max = "100000s",
              .can_auto = true, .help = "simulated time allowed; auto = no limit"),
    PARAM_ROW("wall", TIME, FIELD(wall_ps), .def = "auto", .min = "1ms", .max = "1000000s",
              .can_auto = true, .help = "real time allowed; auto = no limit"),
    PARAM_ROW("events", COUNT, FIELD(events), .def = "auto", .min = "1", .can_auto = true,
              .help = "events of the model allowed: arrivals, pauses, timers; auto = no limit"),
    PARAM_ROW("memory", BYTES, FIELD(memory_bytes), .def = "auto", .min = "1MB", .can_auto = true,
              .help = "memory allowed: a run that needs more is refused; auto = 80 % of what is "
                      "available"),
    {.name = "stall",
     .type = PARAM_TIME,
     .offset = FIELD(stall_ps),
     .def = "100ms", // STALL_PS
     .min = "1us",
     .max = "100000s",
     .help = "simulated time allowed without a newly delivered byte"},
};
static const size_t n_limits_params = sizeof limits_params / sizeof *limits_params;

static void limits_finish(struct reader *r, const struct place *place, void *value)
{
    const struct limits_params *limits = value;
    struct place stall = place_key(place, "stall");
    // An armed retransmission timer is no stall, so the default fits every timeout; a limit that
    // the user chooses shows how long a wait may be.
    if (stall.json != NULL && limits->stall_ps != STALL_PS)
        fit_stall_check(r, &stall, limits->stall_ps);
    r->scenario->spec.limits = (struct limits_spec){
        .sim_time_ps = limits->sim_time_ps,
        .stall_ps = limits->stall_ps,
        .wall_s = limits->wall_ps == PARAM_AUTO_TIME ? 0 : (double)limits->wall_ps / PS_PER_S,
        .events = limits->events == PARAM_AUTO ? 0 : limits->events,
        .memory_bytes = limits->memory_bytes == PARAM_AUTO ? 0 : limits->memory_bytes,
    };
}

extern const struct object limits_object;
const struct object limits_object = {
    .key = "limits",
    .doc = "what ends a run before its work is done",
    .stage = STAGE_REST,
    .params = limits_params,
    .n_params = &n_limits_params,
    .offset = offsetof(struct scenario, limits),
    .finish = limits_finish,
};

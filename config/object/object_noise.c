// SPDX-License-Identifier: MIT
// `noise`: what makes the ranks of a real cluster differ from each other.
//
// Sources of the presets, all estimates from measurements of parts: the manual of the sysjitter
// tool has the output of an idle server (about 1000 interruptions a second of 1.4 us, one in ten
// thousand of 30 to 180 us), so a step of some 10 us meets one now and then; processes of balanced
// programs arrive at a collective spread by more than a small message takes (Faraj, Patarasuk and
// Yuan, 2008); oscillators of Ethernet may be 100 ppm off (IEEE 802.3), and are mostly within a
// half of it.
#include "config/object/scenario_parts.h"
#include "engine/text/object.h"
#include "engine/text/read.h"
#include "transport/transport.h"

#define FIELD(name) offsetof(struct noise_spec, name)

static const char *const presets[] = {"auto", "none", "lab", "cluster", NULL};
static const char *const shapes[] = {"constant", "uniform", "exponential", "log_normal", NULL};

static const struct noise_spec values[] = {
    [NOISE_AUTO] = {.preset = NOISE_AUTO, .step = {0, NOISE_EXPONENTIAL}},
    [NOISE_NONE] = {.preset = NOISE_NONE, .step = {0, NOISE_EXPONENTIAL}},
    [NOISE_LAB] = {.preset = NOISE_LAB,
                   .start_ps = 5 * PS_PER_US,
                   .step = {200 * PS_PER_NS, NOISE_EXPONENTIAL},
                   .clock_ppm = 20},
    [NOISE_CLUSTER] = {.preset = NOISE_CLUSTER,
                       .start_ps = 50 * PS_PER_US,
                       .step = {1 * PS_PER_US, NOISE_LOG_NORMAL},
                       .clock_ppm = 50},
};

static const struct param noise_params[] = {
    PARAM_ROW("preset", ENUM, FIELD(preset), .def = "auto", .choices = presets,
              .help = "none: ranks move in lockstep; lab: quiet servers after a barrier; "
                      "cluster: servers in production; auto: the starts of cluster where ranks "
                      "that wait for each other use TCP, else none. Keys that are given replace "
                      "the preset's",
              .source = "estimates: see the sources in docs/noise.md"),
    PARAM_ROW("start", TIME, FIELD(start_ps), .def = "0ns", .max = "100s",
              .help =
                  "each rank starts late by a random time, at most this; transport.start_jitter "
                  "replaces it",
              .source = "Faraj, Patarasuk and Yuan, 2008: process arrival patterns"),
    PARAM_ROW("clock_ppm", RATIO, FIELD(clock_ppm), .def = "0", .min = "0", .max = "1000",
              .help = "each NIC's line rate deviates by a random share, at most this up or down; "
                      "transport.clock_ppm replaces it",
              .source = "IEEE 802.3: 100 ppm"),
};
static const size_t n_noise_params = sizeof noise_params / sizeof *noise_params;

static const struct param step_params[] = {
    PARAM_ROW("mean", TIME, FIELD(step.mean_ps), .def = "0ns", .max = "1s",
              .help = "mean delay before each step of a rank in a collective, and of each "
                      "computation; 0ns = none"),
    PARAM_ROW("distribution", ENUM, FIELD(step.shape), .def = "exponential", .choices = shapes,
              .help = "constant; uniform from 0 to two means; exponential; log_normal with "
                      "sigma 1"),
};
static const size_t n_step_params = sizeof step_params / sizeof *step_params;

static const struct param noise_link_params[] = {
    PARAM_ROW("delay", TIME, FIELD(link_delay_ps), .def = "0ns", .max = "1s",
              .help = "each link has a random delay more, the same in both directions, at most "
                      "this"),
};
static const size_t n_noise_link_params = sizeof noise_link_params / sizeof *noise_link_params;

static const struct object step_object = {
    .key = "step",
    .doc = "delays of hosts",
    .params = step_params,
    .n_params = &n_step_params,
};
static const struct object link_object = {
    .key = "link",
    .doc = "differences of links",
    .params = noise_link_params,
    .n_params = &n_noise_link_params,
};
static const struct object *const parts[] = {&step_object, &link_object, NULL};

// True where ranks that wait for each other send through the network stack of their host: losses
// then repeat by who starts first. With starts in lockstep 22 of 43 measured ends of collectives
// (tests/data/mpi-tcp) are met within 5 % or the measured range, with those of cluster 31.
static bool starts_differ(const struct spec *spec)
{
    bool differ = false;
    for (size_t j = 0; j < spec->n_jobs; j++) {
        const struct job_spec *job = &spec->jobs[j];
        bool waits = job->kind != NULL && !job->kind->raw;
        for (uint32_t d = 0; waits && d < spec->n_dims; d++)
            differ |= job->transport < spec->dims[d].n_stacks &&
                      spec->dims[d].stacks[job->transport].transport.ops->by_host;
    }
    return differ && spec_has_noise(spec);
}

static void finish(struct reader *r, const struct place *place, void *value)
{
    struct noise_spec *noise = value;
    const struct noise_spec *preset = &values[noise->preset];
    struct place step = place_key(place, "step");
    if (place_key(place, "start").json == NULL)
        noise->start_ps = noise->preset == NOISE_AUTO && starts_differ(&r->scenario->spec)
                              ? values[NOISE_CLUSTER].start_ps
                              : preset->start_ps;
    if (place_key(place, "clock_ppm").json == NULL)
        noise->clock_ppm = preset->clock_ppm;
    if (step.json == NULL || place_key(&step, "mean").json == NULL)
        noise->step.mean_ps = preset->step.mean_ps;
    if (step.json == NULL || place_key(&step, "distribution").json == NULL)
        noise->step.shape = preset->step.shape;
}

extern const struct object noise_object;
const struct object noise_object = {
    .key = "noise",
    .doc = "differences of hosts and links, drawn by the seed: they act on collectives, "
           "training, programs and the start of raw flows over packets",
    .stage = STAGE_REST,
    .params = noise_params,
    .n_params = &n_noise_params,
    .parts = parts,
    .offset = offsetof(struct scenario, spec.noise),
    .finish = finish,
};

// SPDX-License-Identifier: MIT
// Training loops in time: every rank computes, issues collectives and waits; each step takes 1 ns
// more.
#include "workload/training/training_job.h"

#include <stdlib.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "workload/gpu_memory/optimizer.h"
#include "workload/training/training_memory.h"
#include "workload/workload.h"

#define NO_SLOT UINT32_MAX // step id of compute steps and of the step to the next part
#define RNG_RANK_BITS 17   // bits of the rank in the name of a random stream, below the job

struct training_rank {
    struct training_walk walk;
    uint32_t waiting; // the slot the rank waits for, or NO_SLOT
    uint32_t open;    // number of open collectives
    ps_t waits_since_ps;
    double compute_factor; // multiplies its compute times
    struct rng rng;        // for the jitter of its compute times
    bool ended;            // its loop has ended
};

static uint16_t *open_of(struct training_job *t, uint32_t rank, uint32_t slot)
{
    return &t->open[(size_t)rank * t->n_slots + slot];
}

static bool slot_exchanges(const struct training_job *t, uint32_t slot)
{
    return t->spec->layers[slot / TRAINING_PARTS].parts[slot % TRAINING_PARTS].op != TRAINING_NO_OP;
}

static void note(struct training_job *t, uint32_t rank, enum slice_kind kind, uint32_t slot,
                 ps_t begin, ps_t end)
{
    if (!timeline_wants(&t->timeline, rank))
        return;
    struct timeline_slice slice = {.begin_ps = begin,
                                   .end_ps = end,
                                   .layer = t->spec->layers[slot / TRAINING_PARTS].name,
                                   .rank = rank,
                                   .kind = (uint8_t)kind,
                                   .part = (uint8_t)(slot % TRAINING_PARTS)};
    timeline_add(t->job->workload->engine, &t->timeline, &slice);
}

// Compute time of a part of a layer in this pass.
static ps_t compute(struct training_job *t, uint32_t rank, uint32_t slot, ps_t now)
{
    struct training_rank *r = &t->ranks[rank];
    double jitter = t->settings->params.compute_jitter, factor = r->compute_factor;
    ps_t takes = t->slots[slot].compute_ps;
    if (jitter > 0)
        factor *= 1 + jitter * (2 * rng_unit(&r->rng) - 1);
    if (factor < 1 || factor > 1)
        takes = (ps_t)((double)takes * factor + 0.5);
    t->rank_compute_ps[rank] += takes;
    t->slots[slot].computed_ps += takes;
    note(t, rank, SLICE_COMPUTE, slot, now, now + takes);
    return takes;
}

// Several threads process the ranks' events in no order of time, so an end is the largest one.
static void set_end(ps_t *end_ps, ps_t now)
{
    *end_ps = *end_ps == PS_NEVER ? now : ps_longer(*end_ps, now);
}

static void end_if_done(struct training_job *t, uint32_t rank, ps_t now)
{
    if (!t->ranks[rank].ended || t->ranks[rank].open > 0)
        return;
    t->rank_end_ps[rank] = now;
    set_end(&t->end_ps, now);
    set_end(&t->pass_end_ps[t->passes - 1], now);
}

uint64_t training_passes_ended(const struct training_job *t)
{
    uint64_t least = t->passes;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        uint64_t ended = t->ranks[r].walk.pass;
        ended -= ended == t->passes && t->rank_end_ps[r] == PS_NEVER;
        least = ended < least ? ended : least;
    }
    return least;
}

static enum program_state take_time(struct step *step, enum step_kind kind, uint32_t label,
                                    ps_t takes_ps)
{
    step->kind = kind;
    step->id = NO_SLOT;
    step->blocks = true;
    step->takes_ps = takes_ps;
    step->label = label;
    return PROGRAM_STEP;
}

static enum program_state issue(struct training_job *t, uint32_t rank, uint32_t slot, bool urgent,
                                struct step *step)
{
    t->requests[slot].priority = urgent;
    t->ranks[rank].open++;
    (*open_of(t, rank, slot))++;
    step->kind = STEP_COLLECTIVE;
    step->id = slot;
    step->group = t->group;
    step->request = &t->requests[slot];
    return PROGRAM_STEP;
}

// A forward pass that is computed again belongs to the backward step that needs it.
static void note_step_end(struct training_job *t, const struct loop_action *action, ps_t end)
{
    ps_t *at = &t->step_end_ps[training_memory_step(t->spec, action->layer, action->part)];
    if (action->part != TRAINING_FWD || *at == PS_NEVER)
        *at = end;
}

// The loop's next action that takes time or sends messages.
static enum program_state training_next_step(void *self, uint32_t rank, ps_t now, struct step *step)
{
    struct training_job *t = self;
    struct training_rank *r = &t->ranks[rank];
    while (!r->ended && r->waiting == NO_SLOT) {
        uint64_t pass = r->walk.pass;
        enum program_state input = t->input.spec != NULL
                                       ? training_input_next(&t->input, rank, pass, now, step)
                                       : PROGRAM_END;
        if (input != PROGRAM_END)
            return input;
        struct loop_action action = training_next(t->spec, t->passes, &r->walk);
        uint32_t slot = action.layer * TRAINING_PARTS + action.part;
        if (r->walk.pass > pass)
            set_end(&t->pass_end_ps[pass], now);
        *step = (struct step){.iteration = (uint32_t)pass + 1};
        switch (action.verb) {
        case LOOP_COMPUTE:; // may take 0 time
            ps_t takes = compute(t, rank, slot, now);
            if (rank == 0 && pass == 0)
                note_step_end(t, &action, now + takes);
            if (takes > 0)
                return take_time(step, STEP_COMPUTE, slot + 1, takes);
            break;
        case LOOP_ISSUE:
            if (slot_exchanges(t, slot))
                return issue(t, rank, slot, action.urgent, step);
            break;
        case LOOP_WAIT:
            r->waiting = *open_of(t, rank, slot) > 0 ? slot : NO_SLOT;
            r->waits_since_ps = now;
            break;
        case LOOP_STEP:
            return take_time(step, STEP_DELAY, 0, PS_PER_NS);
        case LOOP_END:
            r->ended = true;
            r->waits_since_ps = now;
            end_if_done(t, rank, now);
            break;
        }
    }
    return r->ended ? PROGRAM_END : PROGRAM_WAIT;
}

/* ---- collectives that have ended ---- */

// Account for a rank's wait. After the last pass each collective counts from the end of the
// previous one.
static void waited(struct training_job *t, uint32_t rank, uint32_t slot, ps_t now)
{
    struct training_rank *r = &t->ranks[rank];
    t->slots[slot].exposed_ps += now - r->waits_since_ps;
    note(t, rank, SLICE_WAIT, slot, r->waits_since_ps, now);
    r->waits_since_ps = now;
}

static void training_step_done(void *self, uint32_t rank, uint32_t id, ps_t now)
{
    struct training_job *t = self;
    struct training_rank *r = &t->ranks[rank];
    if (id == TRAINING_INPUT_ID)
        training_input_done(&t->input, rank);
    if (id == NO_SLOT || id == TRAINING_INPUT_ID)
        return;
    r->open--;
    bool awaited = --*open_of(t, rank, id) == 0 && r->waiting == id;
    if (awaited || r->ended)
        waited(t, rank, id, now);
    if (awaited)
        r->waiting = NO_SLOT;
    end_if_done(t, rank, now);
}

// The loop continues after a collective's end plus the layer's update delay.
static ps_t training_completion_delay_ps(const void *self, uint32_t rank, uint32_t id)
{
    const struct training_job *t = self;
    (void)rank;
    return (ps_t)t->spec->layers[id / TRAINING_PARTS].update_delay_ns * PS_PER_NS;
}

/* ---- the job ---- */

// Scale in single precision and truncate, as ASTRA-sim does, even if the factor is 1.
static uint64_t scaled(uint64_t value, double scale)
{
    return (uint64_t)((float)value * (float)scale);
}

// Bytes are changed only if the factor is not 1.
static uint64_t scaled_bytes(uint64_t bytes, double scale)
{
    return scale < 1 || scale > 1 ? scaled(bytes, scale) : bytes;
}

ps_t training_compute_ps(const struct training_settings *s, uint32_t slot)
{
    const struct training_step *step =
        &s->training.layers[slot / TRAINING_PARTS].parts[slot % TRAINING_PARTS];
    return (ps_t)scaled(step->compute_ns, s->params.compute_scale) * PS_PER_NS;
}

uint64_t *training_rank_bytes(const struct training_settings *s, uint32_t slot)
{
    const struct training_step *step =
        &s->training.layers[slot / TRAINING_PARTS].parts[slot % TRAINING_PARTS];
    if (step->rank_bytes == NULL)
        return NULL;
    uint64_t *all = memory_zeroed(step->n_rank_bytes, sizeof *all);
    for (size_t r = 0; r < step->n_rank_bytes; r++)
        all[r] = scaled_bytes(step->rank_bytes[r], s->params.comm_scale);
    return all;
}

struct comm_request training_request(const struct training_settings *s, uint32_t slot)
{
    uint32_t layer = slot / TRAINING_PARTS, part = slot % TRAINING_PARTS;
    const struct training_step *step = &s->training.layers[layer].parts[part];
    uint32_t dims = training_dims(&s->training, layer, (enum training_part)part, &s->schedule);
    uint64_t bytes = scaled_bytes(step->bytes, s->params.comm_scale);
    return (struct comm_request){
        .op = (enum coll_op)step->op,
        .bytes = bytes * training_copies(&s->training, step, coll_span(&s->schedule, dims)),
        .dims = dims,
        .label = slot + 1,
        .name = s->training.layers[layer].name};
}

static void fill_slot(struct training_job *t, uint32_t slot)
{
    uint32_t layer = slot / TRAINING_PARTS, part = slot % TRAINING_PARTS;
    const struct training_step *step = &t->spec->layers[layer].parts[part];
    t->slots[slot].compute_ps = training_compute_ps(t->settings, slot);
    if (step->op == TRAINING_NO_OP)
        return;
    t->requests[slot] = training_request(t->settings, slot);
    if (step->rank_bytes) {
        t->uneven[slot] =
            (struct coll_uneven){training_rank_bytes(t->settings, slot), step->of_receiver};
        t->requests[slot].uneven = &t->uneven[slot];
    }
}

static void init_ranks(struct training_job *t)
{
    const struct training_settings *s = t->settings;
    t->ranks = memory_zeroed(t->n_ranks, sizeof *t->ranks);
    for (uint32_t i = 0; i < t->n_ranks; i++) {
        struct training_rank *r = &t->ranks[i];
        r->waiting = NO_SLOT;
        r->compute_factor = 1;
        r->rng = rng_init(t->job->workload->engine->seed, RNG_COMPUTE,
                          t->job->index << RNG_RANK_BITS | i);
        t->rank_end_ps[i] = PS_NEVER;
    }
    for (size_t i = 0; i < s->n_stragglers; i++)
        t->ranks[s->stragglers[i].rank].compute_factor = s->stragglers[i].factor;
}

static void *training_new(struct job_run *job)
{
    const struct training_settings *s = job->spec->settings;
    uint32_t queues[COLL_MAX_DIMS + 1];
    struct training_job *t = memory_zeroed(1, sizeof *t);
    t->job = job;
    t->settings = s;
    t->spec = &s->training;
    t->passes = s->params.iterations;
    job->contention = s->params.contention;
    t->n_ranks = job->n_ranks;
    t->n_slots = (uint32_t)t->spec->n_layers * TRAINING_PARTS;
    t->slots = memory_zeroed(t->n_slots, sizeof *t->slots);
    t->requests = memory_zeroed(t->n_slots, sizeof *t->requests);
    t->uneven = memory_zeroed(t->n_slots, sizeof *t->uneven);
    for (uint32_t slot = 0; slot < t->n_slots; slot++)
        fill_slot(t, slot);
    t->group = job_group_new(job, NULL, &s->schedule);
    t->comm = job_group_comm(job, t->group);
    t->timeline.n_ranks = job->workload->timeline_ranks;
    for (uint32_t d = 0; d <= s->schedule.n_dims; d++)
        queues[d] = coll_n_groups(&s->schedule, d);
    dim_use_init(&t->use, s->schedule.n_dims + 1, queues);
    comm_watch(t->comm, &t->timeline, &t->use);
    t->open = memory_zeroed((size_t)t->n_ranks * t->n_slots, sizeof *t->open);
    t->pass_end_ps = memory_zeroed(t->passes, sizeof *t->pass_end_ps);
    for (uint64_t p = 0; p < t->passes; p++)
        t->pass_end_ps[p] = PS_NEVER;
    t->step_end_ps = memory_zeroed(2 * t->spec->n_layers, sizeof *t->step_end_ps);
    for (size_t i = 0; i < 2 * t->spec->n_layers; i++)
        t->step_end_ps[i] = PS_NEVER;
    t->end_ps = PS_NEVER;
    t->rank_compute_ps = memory_zeroed(t->n_ranks, sizeof *t->rank_compute_ps);
    t->rank_end_ps = memory_zeroed(t->n_ranks, sizeof *t->rank_end_ps);
    init_ranks(t);
    if (s->input.p.from != NULL && s->input.p.from[0] != '\0') {
        training_input_init(&t->input, &s->input, t->n_ranks, t->passes);
        job_tiers(job, &s->input.tiers);
    }
    return t;
}

static void training_job_free(void *self)
{
    struct training_job *t = self;
    free(t->timeline.slices);
    dim_use_free(&t->use);
    free(t->slots);
    free(t->requests);
    for (uint32_t slot = 0; slot < t->n_slots; slot++)
        free((void *)(uintptr_t)t->uneven[slot].bytes);
    free(t->uneven);
    free(t->open);
    free(t->pass_end_ps);
    free(t->step_end_ps);
    free(t->rank_compute_ps);
    free(t->rank_end_ps);
    free(t->ranks);
    training_input_free(&t->input);
    free(t);
}

static uint64_t input_message_bytes(const struct training_job *t)
{
    const struct input_spec *s = t->input.spec;
    if (s == NULL)
        return 0;
    return t->passes * t->n_ranks *
           tier_message_bytes(&s->tiers.items[s->tier], &s->tiers.items[0],
                              s->p.samples * s->p.sample_bytes);
}

// Sum over all collectives issued in a pass, found by running the loop without time; all passes are
// equal.
static uint64_t training_bytes(const void *self)
{
    const struct training_job *t = self;
    struct training_walk walk = {0};
    uint64_t *once = memory_zeroed(t->n_slots, sizeof *once), sum = 0;
    bool *known = memory_zeroed(t->n_slots, sizeof *known);
    struct loop_action action;
    while ((action = training_next(t->spec, 1, &walk)).verb != LOOP_END) {
        uint32_t slot = action.layer * TRAINING_PARTS + action.part;
        if (action.verb != LOOP_ISSUE ||
            t->spec->layers[action.layer].parts[action.part].op == TRAINING_NO_OP)
            continue;
        if (!known[slot])
            once[slot] = comm_bytes(t->comm, &t->requests[slot]);
        known[slot] = true;
        sum += once[slot];
    }
    free(once);
    free(known);
    return sum * t->passes + input_message_bytes(t);
}

static uint32_t training_awaits(const void *self, uint32_t rank)
{
    return ((const struct training_job *)self)->ranks[rank].waiting;
}

static const struct program_ops training_program = {
    .next = training_next_step,
    .done = training_step_done,
    .completion_delay_ps = training_completion_delay_ps,
    .bytes = training_bytes,
    .awaits = training_awaits,
    .free = training_job_free,
};

static void training_settings_free(void *settings)
{
    struct training_settings *s = settings;
    training_free(&s->training);
    memory_need_free(&s->memory);
    tier_set_free(&s->input.tiers);
    free(s->stragglers);
}

static const struct memory_need *memory_of(const struct job_spec *job)
{
    const struct training_settings *s = job->settings;
    return s->memory.n_classes > 0 ? &s->memory : NULL;
}

static char *lever_of(const struct job_spec *job, uint64_t free_bytes)
{
    (void)free_bytes;
    return training_memory_lever(job->settings);
}

/* ---- the kind ---- */

static const struct param training_params[] = {
    PARAM_ROW("file", TEXT, offsetof(struct training_params, file), .def = "",
              .help = "text workload of ASTRA-sim instead of `parallelism` and `layers`"),
    PARAM_ROW("iterations", COUNT, offsetof(struct training_params, iterations), .def = "1",
              .min = "1", .max = "100000", .help = "passes over the training loop"),
    PARAM_ROW("compute_scale", RATIO, offsetof(struct training_params, compute_scale), .def = "1",
              .min = "0", .max = "1000000",
              .help = "factor on all compute times, in single precision",
              .source = "ASTRA-sim 1.0"),
    PARAM_ROW("comm_scale", RATIO, offsetof(struct training_params, comm_scale), .def = "1",
              .min = "0", .max = "1000000",
              .help = "factor on the bytes of all collectives, in single precision",
              .source = "ASTRA-sim 1.0"),
    PARAM_ROW("compute_jitter", RATIO, offsetof(struct training_params, compute_jitter), .def = "0",
              .min = "0", .max = "1",
              .help = "every compute time takes a factor of its own, even in 1 - jitter .. 1 + "
                      "jitter"),
    PARAM_ROW("optimizer", ENUM, offsetof(struct training_params, optimizer), .def = "adam",
              .choices = optimizer_names,
              .help = "what is kept for a weight: two moments, two of one byte, one moment, or "
                      "none; and a master copy of 4 bytes of smaller ones. It takes memory, and no "
                      "time beside that of the layers",
              .source = "Rajbhandari et al., 2020; Dettmers et al., 2022"),
    PARAM_ROW("parameter_bytes", COUNT, offsetof(struct training_params, parameter_bytes),
              .def = "2", .min = "1", .max = "8",
              .help = "bytes of a weight and its gradient; of a DLRM its `element`"),
    PARAM_ROW("state_bytes", COUNT, offsetof(struct training_params, state_bytes), .def = "auto",
              .max = "1000", .can_auto = true,
              .help = "what the optimizer keeps by weight; auto = of the optimizer"),
    CONTENTION_ROWS(struct training_params, contention),
    MAPPING_ROWS(struct training_params, mapping),
};

const struct job_kind training_kind = {
    .name = "training",
    .doc = "the training loop of a network's layers over all ranks",
    .source = "ASTRA-sim 1.0 (Rashidi et al., ISPASS 2020)",
    .params = training_params,
    .n_params = sizeof training_params / sizeof *training_params,
    .settings_bytes = sizeof(struct training_settings),
    .free_settings = training_settings_free,
    .program = &training_program,
    .new = training_new,
    .traffic = training_traffic,
    .collectives = training_collectives,
    .memory = memory_of,
    .memory_lever = lever_of,
    .trains = true,
};

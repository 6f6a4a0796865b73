// SPDX-License-Identifier: MIT
// Training loops in time: every rank computes, issues, waits, and takes 1 ns from step to step. A
// collective that has ended is known to the loop after the layer's update delay.
#include "workload/training_job.h"

#include <stdlib.h>

#include "collective/grid.h"
#include "engine/memory.h"
#include "engine/rng.h"
#include "workload/workload.h"

#define NO_SLOT UINT32_MAX
#define UPDATES_BLOCK 256
#define RNG_RANK_BITS 17 // of a stream's name, below the job

struct training_rank {
    struct sim_timer timer; // computing, or the step
    struct training_job *job;
    uint32_t rank;
    struct training_walk walk;
    uint32_t waiting; // slot, or NO_SLOT
    ps_t waits_since_ps;
    uint32_t open;   // collectives on their way
    double slowness; // factor on its compute times
    struct rng rng;  // of their jitter
    bool ended;      // its loop
};

// A collective of a rank that has ended and is not told of yet.
struct training_update {
    struct sim_timer timer;
    struct training_rank *rank;
    uint32_t slot;
    struct training_update *next_free;
};

static void rank_goes_on(struct training_rank *r, ps_t now);

static void timer_start(struct training_job *t, struct sim_timer *timer, ps_t at)
{
    t->job->workload->starts_pending++;
    sim_timer_start(t->job->workload->engine, timer, at);
}

static void on_rank_timer(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct training_rank *r = timer->data;
    r->job->job->workload->starts_pending--;
    rank_goes_on(r, e->now_ps);
}

static uint16_t *open_of(struct training_rank *r, uint32_t slot)
{
    return &r->job->open[(size_t)r->rank * r->job->n_slots + slot];
}

static void issue(struct training_rank *r, uint32_t slot, bool urgent, ps_t now)
{
    struct training_job *t = r->job;
    const struct training_layer *layer = &t->spec->layers[slot / TRAINING_PARTS];
    if (layer->parts[slot % TRAINING_PARTS].op == TRAINING_NO_OP)
        return;
    t->requests[slot].urgent = urgent;
    r->open++;
    (*open_of(r, slot))++;
    if (comm_issue(t->comm, r->rank, &t->requests[slot], slot, now))
        return;
    r->open--;
    (*open_of(r, slot))--;
}

static void note(struct training_rank *r, enum slice_kind kind, uint32_t slot, ps_t begin, ps_t end)
{
    struct training_job *t = r->job;
    if (!timeline_wants(&t->timeline, r->rank))
        return;
    struct timeline_slice slice = {.begin_ps = begin,
                                   .end_ps = end,
                                   .layer = t->spec->layers[slot / TRAINING_PARTS].name,
                                   .rank = r->rank,
                                   .kind = (uint8_t)kind,
                                   .part = (uint8_t)(slot % TRAINING_PARTS)};
    timeline_add(&t->timeline, &slice);
}

// How long a part of a layer takes this time.
static ps_t compute(struct training_rank *r, uint32_t slot, ps_t now)
{
    struct training_job *t = r->job;
    double jitter = t->job->spec->compute_jitter, factor = r->slowness;
    ps_t takes = t->slots[slot].compute_ps;
    if (jitter > 0)
        factor *= 1 + jitter * (2 * rng_unit(&r->rng) - 1);
    if (factor < 1 || factor > 1)
        takes = (ps_t)((double)takes * factor + 0.5);
    t->rank_compute_ps[r->rank] += takes;
    t->slots[slot].computed_ps += (double)takes;
    note(r, SLICE_COMPUTE, slot, now, now + takes);
    return takes;
}

static void end_if_done(struct training_rank *r, ps_t now)
{
    struct training_job *t = r->job;
    if (!r->ended || r->open > 0)
        return;
    t->rank_end_ps[r->rank] = t->end_ps = t->pass_end_ps[t->passes - 1] = now;
    workload_unit_ended(t->job->workload, t->job);
}

// Acts until it has to wait for something.
static void rank_goes_on(struct training_rank *r, ps_t now)
{
    struct training_job *t = r->job;
    for (ps_t takes;;) {
        uint64_t pass = r->walk.pass;
        struct loop_action action = training_next(t->spec, t->passes, &r->walk);
        uint32_t slot = action.layer * TRAINING_PARTS + action.part;
        if (r->walk.pass > pass)
            t->pass_end_ps[pass] = now;
        switch (action.verb) {
        case LOOP_COMPUTE:
            takes = compute(r, slot, now);
            if (takes == 0)
                break;
            timer_start(t, &r->timer, now + takes);
            return;
        case LOOP_ISSUE:
            issue(r, slot, action.urgent, now);
            break;
        case LOOP_WAIT:
            if (*open_of(r, slot) == 0)
                break;
            r->waiting = slot;
            r->waits_since_ps = now;
            return;
        case LOOP_STEP:
            timer_start(t, &r->timer, now + PS_PER_NS);
            return;
        case LOOP_END:
            r->ended = true;
            r->waits_since_ps = now;
            end_if_done(r, now);
            return;
        }
    }
}

/* ---- collectives that have ended ---- */

// A rank has waited for it; behind the last pass each collective counts from the end of the one before.
static void waited(struct training_rank *r, uint32_t slot, ps_t now)
{
    r->job->slots[slot].exposed_ps += (double)(now - r->waits_since_ps);
    note(r, SLICE_WAIT, slot, r->waits_since_ps, now);
    r->waits_since_ps = now;
}

static void on_update(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct training_update *u = timer->data;
    struct training_rank *r = u->rank;
    struct training_job *t = r->job;
    uint32_t slot = u->slot;
    t->job->workload->starts_pending--;
    sim_timer_end(e, timer);
    u->next_free = t->updates;
    t->updates = u;
    r->open--;
    bool awaited = --*open_of(r, slot) == 0 && r->waiting == slot;
    if (awaited || r->ended)
        waited(r, slot, e->now_ps);
    r->waiting = awaited ? NO_SLOT : r->waiting;
    if (awaited)
        rank_goes_on(r, e->now_ps);
    else
        end_if_done(r, e->now_ps);
}

static struct training_update *update_take(struct training_job *t)
{
    if (t->updates == NULL) {
        struct training_update *block = memory_zeroed(UPDATES_BLOCK, sizeof *block);
        t->blocks = memory_resize(t->blocks, t->n_blocks + 1, sizeof *t->blocks);
        t->blocks[t->n_blocks++] = block;
        for (uint32_t i = 0; i < UPDATES_BLOCK; i++) {
            block[i].next_free = t->updates;
            t->updates = &block[i];
        }
    }
    struct training_update *u = t->updates;
    t->updates = u->next_free;
    return u;
}

static void on_done(void *ctx, uint32_t rank, uint32_t slot, ps_t now)
{
    struct training_job *t = ctx;
    struct training_update *u = update_take(t);
    u->rank = &t->ranks[rank];
    u->slot = slot;
    const struct training_layer *layer = &t->spec->layers[u->slot / TRAINING_PARTS];
    sim_timer_init(t->job->workload->engine, &u->timer, job_rank(t->job->spec, rank), on_update, u);
    timer_start(t, &u->timer, now + (ps_t)layer->update_delay_ns * PS_PER_NS);
}

/* ---- the runner ---- */

// In single precision, truncated, as the original does, also by 1.
static uint64_t scaled(uint64_t value, double scale)
{
    return (uint64_t)((float)value * (float)scale);
}

// Bytes are only touched where they are to be.
static uint64_t scaled_bytes(uint64_t bytes, double scale)
{
    return scale < 1 || scale > 1 ? scaled(bytes, scale) : bytes;
}

static void fill_slot(struct training_job *t, uint32_t slot)
{
    const struct job_spec *spec = t->job->spec;
    const struct coll_schedule *s = spec->schedule;
    uint32_t layer = slot / TRAINING_PARTS, part = slot % TRAINING_PARTS;
    const struct training_step *step = &t->spec->layers[layer].parts[part];
    uint32_t dims = training_dims(t->spec, layer, (enum training_part)part, s);
    t->slots[slot].compute_ps = (ps_t)scaled(step->compute_ns, spec->compute_scale) * PS_PER_NS;
    if (step->op == TRAINING_NO_OP)
        return;
    uint64_t bytes = scaled_bytes(step->bytes, spec->comm_scale);
    t->requests[slot] = (struct comm_request){
        .op = (enum coll_op)step->op,
        .bytes = bytes * (step->op == COLL_ALL_GATHER ? coll_span(s, dims) : 1),
        .dims = dims,
        .name = t->spec->layers[layer].name};
    if (step->rank_bytes) {
        uint64_t *all = memory_zeroed(step->n_rank_bytes, sizeof *all);
        for (size_t r = 0; r < step->n_rank_bytes; r++)
            all[r] = scaled_bytes(step->rank_bytes[r], spec->comm_scale);
        t->uneven[slot] = (struct coll_uneven){all, step->of_receiver};
        t->requests[slot].uneven = &t->uneven[slot];
    }
}

static void init_ranks(struct training_job *t)
{
    const struct job_spec *spec = t->job->spec;
    struct engine *e = t->job->workload->engine;
    t->ranks = memory_zeroed(t->n_ranks, sizeof *t->ranks);
    for (uint32_t i = 0; i < t->n_ranks; i++) {
        struct training_rank *r = &t->ranks[i];
        r->job = t;
        r->rank = i;
        r->waiting = NO_SLOT;
        r->slowness = 1;
        r->rng = rng_init(e->seed, RNG_COMPUTE, t->job->index << RNG_RANK_BITS | i);
        t->rank_end_ps[i] = PS_NEVER;
        sim_timer_init(e, &r->timer, job_rank(spec, i), on_rank_timer, r);
    }
    for (size_t i = 0; i < spec->n_stragglers; i++)
        t->ranks[spec->stragglers[i].rank].slowness = spec->stragglers[i].factor;
}

static void *training_new(struct job_run *job)
{
    const struct job_spec *spec = job->spec;
    struct training_job *t = memory_zeroed(1, sizeof *t);
    t->job = job;
    t->spec = spec->training;
    t->passes = spec->iterations;
    t->n_ranks = job_n_ranks(spec, job->workload->n_ranks);
    t->n_slots = (uint32_t)t->spec->n_layers * TRAINING_PARTS;
    t->slots = memory_zeroed(t->n_slots, sizeof *t->slots);
    t->requests = memory_zeroed(t->n_slots, sizeof *t->requests);
    t->uneven = memory_zeroed(t->n_slots, sizeof *t->uneven);
    for (uint32_t slot = 0; slot < t->n_slots; slot++)
        fill_slot(t, slot);
    t->comm = comm_new(&job->comm, spec->ranks, spec->schedule, on_done, t);
    t->timeline.n_ranks = job->workload->timeline_ranks;
    dim_use_init(&t->use, spec->schedule->n_dims + 1);
    comm_watch(t->comm, &t->timeline, &t->use);
    t->open = memory_zeroed((size_t)t->n_ranks * t->n_slots, sizeof *t->open);
    t->pass_end_ps = memory_zeroed(t->passes, sizeof *t->pass_end_ps);
    for (uint64_t p = 0; p < t->passes; p++)
        t->pass_end_ps[p] = PS_NEVER;
    t->end_ps = PS_NEVER;
    t->rank_compute_ps = memory_zeroed(t->n_ranks, sizeof *t->rank_compute_ps);
    t->rank_end_ps = memory_zeroed(t->n_ranks, sizeof *t->rank_end_ps);
    init_ranks(t);
    return t;
}

static void training_job_free(void *self)
{
    struct training_job *t = self;
    comm_free(t->comm);
    for (size_t i = 0; i < t->n_blocks; i++)
        free(t->blocks[i]);
    free(t->blocks);
    free(t->timeline.slices);
    dim_use_free(&t->use);
    free(t->slots);
    free(t->requests);
    for (uint32_t slot = 0; slot < t->n_slots; slot++)
        free((void *)(uintptr_t)t->uneven[slot].bytes);
    free(t->uneven);
    free(t->open);
    free(t->pass_end_ps);
    free(t->rank_compute_ps);
    free(t->rank_end_ps);
    free(t->ranks);
    free(t);
}

static void training_start(void *self, uint32_t i, ps_t now)
{
    rank_goes_on(&((struct training_job *)self)->ranks[i], now);
}

static void training_delivered(void *self, uint64_t token, ps_t now)
{
    comm_delivered(&((struct training_job *)self)->job->comm, token, now);
}

// All issues of a pass, by walking through the loop without time; the passes are alike.
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
    return sum * t->passes;
}

const struct job_runner training_runner = {
    .new = training_new,
    .free = training_job_free,
    .start = training_start,
    .delivered = training_delivered,
    .bytes = training_bytes,
};

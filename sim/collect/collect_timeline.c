// SPDX-License-Identifier: MIT
// Makes slices in lanes from the timelines of training jobs and programs. Several phases may run
// along a dimension at the same time, so each phase takes the dimension's first free lane.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/collect/collect_internal.h"
#include "workload/collective_job.h"
#include "workload/nodes/node_run.h"
#include "workload/training/training_job.h"

// Returns the track of a slice within its rank: 0 for the training loop, 1 + dimension for a phase,
// the number of the stream for a program.
static uint32_t track(const struct slice_result *s) { return s->op ? s->dim + 1 : s->track; }

static int compare_slices(const void *a, const void *b)
{
    const struct slice_result *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (track(x) != track(y))
        return track(x) < track(y) ? -1 : 1;
    if (x->begin_ps != y->begin_ps)
        return x->begin_ps < y->begin_ps ? -1 : 1;
    if (x->end_ps != y->end_ps)
        return x->end_ps < y->end_ps ? -1 : 1;
    // The order must not depend on the order of simultaneous events, so equal times are
    // distinguished too.
    return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

static bool same_track(const struct slice_result *a, const struct slice_result *b)
{
    return a->job == b->job && a->rank == b->rank && track(a) == track(b);
}

static void assign_lanes(struct slice_result *slices, size_t n)
{
    ps_t *ends = NULL; // [lane] end of the last slice in this lane
    size_t n_lanes = 0, cap = 0;
    for (size_t i = 0; i < n; i++) {
        struct slice_result *s = &slices[i];
        size_t lane = 0;
        if (i == 0 || !same_track(s, s - 1))
            n_lanes = 0;
        // Slices are in the order of their begins, so a lane whose last slice has ended stays free.
        while (lane < n_lanes && ends[lane] > s->begin_ps)
            lane++;
        if (lane == n_lanes) {
            if (n_lanes == cap)
                ends = memory_grow(ends, &cap, sizeof *ends);
            n_lanes++;
        }
        ends[lane] = s->end_ps;
        s->lane = (track(s) << SLICE_LANE_BITS) + (uint32_t)lane;
    }
    free(ends);
}

static struct slice_result slice_of(const struct training_job *t, const struct timeline_slice *from)
{
    bool phase = from->kind == SLICE_PHASE;
    return (struct slice_result){.job = t->job->index,
                                 .rank = job_rank(t->job->spec, from->rank),
                                 .begin_ps = from->begin_ps,
                                 .end_ps = from->end_ps,
                                 .layer = from->layer,
                                 .part = phase ? NULL : training_parts[from->part],
                                 .op = phase ? coll_op_name((enum coll_op)from->op) : NULL,
                                 .wait = from->kind == SLICE_WAIT,
                                 .dim = from->dim,
                                 .chunk = from->chunk};
}

static void slice_add(struct result *r, struct slice_result slice)
{
    r->slices = memory_resize(r->slices, r->n_slices + 1, sizeof *r->slices);
    r->slices[r->n_slices++] = slice;
}

// Add slices for the parts of layers on the critical path of a training job that has ended.
static void add_path(const struct sim *sim, const struct training_job *t, struct result *r)
{
    const struct path_book *book = &sim->delivery.path_book;
    for (uint32_t step = path_at(book, t->job->path)->steps; step != 0;
         step = book->steps[step].link.before) {
        const struct path_step *at = &book->steps[step];
        uint32_t slot = at->label - 1;
        slice_add(r, (struct slice_result){.job = t->job->index,
                                           .rank = SLICE_PATH,
                                           .begin_ps = at->end_ps - at->ps,
                                           .end_ps = at->end_ps,
                                           .layer = t->spec->layers[slot / TRAINING_PARTS].name,
                                           .part = training_parts[slot % TRAINING_PARTS],
                                           .communicates = at->communicates});
    }
}

/* ---- programs ---- */

static const char *slice_name(const struct timeline_slice *from)
{
    return from->layer != NULL           ? from->layer
           : from->kind == SLICE_COMPUTE ? "compute"
                                         : "communication";
}

static const char *stream_name(const struct node_program *p, uint8_t stream)
{
    if (stream == NODE_NO_STREAM)
        return "messages";
    return p->stream_name != NULL ? p->stream_name(stream) : node_stream_name(stream);
}

static struct slice_result program_slice(const struct node_run *run,
                                         const struct timeline_slice *from)
{
    bool communicates = from->kind == SLICE_COMMUNICATION;
    return (struct slice_result){.job = run->job->index,
                                 .rank = job_rank(run->job->spec, from->rank),
                                 .begin_ps = from->begin_ps,
                                 .end_ps = from->end_ps,
                                 .layer = slice_name(from),
                                 .part = communicates && from->part < run->program->n_uses
                                             ? run->program->uses[from->part]
                                             : NULL,
                                 .stream = stream_name(run->program, from->dim),
                                 .track = from->dim,
                                 .communicates = communicates};
}

// Add slices for the layers on the critical path of a program that has ended.
static void add_program_path(const struct sim *sim, const struct node_run *run, struct result *r)
{
    const struct path_book *book = &sim->delivery.path_book;
    const struct node_program *p = run->program;
    for (uint32_t step = path_at(book, run->job->path)->steps; step != 0;
         step = book->steps[step].link.before) {
        const struct path_step *at = &book->steps[step];
        uint32_t use, layer = node_label_read(p, at->label, &use);
        slice_add(r, (struct slice_result){.job = run->job->index,
                                           .rank = SLICE_PATH,
                                           .begin_ps = at->end_ps - at->ps,
                                           .end_ps = at->end_ps,
                                           .layer = layer > 0 ? p->layers[layer - 1] : "no layer",
                                           .part = use < p->n_uses ? p->uses[use] : NULL,
                                           .communicates = at->communicates});
    }
}

static void collect_program(const struct sim *sim, const struct node_run *run, struct result *r)
{
    // A full timeline may lack slices.
    r->timeline_cut |= run->timeline.n == TIMELINE_SLICES;
    r->slices = memory_resize(r->slices, r->n_slices + run->timeline.n + 1, sizeof *r->slices);
    for (size_t i = 0; i < run->timeline.n; i++)
        r->slices[r->n_slices++] = program_slice(run, &run->timeline.slices[i]);
    add_program_path(sim, run, r);
}

/* ---- jobs of collectives alone ---- */

// Names by dimension; the last name is for phases over all ranks at once.
static const char *const dim_names[] = {"dim0", "dim1", "dim2", "dim3",    "dim4",
                                        "dim5", "dim6", "dim7", "all dims"};
_Static_assert(sizeof dim_names / sizeof *dim_names == COLL_MAX_DIMS + 1, "a name for each");

static void add_interval(struct result *r, struct slice_result slice)
{
    if (slice.begin_ps < 0 || slice.end_ps < slice.begin_ps)
        return; // it has not begun, or not ended
    if (r->n_slices >= TIMELINE_SLICES) {
        r->timeline_cut = true;
        return;
    }
    slice_add(r, slice);
}

// Add a slice for each collective, from its first rank's begin to its last rank's end, and slices
// for its phases by dimension.
static void collect_job_collectives(struct result *r, uint32_t job)
{
    // The timeline lacks the collectives that have no records (report.collectives_max).
    r->timeline_cut |= !r->collectives_complete;
    for (size_t i = 0; i < r->n_collectives; i++) {
        const struct collective_result *c = &r->collectives[i];
        struct slice_result slice = {.job = job,
                                     .rank = SLICE_COLLECTIVES,
                                     .begin_ps = c->start_ps,
                                     .end_ps = c->end_ps,
                                     .layer = c->op,
                                     .stream = "collectives",
                                     .communicates = true};
        if (c->job != job)
            continue;
        add_interval(r, slice);
        for (uint32_t p = 0; p < c->n_phases; p++) {
            const struct phase_result *phase = &c->phases[p];
            // A phase over all ranks at once has a number beyond the dimensions.
            uint32_t dim = phase->dim < c->n_dims ? phase->dim : COLL_MAX_DIMS;
            slice.begin_ps = phase->start_ps;
            slice.end_ps = phase->end_ps;
            slice.layer = phase->op;
            slice.stream = dim_names[dim];
            slice.track = 1 + dim;
            add_interval(r, slice);
        }
    }
}

// Add slices for the channels of a library on the first ranks.
static void collect_channels(const struct job_run *job, struct result *r)
{
    const struct timeline *t = collective_timeline(job->self);
    r->timeline_cut |= t->n == TIMELINE_SLICES;
    for (size_t i = 0; i < t->n; i++) {
        const struct timeline_slice *from = &t->slices[i];
        struct slice_result slice = {.job = job->index,
                                     .rank = job_rank(job->spec, from->rank),
                                     .begin_ps = from->begin_ps,
                                     .end_ps = from->end_ps,
                                     .layer = coll_op_name((enum coll_op)from->op),
                                     .stream = "channels",
                                     .track = 1,
                                     .channel = from->chunk + 1,
                                     .communicates = true};
        add_interval(r, slice);
    }
}

void collect_timeline(const struct sim *sim, struct result *r)
{
    const struct workload *w = &sim->workload;
    r->timeline = sim->spec->report.timeline;
    for (size_t j = 0; r->timeline && j < w->n_jobs; j++) {
        if (w->jobs[j].spec->kind->nodes != NULL)
            collect_program(sim, w->jobs[j].self, r);
        else if (!w->jobs[j].spec->kind->trains)
            collect_job_collectives(r, (uint32_t)j);
        if (w->jobs[j].spec->kind == &collective_kind)
            collect_channels(&w->jobs[j], r);
        if (!w->jobs[j].spec->kind->trains)
            continue;
        const struct training_job *t = w->jobs[j].self;
        r->timeline_cut |= t->timeline.n == TIMELINE_SLICES;
        r->slices = memory_resize(r->slices, r->n_slices + t->timeline.n + 1, sizeof *r->slices);
        for (size_t i = 0; i < t->timeline.n; i++)
            r->slices[r->n_slices++] = slice_of(t, &t->timeline.slices[i]);
        add_path(sim, t, r);
    }
    if (r->n_slices > 0)
        qsort(r->slices, r->n_slices, sizeof *r->slices, compare_slices);
    assign_lanes(r->slices, r->n_slices);
}

// SPDX-License-Identifier: MIT
// The size of a record depends on the kinds of phases of its chunks; the use of dimensions needs
// bounded memory, however long the run is.
#include "collective/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "collective/comm_internal.h"
#include "collective/executor/executor.h"

#include "engine/base/memory.h"

uint8_t record_phase(struct collective_record *r, const struct coll_phase *phase, uint32_t place,
                     const struct coll_algorithm *algorithm)
{
    uint32_t i = 0;
    while (i < r->n_phases && (r->phases[i].dim != phase->dim || r->phases[i].op != phase->op ||
                               r->phases[i].place != place))
        i++;
    if (i == r->n_phases) {
        r->phases = memory_resize(r->phases, ++r->n_phases, sizeof *r->phases);
        r->phases[i] = (struct phase_record){.dim = phase->dim,
                                             .op = phase->op,
                                             .place = (uint8_t)place,
                                             .algorithm = algorithm,
                                             .start_ps = PS_NEVER,
                                             .end_ps = PS_NEVER};
    }
    return (uint8_t)i;
}

void phase_record_add(struct phase_record *sum, const struct phase_record *p)
{
    sum->bytes += p->bytes;
    sum->messages += p->messages;
    sum->queueing_ps += p->queueing_ps;
    sum->waits += p->waits;
    sum->network_ps += p->network_ps;
    sum->running_ps += p->running_ps;
    sum->ended += p->ended;
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        sum->critical[cause] += p->critical[cause];
}

void record_kinds(const struct collective_record *r, struct collective_record *kinds)
{
    for (uint32_t i = 0; i < r->n_phases; i++) {
        const struct phase_record *p = &r->phases[i];
        struct coll_phase phase = {.dim = p->dim, .op = p->op};
        // Here the place of a phase in its chunk does not matter: phases of one operation along one
        // dimension are one kind.
        uint8_t at = record_phase(kinds, &phase, 0, p->algorithm); // may move the phases
        struct phase_record *kind = &kinds->phases[at];
        phase_record_add(kind, p);
        kind->open += p->open;
        if (p->start_ps < kind->start_ps)
            kind->start_ps = p->start_ps;
        bool ended = p->end_ps != PS_NEVER;
        if (ended && (kind->end_ps == PS_NEVER || p->end_ps > kind->end_ps))
            kind->end_ps = p->end_ps;
    }
}

ps_t phase_record_queueing_ps(const struct phase_record *p)
{
    return p->waits > 0 ? (ps_t)(p->queueing_ps / (ps_sum_t)p->waits) : 0;
}

ps_t phase_record_network_ps(const struct phase_record *p)
{
    return p->messages > 0 ? (ps_t)(p->network_ps / (ps_sum_t)p->messages) : 0;
}

void record_free(struct collective_record *r)
{
    free(r->phases);
    free(r->dims);
    free(r->critical.places);
}

void recorder_free(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->n; i++)
        record_free(&recorder->records[i]);
    free(recorder->records);
    names_free(&recorder->names);
    *recorder = (struct recorder){0};
}

static int compare_records(const void *a, const void *b)
{
    const struct collective_record *x = a, *y = b;
    // Two records always differ in one of these, so the order does not depend on simultaneous
    // events.
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->opener != y->opener)
        return x->opener < y->opener ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

void recorder_sort(const struct recorder *recorder)
{
    if (recorder->n > 0)
        qsort(recorder->records, recorder->n, sizeof *recorder->records, compare_records);
}

/* ---- records of the scheduler ---- */

void recorder_open(struct communicator *c, struct instance *in, const struct comm_request *request)
{
    struct recorder *recorder = c->job->recorder;
    if (recorder->n == recorder->cap)
        recorder->records =
            memory_grow(recorder->records, &recorder->cap, sizeof *recorder->records);
    in->record = recorder->n++;
    struct collective_record *r = &recorder->records[in->record];
    *r = (struct collective_record){.job = c->job->job,
                                    .comm = c->index,
                                    .number = in->number,
                                    .opener = comm_rank(c, in->opener),
                                    .request = *request,
                                    .schedule = &c->schedule,
                                    .ranks = c->ranks,
                                    .start_ps = in->start_ps,
                                    .end_ps = PS_NEVER,
                                    .n_dims = c->schedule.n_dims + 1};
    r->request.name = in->request.name = name_keep(&recorder->names, request->name);
    r->dims = memory_zeroed(r->n_dims, sizeof *r->dims);
    if (c->schedule.library != NULL && c->schedule.library->by_switches)
        r->library = (struct executor_record){.library = nccl_library_name(false),
                                              .algorithm = nccl_algorithm_name(NCCL_COLLNET_DIRECT),
                                              .protocol = nccl_protocol_name(NCCL_SIMPLE),
                                              .channels = in->n_chunks,
                                              .chunk_bytes = instance_chunk(in, 0).end};
    for (size_t i = 0; i < (size_t)in->n_chunks * in->n_phases; i++) {
        const struct coll_phase *phase = &in->phases[i];
        in->record_phase[i] =
            record_phase(r, phase, (uint32_t)(i % in->n_phases),
                         coll_choice_at(&c->schedule, request->op, phase)->algorithm);
    }
}

void recorder_issued(const struct communicator *c, const struct instance *in)
{
    struct collective_record *r = &c->job->recorder->records[in->record];
    r->opener = comm_rank(c, in->opener);
    r->start_ps = in->start_ps;
    r->last_start_ps = in->last_issue_ps;
}

void recorder_library(const struct communicator *c, const struct instance *in,
                      const struct executor_run *run)
{
    struct executor_choice choice = executor_choice(run);
    c->job->recorder->records[in->record].library = (struct executor_record){
        .library = choice.mpi ? "Open MPI" : nccl_library_name(c->schedule.library->settings.rccl),
        .mpi = choice.mpi,
        .exchanges = choice.exchanges,
        .xml = choice.xml,
        .limited = choice.limited,
        .algorithm = choice.algorithm,
        .protocol = choice.protocol,
        .channels = choice.channels,
        .threads = choice.threads,
        .blocks = choice.blocks,
        .chunk_bytes = choice.chunk_bytes};
}

static struct busy *busy_of(const struct communicator *c, const struct run_place *place)
{
    return &place->in->busy[c->first_group[place->dim] + place->group];
}

void recorder_start(struct communicator *c, const struct run_place *place, ps_t now)
{
    struct phase_record *record = phase_record_at(c, place);
    struct busy *busy = busy_of(c, place);
    if (record->start_ps > now)
        record->start_ps = now;
    record->open++;
    // The start is subtracted now and the end is added later, so that no phase has to keep its
    // start.
    record->running_ps -= now;
    busy->begun++;
    // Phases of one group that overlap use the dimension once.
    if (busy->running++ == 0)
        busy->since_ps = now;
}

void recorder_end(struct communicator *c, const struct run_place *place, ps_t now)
{
    struct busy *busy = busy_of(c, place);
    struct phase_record *record = phase_record_at(c, place);
    record->end_ps = now;
    record->open--;
    record->running_ps += now;
    record->ended++;
    if (--busy->running == 0)
        c->job->recorder->records[place->in->record].dims[place->dim].busy_ps +=
            now - busy->since_ps;
}

void recorder_slice(const struct phase_run *run, uint32_t rank, ps_t now)
{
    const struct instance *in = run->instance;
    struct timeline_slice slice = {.begin_ps = run->began_ps,
                                   .end_ps = now,
                                   .layer = in->request.name,
                                   .rank = rank,
                                   .kind = SLICE_PHASE,
                                   .dim = (uint8_t)run->dim,
                                   .op = instance_phase(in, run->chunk, run->index)->op,
                                   .chunk = run->chunk};
    timeline_add(run->comm->job->engine, run->comm->timeline, &slice);
}

/* ---- dimensions in use ---- */

void dim_use_init(struct dim_use *u, uint32_t n_dims, const uint32_t *queues)
{
    *u = (struct dim_use){.n_dims = n_dims, .step_ps = DIM_USE_STEP_PS};
    for (uint32_t d = 0; d < n_dims; d++)
        u->queues[d] = queues[d];
}

double dim_use_ps(const struct dim_use *u, size_t step, uint32_t dim)
{
    // The queues of a dimension work side by side; the result is their mean.
    return (double)u->busy_ps[step * u->n_dims + dim] / u->queues[dim];
}

void dim_use_free(struct dim_use *u) { free(u->busy_ps); }

static void steps_double(struct dim_use *u)
{
    size_t pairs = (u->n + 1) / 2, width = u->n_dims;
    for (size_t i = 0; i < pairs; i++)
        for (size_t d = 0; d < width; d++) {
            int64_t second = 2 * i + 1 < u->n ? u->busy_ps[(2 * i + 1) * width + d] : 0;
            u->busy_ps[i * width + d] = u->busy_ps[2 * i * width + d] + second;
        }
    u->n = pairs;
    u->step_ps *= 2;
}

static void steps_reach(struct dim_use *u, ps_t to)
{
    // The number of steps is bounded: where the time exceeds it, the steps are made twice as long.
    // The end of an interval belongs to the step before it.
    while ((to - 1) / u->step_ps >= DIM_USE_STEPS)
        steps_double(u);
    size_t n = (size_t)((to - 1) / u->step_ps) + 1;
    if (n <= u->n)
        return;
    if (n > u->cap) {
        u->cap = n < 2 * u->cap ? 2 * u->cap : n;
        u->busy_ps = memory_resize(u->busy_ps, u->cap * u->n_dims, sizeof *u->busy_ps);
    }
    memset(u->busy_ps + u->n * u->n_dims, 0, (n - u->n) * u->n_dims * sizeof *u->busy_ps);
    u->n = n;
}

void dim_use_add(struct dim_use *u, uint32_t dim, ps_t from, ps_t to)
{
    if (to <= from)
        return;
    steps_reach(u, to);
    while (from < to) {
        size_t step = (size_t)(from / u->step_ps);
        ps_t end = (ps_t)(step + 1) * u->step_ps;
        end = end < to ? end : to;
        u->busy_ps[step * u->n_dims + dim] += end - from;
        from = end;
    }
}

/* ---- timeline ---- */

void timeline_keep(struct timeline *t, const struct timeline_slice *slice)
{
    // A slice without length cannot be seen. The result states that a full timeline may lack
    // slices.
    if (slice->end_ps <= slice->begin_ps || t->n >= TIMELINE_SLICES)
        return;
    if (t->n == t->cap)
        t->slices = memory_grow(t->slices, &t->cap, sizeof *t->slices);
    t->slices[t->n++] = *slice;
}

static void keep_slice(void *ctx, const void *note, ps_t now)
{
    (void)now;
    timeline_keep(ctx, note);
}

void timeline_add(struct engine *engine, struct timeline *t, const struct timeline_slice *slice)
{
    engine_defer(engine, keep_slice, t, slice, sizeof *slice);
}

void recorder_renumber(const struct recorder *recorder, const struct flow_numbers *numbers)
{
    for (size_t i = 0; i < recorder->n; i++) {
        const struct critical_record *c = &recorder->records[i].critical;
        path_places_renumber(c->places, c->n_places, numbers);
    }
}

void recorder_settle(const struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->n; i++)
        for (uint32_t p = 0; p < recorder->records[i].n_phases; p++) {
            struct phase_record *phase = &recorder->records[i].phases[p];
            phase->network_ps +=
                (ps_sum_t)recorder->records[i].start_ps * (ps_sum_t)phase->on_the_way;
            phase->on_the_way = 0;
        }
}

// The time before the path began counts as that of others: the first rank of the path had not
// issued the collective yet, or another collective had the dimension.
void recorder_path(struct collective_record *record, const struct path_book *book,
                   const struct path *path)
{
    struct critical_record *c = &record->critical;
    size_t n;
    struct path_place *places = path_places(book, path, RECORD_PLACES, &n, &c->elsewhere_ps);
    c->known = true;
    memcpy(c->parts, path->parts, sizeof c->parts);
    c->parts[PATH_OTHERS] += path->begin_ps - record->start_ps;
    c->n_places = (uint32_t)n;
    c->error_ps = path->dropped_ps;
    c->places = n > 0 ? memory_resize(places, c->n_places, sizeof *places) : NULL;
    size_t stages = (size_t)record->n_phases + 1;
    ps_t(*sums)[PATH_CAUSES] = memory_zeroed(stages, sizeof *sums);
    path_stages(book, path, sums, stages);
    for (uint32_t p = 0; p < record->n_phases; p++)
        memcpy(record->phases[p].critical, sums[PHASE_STAGE(p)], sizeof *sums);
    free(sums);
}

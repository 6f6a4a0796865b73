// SPDX-License-Identifier: MIT
// What the system layer writes down: times of phases, dimensions in use, slices of the timeline.
#include "collective/grid.h"
#include "workload/record.h"
#include "workload/system_state.h"

static struct busy *busy_of(const struct phase_run *run)
{
    return &run->instance->busy[run->system->first_group[run->dim] + run->group];
}

void system_note_start(struct phase_run *run, ps_t now)
{
    struct phase_record *record = system_phase_record(run);
    if (record->start_ps > now)
        record->start_ps = now;
    record->open++;
    if (busy_of(run)->running++ == 0)
        busy_of(run)->since_ps = now;
}

void system_note_end(struct phase_run *run, ps_t now)
{
    struct system *s = run->system;
    struct busy *busy = busy_of(run);
    system_phase_record(run)->end_ps = now;
    system_phase_record(run)->open--;
    if (--busy->running == 0)
        system_record(s, run->instance)->dims[run->dim].busy_ps +=
            (double)(now - busy->since_ps) / coll_n_groups(&s->schedule, run->dim);
}

void system_note_use(struct system *s, uint32_t dim, const struct dim_queue *queue, ps_t now)
{
    if (s->use)
        dim_use_add(s->use, dim, s->used_since[queue - s->queues], now,
                    1.0 / coll_n_groups(&s->schedule, dim));
}

void system_use_settle(struct system *s, ps_t now)
{
    for (uint32_t d = 0; d <= s->schedule.n_dims; d++)
        for (uint32_t q = s->first_group[d]; q < s->first_group[d] + coll_n_groups(&s->schedule, d);
             q++)
            if (s->queues[q].n > 0) {
                system_note_use(s, d, &s->queues[q], now);
                s->used_since[q] = now;
            }
}

void system_note_slice(const struct phase_run *run, uint32_t rank, ps_t now)
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
    timeline_add(run->system->timeline, &slice);
}

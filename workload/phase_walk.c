// SPDX-License-Identifier: MIT
// Steps of a phase as messages arrive. On entering a step a rank posts its sends; when what the step
// awaits has come it adds what is to be added, which takes time where the schedule says so, and
// before the next sends, as after the last step, its endpoint delay passes.
#include "engine/assert.h"
#include "workload/system_state.h"

static uint64_t token_of(const struct walk *walk, uint32_t member, uint32_t step)
{
    const struct phase_run *run = walk->run;
    uint64_t index = (uint64_t)run->id << run->system->member_bits | member;
    return (uint64_t)run->system->job->index << TOKEN_JOB_SHIFT | index << SYSTEM_STEP_BITS | step;
}

static void count(struct walk *walk, const struct coll_send *send, ps_t now)
{
    struct phase_run *run = walk->run;
    struct phase_record *record = system_phase_record(run);
    struct arrivals *awaited = walk_arrivals(&run->walks[send->peer], send->peer_step);
    if (send->reduce)
        awaited->reduce_bytes += send->bytes;
    record->bytes += send->bytes;
    record->messages++;
    record->network_ps -= (double)(now - run->instance->start_ps);
    system_record(run->system, run->instance)->dims[run->dim].bytes += send->bytes;
}

static void post(struct walk *walk, const struct coll_send *send, ps_t now)
{
    struct phase_run *run = walk->run;
    struct system *s = run->system;
    const struct job_spec *spec = s->job->spec;
    uint32_t channel = spec->channels > 1 ? run->chunk % (uint32_t)spec->channels : 0;
    count(walk, send, now);
    struct transfer_request request = {
        .src = job_rank(spec, run_rank(run, walk->member)),
        .dst = job_rank(spec, run_rank(run, send->peer)),
        .bytes = send->bytes,
        .job = s->job->index,
        .channel = channel,
        .cls = spec->cls,
        .token = token_of(walk, send->peer, send->peer_step),
    };
    workload_post(s->workload, &request, now);
}

static void issue(struct walk *walk, ps_t now)
{
    struct phase_run *run = walk->run;
    uint32_t n = run->algorithm->n_sends(&run->shape, walk->member, walk->step);
    for (uint32_t k = 0; k < n; k++) {
        struct coll_send send = run->algorithm->send(&run->shape, walk->member, walk->step, k);
        post(walk, &send, now);
    }
}

static ps_t reduction_ps(const struct system *s, uint64_t bytes)
{
    return s->schedule.reduce_bps ? serialization_ps(bytes, s->schedule.reduce_bps) : 0;
}

static void delay(struct walk *walk, ps_t at)
{
    struct workload *w = walk->run->system->workload;
    walk->delayed = true;
    w->starts_pending++;
    sim_timer_start(w->engine, &walk->timer, at);
}

// Leaves its step when all that it awaits has come. False: it has to wait, for messages or a delay.
static bool leaves_step(struct walk *walk, ps_t now)
{
    const struct phase_run *run = walk->run;
    const struct system *s = run->system;
    if (walk->now.messages < run->algorithm->n_recvs(&run->shape, walk->member, walk->step))
        return false;
    ps_t wait = s->schedule.endpoint_ps + reduction_ps(s, walk->now.reduce_bytes);
    walk_next_step(walk);
    if (wait > 0)
        delay(walk, now + wait);
    return wait == 0;
}

// Issues the step it has come to, and goes on while nothing has to be awaited.
static void walk_on(struct walk *walk, ps_t now)
{
    const struct phase_run *run = walk->run;
    do {
        if (walk->step == run->steps) {
            system_member_done(walk->run, walk->member, now);
            return;
        }
        issue(walk, now);
    } while (leaves_step(walk, now));
}

static void on_timer(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct walk *walk = timer->data;
    walk->delayed = false;
    walk->run->system->workload->starts_pending--;
    walk_on(walk, e->now_ps);
}

void walk_timer_init(struct walk *walk)
{
    const struct phase_run *run = walk->run;
    const struct job_spec *spec = run->system->job->spec;
    sim_timer_init(run->system->workload->engine, &walk->timer,
                   job_rank(spec, run_rank(run, walk->member)), on_timer, walk);
}

// A rank may post only from events of its own, so a phase that another's event has let in begins by
// its timer even where there is no delay.
void walk_begin(struct walk *walk, ps_t now)
{
    const struct system *s = walk->run->system;
    walk->begun = true;
    if (s->timed)
        delay(walk, now + s->schedule.endpoint_ps);
    else
        walk_on(walk, now);
}

void walk_arrived(struct walk *walk, uint32_t step, ps_t now)
{
    struct phase_run *run = walk->run;
    SIM_ASSERT(run->system->workload->engine, walk->member, step >= walk->step);
    walk_arrivals(walk, step)->messages++;
    system_phase_record(run)->network_ps += (double)(now - run->instance->start_ps);
    if (walk->begun && !walk->delayed && step == walk->step && leaves_step(walk, now))
        walk_on(walk, now);
}

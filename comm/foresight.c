// SPDX-License-Identifier: MIT
// Finds messages and members that keep the running phases of a queue from ending.
#include "comm/foresight.h"

#include "comm/library/library.h"
#include "comm/phase_admission.h"

struct look {
    const struct comm_network_view *view;
    ps_t now, until_ps;
};

// True if a message of a step reaches another member after the window, so that this member cannot
// end its part within the window. The message has been posted (`posted`), or will be posted at
// `from_ps` or later.
static bool step_is_late(const struct look *look, const struct walk *walk, uint32_t step,
                         bool posted, ps_t from_ps)
{
    struct phase_run *run = walk->run;
    uint32_t n = run->algorithm->n_sends(&run->shape, walk->member, step);
    for (uint32_t k = 0; k < n; k++) {
        struct coll_send send = run->algorithm->send(&run->shape, walk->member, step, k);
        if (send.peer >= run->n_members)
            continue; // an aggregator
        struct transfer_request request = walk_request(walk, &send);
        if (posted ? look->view->late(look->view->ctx, &request, look->until_ps)
                   : from_ps + look->view->least_ps(look->view->ctx, &request) >= look->until_ps) {
            run->held = send.peer;
            return true;
        }
    }
    return false;
}

// True if the phase cannot end within the window because of this member.
static bool member_is_late(const struct look *look, const struct walk *walk)
{
    const struct phase_run *run = walk->run;
    bool waits = !walk->begun || walk->delayed;
    ps_t from_ps = walk->delayed ? walk->timer.at_ps : look->now;
    if (walk->delayed && from_ps >= look->until_ps) {
        walk->run->held = walk->member;
        return true;
    }
    for (uint32_t step = waits ? walk->step : walk->step + 1; step < walk->steps; step++)
        if (run->algorithm->n_sends(&run->shape, walk->member, step) > 0)
            return step_is_late(look, walk, step, false, from_ps);
    for (uint32_t step = walk->steps; step-- > 0;) // the last one with messages
        if (run->algorithm->n_sends(&run->shape, walk->member, step) > 0)
            return step_is_late(look, walk, step, true, from_ps);
    return false;
}

static bool run_is_late(const struct look *look, struct phase_run *run)
{
    if (!run->walking)
        return false;
    for (uint32_t i = 0; i < run->n_members; i++) {
        if (member_is_late(look, &run->walks[run->late]))
            return true;
        run->late = run->late + 1 < run->n_members ? run->late + 1 : 0;
    }
    return false;
}

// True if each running phase of a queue ends after the window.
static bool all_are_late(const struct look *look, const struct dim_queue *queue)
{
    for (size_t i = 0; i < queue->n_active; i++)
        if (!run_is_late(look, queue->entries[i].run))
            return false;
    return true;
}

// True if a member of the group, whose part in the run of a phase ends after the window, issues no
// collective before.
static bool run_holds(struct communicator *c, const struct phase_run *run, uint32_t dim,
                      uint32_t group, ps_t until_ps)
{
    uint32_t member = run_member(run, run->held), ticket;
    return coll_group_of(&c->schedule, dim, member) == group &&
           c->job->issuer(c->ctx, member, until_ps, &ticket) == COMM_AWAITS &&
           run->instance->tickets[member] == ticket;
}

// True if a member of the group issues no collective within the window; running phases of all
// queues end after it.
static bool member_is_held(struct communicator *c, uint32_t dim, uint32_t group, ps_t until_ps)
{
    uint32_t n = coll_group_size(&c->schedule, dim), ticket;
    for (uint32_t q = 0; q <= c->first_group[c->schedule.n_dims]; q++)
        for (size_t i = 0; i < c->queues[q].n_active && admission_spans(c, &c->queues[q]); i++)
            if (run_holds(c, c->queues[q].entries[i].run, dim, group, until_ps))
                return true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = coll_rank_of(&c->schedule, dim, group, (c->held + i) % n);
        if (c->job->issuer(c->ctx, m, until_ps, &ticket) == COMM_RESTS) {
            c->held = (c->held + i) % n;
            return true;
        }
    }
    return false;
}

// True if a phase may start in a queue; running phases of all queues end after the window.
static bool may_begin(struct communicator *c, uint32_t dim, uint32_t group, ps_t until_ps)
{
    const struct dim_queue *queue = &c->queues[c->first_group[dim] + group];
    if (!admission_spans(c, queue) || queue->n_active >= c->schedule.active_chunks)
        return false;
    return admission_phases_left(c, dim, group) || !member_is_held(c, dim, group, until_ps);
}

static bool comm_may_decide(struct communicator *c, const struct look *look)
{
    uint32_t n = c->first_group[c->schedule.n_dims] + 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct dim_queue *queue = &c->queues[c->looked_at];
        if (admission_spans(c, queue) && !all_are_late(look, queue))
            return true;
        c->looked_at = c->looked_at + 1 < n ? c->looked_at + 1 : 0;
    }
    for (uint32_t d = 0; d <= c->schedule.n_dims; d++)
        for (uint32_t g = 0; g < coll_n_groups(&c->schedule, d); g++)
            if (may_begin(c, d, g, look->until_ps))
                return true;
    return false;
}

bool comm_may_start(struct communicator *listed, const struct comm_network_view *view, ps_t now,
                    ps_t until_ps)
{
    const struct look look = {view, now, until_ps};
    for (struct communicator *c = listed; c != NULL; c = c->next_queued)
        if (comm_may_decide(c, &look))
            return true;
    return false;
}

bool comm_library_holds(const struct comm_job *job, const struct comm_network_view *view,
                        ps_t span_ps)
{
    return job->library != NULL && library_holds(job->library, view->least_ps, view->ctx, span_ps);
}

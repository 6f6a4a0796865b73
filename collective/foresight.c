// SPDX-License-Identifier: MIT
// Finds messages and members that keep the running phases of a queue from ending.
#include "collective/foresight.h"

#include "collective/executor/executor.h"
#include "collective/phase_admission.h"

struct look {
    const struct comm_network_view *view;
    ps_t now, until_ps;
    uint64_t sends; // that have been looked at
    // Receivers in question: the members of a group who wait for the collective, or all members.
    struct communicator *c;
    uint32_t dim, group;
    bool all;
};

// True if the receiver is one of those in question.
static bool counts(const struct look *look, const struct phase_run *run, uint32_t receiver)
{
    const struct communicator *c = look->c;
    if (receiver >= run->n_members)
        return false; // an aggregator
    if (look->all)
        return true;
    uint32_t member = run_member(run, receiver), ticket;
    return coll_group_of(&c->schedule, look->dim, member) == look->group &&
           c->job->issuer(c->ctx, member, look->until_ps, &ticket) == COMM_AWAITS &&
           run->instance->tickets[member] == ticket;
}

// True if a message of a step reaches one of the receivers in question after the end of the window,
// so that this receiver does not end its part of the phase within the window. If `posted`, the
// messages of the step have been posted; else they will be, at `from_ps` or later. The search
// begins with message at->send: those before it were not found to be late.
static bool step_is_late(struct look *look, const struct walk *walk, uint32_t step, bool posted,
                         ps_t from_ps, struct late_message *at)
{
    const struct phase_run *run = walk->run;
    uint32_t n = run->algorithm->n_sends(&run->shape, walk->member, step);
    for (; at->send < n; at->send++) {
        struct coll_send send = run->algorithm->send(&run->shape, walk->member, step, at->send);
        look->sends++;
        if (!counts(look, run, send.peer))
            continue;
        struct transfer_request request = walk_request(walk, &send);
        at->receiver = send.peer;
        if (posted ? look->view->late(look->view->ctx, &request, look->until_ps)
                   : from_ps + look->view->least_ps(look->view->ctx, &request) >= look->until_ps)
            return true;
    }
    return false;
}

// True if a message of at->member is late.
static bool member_is_late(struct look *look, struct late_message *at)
{
    const struct phase_run *run = at->run;
    const struct walk *walk = &run->walks[at->member];
    bool waits = !walk->begun || walk->delayed;
    ps_t from_ps = walk->delayed ? walk->timer.at_ps : look->now;
    if (walk->delayed && from_ps >= look->until_ps && counts(look, run, at->member)) {
        at->receiver = at->member;
        return true;
    }
    for (uint32_t step = waits ? walk->step : walk->step + 1; step < walk->steps; step++)
        if (run->algorithm->n_sends(&run->shape, walk->member, step) > 0)
            return step_is_late(look, walk, step, false, from_ps, at);
    for (uint32_t step = walk->steps; step-- > 0;) // the last one with messages
        if (run->algorithm->n_sends(&run->shape, walk->member, step) > 0)
            return step_is_late(look, walk, step, true, from_ps, at);
    return false;
}

// Search the messages of all members of at->run.
static bool search(struct look *look, struct late_message *at)
{
    for (uint32_t i = 0; i < at->run->n_members; i++) {
        at->member = at->member + 1 < at->run->n_members ? at->member + 1 : 0;
        at->send = 0;
        if (member_is_late(look, at))
            return true;
    }
    return false;
}

// After a search in vain the next one begins after as many events as it took messages, so that
// looking costs no more than the events.
static void postpone(const struct look *look, struct late_message *at)
{
    at->look_at = look->view->events + look->sends;
}

// True if the phase cannot end within the window because of one of its members.
static bool run_is_late(struct look *look, struct phase_run *run)
{
    if (!run->walking)
        return false;
    look->all = true;
    run->late.run = run;
    if (member_is_late(look, &run->late))
        return true;
    if (look->view->events < run->late.look_at)
        return false;
    look->sends = 0;
    if (search(look, &run->late))
        return true;
    postpone(look, &run->late);
    return false;
}

// True if each running phase of a queue ends after the window.
static bool all_are_late(struct look *look, const struct dim_queue *queue)
{
    for (size_t i = 0; i < queue->n_active; i++)
        if (!run_is_late(look, queue->entries[i].run))
            return false;
    return true;
}

// The next running phase of a queue whose group is in several shards, from entry (*q, *i) on; NULL
// behind the last one.
static struct phase_run *next_running(struct communicator *c, uint32_t *q, size_t *i)
{
    for (; *q <= c->first_group[c->schedule.n_dims]; ++*q, *i = 0)
        if (*i < c->queues[*q].n_active && admission_spans(c, &c->queues[*q]))
            return c->queues[*q].entries[(*i)++].run;
    return NULL;
}

// True if a message to a member of the group, which the member waits for, is late: one of the
// messages found for the running phases, or that of an earlier window, or another one.
static bool member_waits(struct look *look, struct late_message *at)
{
    struct communicator *c = look->c;
    struct phase_run *run;
    bool runs = false;
    uint32_t q = 0;
    look->all = false;
    for (size_t i = 0; (run = next_running(c, &q, &i)) != NULL;) {
        if (counts(look, run, run->late.receiver))
            return true;
        runs = runs || (run == at->run && run->walking);
    }
    if (runs && member_is_late(look, at))
        return true;
    if (look->view->events < at->look_at)
        return false;
    look->sends = 0;
    q = 0;
    for (size_t i = 0; (run = next_running(c, &q, &i)) != NULL;) {
        *at = (struct late_message){.run = run};
        if (run->walking && search(look, at))
            return true;
    }
    postpone(look, at);
    return false;
}

// True if a member of the group issues no collective within the window; running phases of all
// queues end after it.
static bool member_is_held(struct look *look, uint32_t dim, uint32_t group)
{
    struct communicator *c = look->c;
    uint32_t n = coll_group_size(&c->schedule, dim), ticket;
    look->dim = dim;
    look->group = group;
    if (member_waits(look, &c->late[c->first_group[dim] + group]))
        return true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = coll_rank_of(&c->schedule, dim, group, (c->held + i) % n);
        if (c->job->issuer(c->ctx, m, look->until_ps, &ticket) == COMM_RESTS) {
            c->held = (c->held + i) % n;
            return true;
        }
    }
    return false;
}

// True if a phase may start in a queue; running phases of all queues end after the window.
static bool may_begin(struct look *look, uint32_t dim, uint32_t group)
{
    struct communicator *c = look->c;
    const struct dim_queue *queue = &c->queues[c->first_group[dim] + group];
    if (!admission_spans(c, queue) || queue->n_active >= c->schedule.active_chunks)
        return false;
    return admission_phases_left(c, dim, group) || !member_is_held(look, dim, group);
}

static bool comm_may_decide(struct look *look)
{
    struct communicator *c = look->c;
    if (may_begin(look, c->begins_dim, c->begins_group)) // as before the last window
        return true;
    uint32_t n = c->first_group[c->schedule.n_dims] + 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct dim_queue *queue = &c->queues[c->looked_at];
        if (admission_spans(c, queue) && !all_are_late(look, queue))
            return true;
        c->looked_at = c->looked_at + 1 < n ? c->looked_at + 1 : 0;
    }
    for (uint32_t d = 0; d <= c->schedule.n_dims; d++)
        for (uint32_t g = 0; g < coll_n_groups(&c->schedule, d); g++)
            if (may_begin(look, d, g)) {
                c->begins_dim = d;
                c->begins_group = g;
                return true;
            }
    return false;
}

bool comm_may_start(struct communicator *listed, const struct comm_network_view *view, ps_t now,
                    ps_t until_ps)
{
    struct look look = {.view = view, .now = now, .until_ps = until_ps};
    for (look.c = listed; look.c != NULL; look.c = look.c->next_queued)
        if (comm_may_decide(&look))
            return true;
    return false;
}

bool comm_library_holds(const struct comm_job *job, const struct comm_network_view *view,
                        ps_t span_ps)
{
    return job->library != NULL && executor_holds(job->library, view->least_ps, view->ctx, span_ps);
}

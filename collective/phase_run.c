// SPDX-License-Identifier: MIT
// Runs the steps of a phase as messages arrive. When a rank enters a step it posts the step's
// sends. When the step's messages have arrived, the rank adds those to be reduced, which may take
// time (schedule.reduce_bps); its endpoint delay passes before the next sends and after the last
// step. Messages of later steps are counted in a sliding window.
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/reduction.h"
#include "collective/comm_internal.h"
#include "collective/executor/executor.h"
#include "collective/rank_streams.h"
#include "collective/rendezvous.h"
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/critical_path.h"

/* ---- arrivals ---- */

// The arrivals of this step or a later one.
static struct arrivals *walk_arrivals(struct walk *walk, uint32_t step)
{
    if (step == walk->step)
        return &walk->now;
    uint32_t at = step - walk->early_base;
    if (at >= walk->n_early) {
        uint32_t n = walk->n_early ? walk->n_early * 2 : 4;
        while (n <= at)
            n *= 2;
        walk->early = memory_resize(walk->early, n, sizeof *walk->early);
        memset(walk->early + walk->n_early, 0, (n - walk->n_early) * sizeof *walk->early);
        walk->n_early = n;
    }
    return &walk->early[at];
}

// Go to the next step; its arrivals so far become the current ones.
static void walk_next_step(struct walk *walk)
{
    walk->step++;
    walk->now = (struct arrivals){0};
    uint32_t at = walk->step - walk->early_base;
    if (at >= walk->n_early) { // no arrivals of later steps remain
        walk->early_base = walk->step;
        return;
    }
    walk->now = walk->early[at];
    walk->early[at] = (struct arrivals){0};
    if (2 * at >= walk->n_early) { // slide the window
        memmove(walk->early, walk->early + at, (walk->n_early - at) * sizeof *walk->early);
        memset(walk->early + (walk->n_early - at), 0, at * sizeof *walk->early);
        walk->early_base = walk->step;
    }
}

/* ---- aggregators ---- */

static bool is_aggregator(const struct walk *walk) { return walk->member >= walk->run->n_members; }

static const struct coll_place *place_of(const struct walk *walk)
{
    return &walk->run->shape.reduction->places[walk->member - walk->run->n_members];
}

// The node of the network that a member is.
static uint32_t node_of(const struct phase_run *run, uint32_t member)
{
    return member < run->n_members ? comm_rank(run->comm, run_member(run, member))
                                   : run->shape.reduction->places[member - run->n_members].endpoint;
}

static struct coll_slots *slots_of(const struct walk *walk)
{
    const struct coll_reduction *r = walk->run->shape.reduction;
    return r->slots ? r->slots[walk->member - walk->run->n_members] : NULL;
}

static uint64_t slot_bytes(const struct walk *walk)
{
    return coll_slot_bytes(coll_reduction_segments(&walk->run->shape).largest_bytes);
}

// A message of a segment has come from a child; the first one takes a place in the buffer.
static void slot_take(const struct walk *walk, const struct arrivals *arrivals, uint64_t bytes)
{
    struct coll_slots *slots = slots_of(walk);
    if (!slots || place_of(walk)->down)
        return;
    slots->reduced_bytes += bytes;
    // Later children add to the segment that holds the place already.
    if (arrivals->messages > 1)
        return;
    slots->held_bytes += slot_bytes(walk);
    if (slots->held_bytes > slots->max_bytes)
        slots->max_bytes = slots->held_bytes;
}

// A segment's result goes to the children, which gives its place back.
static void slot_give(const struct walk *walk)
{
    const struct coll_place *place = place_of(walk);
    bool root = place->node == walk->run->shape.ranks;
    struct coll_slots *slots = slots_of(walk);
    if (slots && (place->down || root))
        slots->held_bytes -= slot_bytes(walk);
}

/* ---- messages ---- */

static uint64_t token_of(const struct walk *walk, uint32_t member, uint32_t step)
{
    const struct phase_run *run = walk->run;
    uint64_t index = run->first_walk + member;
    return run->comm->job->token | index << TOKEN_WALK_SHIFT | step;
}

static void count(struct walk *walk, const struct coll_send *send, ps_t now)
{
    const struct phase_run *run = walk->run;
    walk->sums.bytes += send->bytes;
    walk->sums.messages++;
    walk->sums.network_ps -= now;
    walk->sums.on_the_way++;
    const struct comm_job *job = run->comm->job;
    if (job->sent != NULL)
        job->sent(job->sent_ctx, comm_rank(run->comm, run_member(run, walk->member)),
                  run->instance->request.label, send->bytes);
}

// Number of phases that may run at once in this one's dimension over queue pairs of their own.
static uint32_t phases_beside(const struct phase_run *run)
{
    const struct communicator *c = run->comm;
    uint64_t beside = run->instance->n_chunks, active = c->schedule.active_chunks;
    uint32_t channels = c->job->channels > 1 ? c->job->channels : 1;
    if (active > 0 && active < beside)
        beside = active;
    return beside < channels ? (uint32_t)beside : channels;
}

// The hint of message `k` of the rank's `n` messages of the step: `n`, the number of messages that
// the receiver expects in its step, and a number that no other message of the step has. Phases of
// other chunks in the dimension, where they have channels of their own, are taken to be as busy.
static struct cc_hint hint_of(const struct walk *walk, const struct coll_send *send, uint32_t k,
                              uint32_t n)
{
    const struct phase_run *run = walk->run;
    uint32_t beside = phases_beside(run);
    // children have ports of their own at an aggregator
    bool shared = send->peer < run->n_members;
    uint32_t received =
        shared ? run->algorithm->n_recvs(&run->shape, send->peer, send->peer_step) : 1;
    return (struct cc_hint){.at_source = n * beside,
                            .at_destination = received * beside,
                            .turn = 1 + walk->member + k * run->n_walks};
}

struct transfer_request walk_request(const struct walk *walk, const struct coll_send *send)
{
    const struct phase_run *run = walk->run;
    const struct comm_job *job = run->comm->job;
    return (struct transfer_request){
        .src = node_of(run, walk->member),
        .dst = node_of(run, send->peer),
        .bytes = send->bytes,
        .job = job->job,
        .channel = job->channels > 1 ? run->chunk % job->channels : 0,
        .cls = job->cls,
        .transport = job->transport,
        .joined = true,
        .token = token_of(walk, send->peer, send->peer_step) | (send->reduce ? TOKEN_REDUCE : 0),
    };
}

static void post(struct walk *walk, const struct coll_send *send, struct cc_hint hint, ps_t now)
{
    const struct phase_run *run = walk->run;
    const struct communicator *c = run->comm;
    const struct comm_job *job = c->job;
    count(walk, send, now);
    struct transfer_request request = walk_request(walk, send);
    request.hint = hint;
    request.origin = (struct message_origin){.op = coll_op_name(run->instance->request.op),
                                             .name = run->instance->request.name,
                                             .communicator = c->index,
                                             .collective = run->instance->number,
                                             .chunk = run->chunk,
                                             .phase = run->index,
                                             .step = walk->step};
    tally_add(job->messages, 1);
    job->transfer->post(job->transfer->net, &request, now);
}

static void issue(struct walk *walk, ps_t now)
{
    struct phase_run *run = walk->run;
    uint32_t n = run->algorithm->n_sends(&run->shape, walk->member, walk->step);
    for (uint32_t k = 0; k < n; k++) {
        struct coll_send send = run->algorithm->send(&run->shape, walk->member, walk->step, k);
        post(walk, &send, hint_of(walk, &send, k, n), now);
    }
}

static ps_t reduction_ps(const struct coll_schedule *s, uint64_t bytes)
{
    return s->reduce_bps ? serialization_ps(bytes, s->reduce_bps) : 0;
}

static void delay(struct walk *walk, ps_t at, ps_t now)
{
    const struct comm_job *job = walk->run->comm->job;
    walk->delayed = true;
    walk->path = path_take(job->path_book, now);
    tally_add(job->delays, 1);
    sim_timer_start(job->engine, &walk->timer, at);
}

// Returns the delay that noise of the rank's host adds before its present step.
static ps_t noise_ps(const struct walk *walk)
{
    const struct phase_run *run = walk->run;
    const struct communicator *c = run->comm;
    const struct comm_job *job = c->job;
    if (job->noise.mean_ps == 0)
        return 0;
    uint64_t of = hash_mix((uint64_t)run->instance->number << 32 | run->chunk);
    uint64_t key =
        hash_mix(of + ((uint64_t)c->index << 40) + ((uint64_t)run->index << 32) + walk->step);
    return noise_draw_ps(&job->noise, job->seed, comm_rank(c, run_member(run, walk->member)), key);
}

// Leave the step if all its messages have arrived. Returns false if the rank must wait for messages
// or a delay.
static bool leaves_step(struct walk *walk, ps_t now)
{
    const struct phase_run *run = walk->run;
    const struct coll_schedule *s = &run->comm->schedule;
    if (walk->now.messages < run->algorithm->n_recvs(&run->shape, walk->member, walk->step))
        return false;
    if (is_aggregator(walk)) {
        if (walk->step + 1 < walk->steps)
            slot_give(walk);
        walk_next_step(walk);
        return true;
    }
    ps_t wait = s->endpoint_ps + reduction_ps(s, walk->now.reduce_bytes);
    walk_next_step(walk);
    // The step that begins now is the one whose noise is drawn.
    wait += noise_ps(walk);
    if (wait > 0)
        delay(walk, now + wait, now);
    return wait == 0;
}

static void walk_end(struct walk *walk, ps_t now)
{
    const struct communicator *c = walk->run->comm;
    if (is_aggregator(walk))
        return;
    if (c->timed)
        sim_timer_end(c->job->engine, &walk->timer);
    // The end of a member's part changes what all members share.
    engine_lock(c->job->engine);
    scheduler_member_done(walk->run, walk->member, now);
    engine_unlock(c->job->engine);
}

// Issue the current step, and continue as long as nothing has to be waited for.
static void walk_on(struct walk *walk, ps_t now)
{
    do {
        if (walk->step == walk->steps) {
            walk_end(walk, now);
            return;
        }
        issue(walk, now);
    } while (leaves_step(walk, now));
}

static void on_timer(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct walk *walk = timer->data;
    const struct comm_job *job = walk->run->comm->job;
    uint32_t path = path_own(job->path_book, walk->path);
    path_extend(job->path_book, path, PATH_SCHEDULED, e->now_ps);
    uint32_t before = path_enter(job->path_book, path);
    walk->delayed = false;
    tally_add(job->delays, -1);
    walk_on(walk, e->now_ps);
    path_leave(job->path_book, before);
}

// A rank may send only from its own events. So a phase that is admitted in another rank's event is
// started by a timer, even if the delay is 0.
void walk_begin(struct walk *walk, ps_t now)
{
    const struct communicator *c = walk->run->comm;
    uint32_t rank = comm_rank(c, run_member(walk->run, walk->member));
    walk->begun = true;
    if (c->timed && comm_is_by_rank(c->job))
        sim_timer_init(c->job->engine, &walk->timer, rank, on_timer, walk);
    else if (c->timed)
        sim_timer_init_locked(c->job->engine, &walk->timer, rank, on_timer, walk);
    if (c->timed)
        delay(walk, now + c->schedule.endpoint_ps + noise_ps(walk), now);
    else
        walk_on(walk, now);
}

void comm_delivered(struct comm_job *job, uint64_t token, uint64_t bytes, ps_t now)
{
    if (job->rendezvous != NULL && (token & RENDEZVOUS_TOKEN) != 0) {
        rendezvous_delivered(job->rendezvous, token, now);
        return;
    }
    if (job->library != NULL) {
        executor_delivered(job->library, token, now);
        return;
    }
    if (job->streams != NULL) {
        streams_delivered(job, token, now);
        return;
    }
    uint64_t index = token >> TOKEN_WALK_SHIFT & ((UINT64_C(1) << TOKEN_WALK_BITS) - 1);
    uint32_t step = (uint32_t)(token & ((UINT64_C(1) << TOKEN_STEP_BITS) - 1));
    struct walk *walk = __atomic_load_n(&job->walks, __ATOMIC_ACQUIRE)[index];
    SIM_ASSERT(job->engine, walk->member, step >= walk->step);
    struct arrivals *arrivals = walk_arrivals(walk, step);
    arrivals->messages++;
    if (token & TOKEN_REDUCE)
        arrivals->reduce_bytes += bytes;
    if (is_aggregator(walk))
        slot_take(walk, arrivals, bytes);
    walk->sums.network_ps += now;
    walk->sums.on_the_way--;
    if (walk->begun && !walk->delayed && step == walk->step && leaves_step(walk, now))
        walk_on(walk, now);
}

void comm_entered(struct comm_job *job, uint64_t token, ps_t now)
{
    if (job->library != NULL)
        executor_entered(job->library, token, now);
}

void comm_sent(struct comm_job *job, uint64_t token, ps_t now)
{
    if (job->library != NULL)
        executor_sent(job->library, token, now);
    else if (job->streams != NULL)
        streams_sent(job, token, now);
}

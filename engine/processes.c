// SPDX-License-Identifier: MIT
// The windows of a simulation of several processes. Each processes the events of its own shards;
// then all exchange the packets that cross, and their calls. Before a window they agree on its
// beginning, and on whether the order of events is needed: then a window is an instant. What is
// deferred to the end of the instant has the order of events, and the run ends with an instant
// anyway.
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/calls.h"
#include "engine/parcel.h"
#include "engine/shards_internal.h"

/* ---- exchanges ---- */

// Send the parcels, and receive into p->in. Returns false if a process does not answer.
static bool exchange(struct shards *p)
{
    const struct collwire_processes *all = p->processes;
    if (p->lost)
        return false;
    for (uint32_t q = 0; q < all->n; q++)
        p->out[q] = (struct collwire_bytes){p->parcels[q].bytes, p->parcels[q].n};
    p->lost = all->exchange(all->ctx, p->out, p->in);
    for (uint32_t q = 0; q < all->n; q++)
        mailbox_clear(&p->parcels[q]);
    if (p->lost)
        p->agreed = LOOP_LOST;
    return !p->lost;
}

// Send one note to all processes.
static bool tell(struct shards *p, const void *note, size_t bytes)
{
    for (uint32_t q = 0; q < p->processes->n; q++)
        if (q != p->processes->rank)
            memcpy(mailbox_put(&p->parcels[q], bytes), note, bytes);
    return exchange(p);
}

// What this process has received from `process`, as a mailbox to be read.
static struct mailbox parcel_of(const struct shards *p, uint32_t process)
{
    const struct collwire_bytes *in = &p->in[process];
    return (struct mailbox){.bytes = (unsigned char *)(uintptr_t)in->data, .n = in->n};
}

static const void *told(const struct shards *p, uint32_t process)
{
    struct mailbox parcel = parcel_of(p, process);
    size_t at = 0;
    return mailbox_next(&parcel, &at);
}

void shards_sum(struct shards *p, uint64_t *values, uint32_t n)
{
    if (!shards_is_shared(p) || !tell(p, values, n * sizeof *values))
        return;
    for (uint32_t q = 0; q < p->processes->n; q++)
        for (uint32_t i = 0; q != p->processes->rank && i < n; i++)
            values[i] += ((const uint64_t *)told(p, q))[i];
}

ps_t shards_latest(struct shards *p, ps_t time)
{
    ps_t latest = time;
    if (!shards_is_shared(p) || !tell(p, &time, sizeof time))
        return time;
    for (uint32_t q = 0; q < p->processes->n; q++) {
        const ps_t *theirs = q != p->processes->rank ? told(p, q) : &time;
        latest = *theirs > latest ? *theirs : latest;
    }
    return latest;
}

static void pack(struct mailbox *parcel, const struct mailbox *box)
{
    void *part = mailbox_put(parcel, box->n);
    if (box->n > 0)
        memcpy(part, box->bytes, box->n);
}

// Append the letters of all shards of this process, one shard after the other.
static void pack_letters(struct shards *p, uint32_t process)
{
    uint32_t to = shards_shard_of_process(p, process);
    size_t bytes = 0;
    for (uint32_t i = 0; i < p->n_own; i++)
        bytes += shards_box(p, i, to)->n;
    unsigned char *part = mailbox_put(&p->parcels[process], bytes);
    for (uint32_t i = 0; i < p->n_own; i++) {
        struct mailbox *box = shards_box(p, i, to);
        if (box->n > 0)
            memcpy(part, box->bytes, box->n);
        part += box->n;
        mailbox_clear(box);
    }
}

// Returns the time before which all events are known; at the last instant of a window more events
// may follow.
static ps_t final_ps(const struct shards *p) { return p->done_ps - 1; }

// A parcel: letters, the log of calls, and to process 0 a report.
static void pack_parcel(struct shards *p, uint32_t process)
{
    pack_letters(p, process);
    pack(&p->parcels[process], &p->calls.log);
    if (process == 0 && p->report.hand_over) {
        struct parcel report = {0};
        p->report.hand_over(p->report.ctx, &report, final_ps(p));
        const struct mailbox box = {.bytes = report.bytes, .n = report.n};
        pack(&p->parcels[0], &box);
        parcel_free(&report);
    }
}

static struct mailbox next_part(const struct mailbox *parcel, size_t *at)
{
    uint64_t bytes;
    memcpy(&bytes, parcel->bytes + *at, sizeof bytes); // engine/mailbox.c
    const void *part = mailbox_next(parcel, at);
    return (struct mailbox){.bytes = (unsigned char *)(uintptr_t)part, .n = bytes};
}

static void open_parcel(struct shards *p, uint32_t process)
{
    const struct mailbox parcel = parcel_of(p, process);
    uint32_t from = shards_shard_of_process(p, process);
    size_t at = 0;
    mailbox_next(&parcel, &at); // the note
    const struct mailbox letters = next_part(&parcel, &at);
    p->hooks.arrive(p->hooks.ctx, from, &letters);
    const struct mailbox log = next_part(&parcel, &at);
    calls_repeat(p, from, &log);
    if (p->processes->rank == 0 && p->report.hand_over) {
        const struct mailbox box = next_part(&parcel, &at);
        struct parcel report = parcel_read(box.bytes, box.n);
        p->report.hand_over(p->report.ctx, &report, final_ps(p));
    }
}

// Exchange letters and calls, and a note for all. Returns false if a process does not answer.
static bool exchange_parcels(struct shards *p, const void *note, size_t bytes)
{
    for (uint32_t i = 0; i < p->n_own; i++)
        p->hooks.close(p->hooks.ctx, i);
    for (uint32_t q = 0; q < p->processes->n; q++)
        if (q != p->processes->rank) {
            const struct mailbox box = {.bytes = (unsigned char *)(uintptr_t)note, .n = bytes};
            pack(&p->parcels[q], &box);
            pack_parcel(p, q);
        }
    bool whole = exchange(p);
    mailbox_clear(&p->calls.log);
    for (uint32_t i = 0; i < p->n_own; i++)
        p->sent_ps[i] = PS_NEVER;
    for (uint32_t q = 0; whole && q < p->processes->n; q++)
        if (q != p->processes->rank)
            open_parcel(p, q);
    return whole;
}

// End a window. Deferred work may send packets and make calls, so the exchange is repeated.
static void processes_exchange(struct shards *p)
{
    exchange_parcels(p, NULL, 0);
    deferral_catch_up(p);
}

/* ---- agreement ---- */

struct say {
    ps_t first_ps, now_ps; // first_ps: of its first event, departure without an event, or letter
    struct event first;
    uint64_t events, internal;
    enum loop_end wanted;
    bool stopped; // the engine of this process alone has been stopped: it cannot write its captures
    uint64_t spent_ns, busy_ns; // since the first window, and in windows
    struct process_facts facts;
};

static struct say own(struct shards *p)
{
    const struct event first = tiles_first_event(p);
    struct say say = {.first_ps = first.at_ps,
                      .first = first,
                      .now_ps = p->engines[p->n]->now_ps,
                      .wanted = p->wanted,
                      .stopped = p->engines[p->n]->stopped,
                      .facts = p->hooks.facts(p->hooks.ctx),
                      .spent_ns = (uint64_t)(1e9 * (monotonic_s() - p->began_s)),
                      .busy_ns = (uint64_t)(1e9 * p->busy_s)};
    for (uint32_t i = 0; i < p->n_own; i++) {
        const struct engine *e = p->engines[i];
        if (e->events > 0 && e->now_ps > say.now_ps)
            say.now_ps = e->now_ps;
        say.events += e->events;
        say.internal += e->internal;
        say.first_ps = p->next_ps[i] < say.first_ps ? p->next_ps[i] : say.first_ps;
        say.first_ps = p->sent_ps[i] < say.first_ps ? p->sent_ps[i] : say.first_ps;
    }
    return say;
}

static void add(struct say *sum, const struct say *say)
{
    sum->first_ps = say->first_ps < sum->first_ps ? say->first_ps : sum->first_ps;
    sum->first = event_before(say->first, sum->first) ? say->first : sum->first;
    sum->now_ps = say->now_ps > sum->now_ps ? say->now_ps : sum->now_ps;
    sum->stopped |= say->stopped;
    sum->events += say->events;
    sum->internal += say->internal;
    sum->wanted = say->wanted > sum->wanted ? say->wanted : sum->wanted;
    sum->facts.holds += say->facts.holds;
    sum->facts.retrying += say->facts.retrying;
    sum->facts.flows += say->facts.flows;
    sum->spent_ns += say->spent_ns;
    sum->busy_ns += say->busy_ns;
}

#define LOOK_FIRST_S 0.05
#define EARLY_S 1.0 // before this time a restart in one process loses little
#define LATER 2.0   // later, several processes must take this many times as long as one

// Returns true if the run takes longer in several processes than in one, because processes without
// work wait for the others at the end of every window. Compared after 0.05 s, 0.1 s, 0.2 s and so
// on, by sums that are the same in all processes.
static bool one_is_faster(struct shards *p, const struct say *sum)
{
    double spent_s = 1e-9 * (double)sum->spent_ns / p->processes->n,
           busy_s = 1e-9 * (double)sum->busy_ns;
    if (p->trial.never || spent_s < p->look_s)
        return false;
    p->look_s = 2 * spent_s;
    return spent_s > (spent_s < EARLY_S ? 1 : LATER) * busy_s;
}

// Exchange with the others how far this process is, and compute the sums. Returns the first event
// of all processes, or PS_NEVER if the run is to end.
static ps_t agree(struct shards *p)
{
    struct engine *common = p->engines[p->n];
    struct say sum = own(p);
    if (!exchange_parcels(p, &sum, sizeof sum))
        return PS_NEVER;
    for (uint32_t q = 0; q < p->processes->n; q++)
        if (q != p->processes->rank)
            add(&sum, told(p, q));
    for (uint32_t i = 0; i < p->n_own; i++) {
        p->counts.events += p->engines[i]->events;
        p->engines[i]->events = p->engines[i]->internal = 0;
    }
    common->now_ps = sum.now_ps;
    common->events += sum.events;
    common->internal += sum.internal;
    common->stopped = sum.stopped;
    p->all = sum.facts;
    p->first = sum.first;
    p->agreed = sum.wanted;
    if (p->agreed == LOOP_DONE && one_is_faster(p, &sum))
        p->agreed = LOOP_APART;
    if (p->limit_events > 0 && !common->stopped && engine_model_events(common) >= p->limit_events)
        engine_stop(common);
    return p->agreed == LOOP_DONE ? sum.first_ps : PS_NEVER;
}

/* ---- steps ---- */

// Process a window of one event, the first one of all processes. Work that it defers is done at
// once in all processes.
static void first_event(struct shards *p)
{
    ps_t at_ps = p->first.at_ps;
    if (!shards_is_elsewhere(p, event_node(p->first.key)))
        tiles_process(p, p->first);
    shards_exchange(p, at_ps);
    p->done_ps = at_ps > p->done_ps ? at_ps : p->done_ps;
    p->counts.windows++;
}

bool processes_step(struct shards *p)
{
    struct engine *common = p->engines[p->n];
    if (p->began_s <= 0)
        p->began_s = monotonic_s();
    ps_t first_ps = agree(p), shared_ps = event_queue_first(&common->queue).at_ps;
    ps_t at_ps = first_ps < shared_ps ? first_ps : shared_ps;
    if (p->agreed != LOOP_DONE || at_ps == PS_NEVER || at_ps > common->horizon_ps ||
        (common->stopped && at_ps > common->now_ps))
        return false;
    if (shared_ps < first_ps) {
        shards_common_event(p, shared_ps);
        processes_exchange(p);
        return !p->lost;
    }
    ps_t until_ps = at_ps + p->lookahead_ps;
    if (shared_ps < until_ps) // the common event is the last of its instant
        until_ps = shared_ps + 1;
    if (common->horizon_ps < until_ps)
        until_ps = common->horizon_ps + 1;
    enum shards_order order = p->hooks.order(p->hooks.ctx, until_ps);
    // The time of order() is overhead of several processes: it is not counted as work.
    double began_s = monotonic_s();
    if (order == ORDER_EVENTS && p->first.at_ps == at_ps) {
        first_event(p);
    } else {
        bool instant = common->stopped || order != ORDER_NONE;
        shards_window(p, at_ps, instant ? at_ps + 1 : until_ps, instant);
    }
    p->busy_s += monotonic_s() - began_s;
    processes_exchange(p);
    p->current = common;
    return !p->lost;
}

/* ---- life ---- */

void processes_init(struct shards *p, uint32_t n_nodes)
{
    if (!p->processes)
        return;
    p->look_s = LOOK_FIRST_S;
    p->parcels = memory_zeroed(p->processes->n, sizeof *p->parcels);
    p->sent_ps = memory_zeroed(p->n_own, sizeof *p->sent_ps);
    for (uint32_t i = 0; i < p->n_own; i++)
        p->sent_ps[i] = PS_NEVER;
    p->out = memory_zeroed(p->processes->n, sizeof *p->out);
    p->in = memory_zeroed(p->processes->n, sizeof *p->in);
    calls_timers_init(p, n_nodes);
}

void processes_free(struct shards *p)
{
    for (uint32_t q = 0; p->processes && q < p->processes->n; q++)
        mailbox_free(&p->parcels[q]);
    free(p->parcels);
    free(p->sent_ps);
    free(p->out);
    free(p->in);
    calls_timers_free(p);
}

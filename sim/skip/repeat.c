// SPDX-License-Identifier: MIT
// Repeats the calls of a period while the network rests, and lets the network take part again.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/skip/skip_internal.h"

/* ---- calls up ---- */

static void repeat_delivered(struct skip *s, const struct skip_call *call, ps_t now)
{
    struct hosts *hosts = &s->fabric->hosts;
    uint64_t token = s->period.tokens[call->message];
    hosts->arriving = s->log.arrivals[call->detail];
    hosts->arriving.sent_ps += s->period.base_ps;
    s->client.delivered(s->client.ctx, token, now);
}

// Extrapolate the totals of an account that lasts longer than a period.
static void grow_totals(const struct skip *s, uint32_t flow, struct sender_totals *t)
{
    const uint64_t *growth = s->period.growth + s->second.flows[flow].account_at;
    uint64_t times = s->period.times + 1; // since the period was recorded
    t->window_ps += (ps_t)(times * growth[ACCOUNT_WINDOW]);
    t->pace_ps += (ps_t)(times * growth[ACCOUNT_PACE]);
    t->paused_ps += (ps_t)(times * growth[ACCOUNT_PAUSED]);
    t->timeout_ps += (ps_t)(times * growth[ACCOUNT_TIMEOUT]);
    t->sent_bytes += times * growth[ACCOUNT_SENT];
    t->resent_bytes += times * growth[ACCOUNT_RESENT];
}

static void repeat_last_packet(struct skip *s, const struct skip_call *call, ps_t now)
{
    const struct skip_period *p = &s->period;
    struct sender_account account = s->log.accounts[call->detail];
    bool spanning = p->spanning[call->flow];
    account.path = p->paths[call->flow];
    account.now.at_ps += spanning ? s->first.at_ps : p->base_ps;
    account.mark.at_ps += p->base_ps;
    if (spanning) {
        grow_totals(s, call->flow, &account.now);
        if (account.marked)
            grow_totals(s, call->flow, &account.mark);
    }
    s->observer.last_packet(s->observer.ctx, p->tokens[call->message], &account, now);
}

static void repeat_ended(struct skip *s, const struct skip_call *call, ps_t now)
{
    struct message m = s->log.ended[call->detail];
    m.token = s->period.tokens[call->message];
    const struct message_end end = sender_message_end(s->fabric->hosts.senders[call->flow], &m);
    s->observer.message_ended(s->observer.ctx, &end, now);
}

// Make the next call, with those that are made within it.
static void make_call(struct skip *s)
{
    struct skip_period *p = &s->period;
    const struct skip_call call = s->log.calls[p->at++];
    ps_t now = p->base_ps + call.now_ps;
    switch ((enum skip_call_kind)call.kind) {
    case CALL_DELIVERED:
        repeat_delivered(s, &call, now);
        break;
    case CALL_SENT:
        s->client.sent(s->client.ctx, p->tokens[call.message], now);
        break;
    case CALL_ENDED:
        repeat_ended(s, &call, now);
        break;
    case CALL_BUSY:
        p->paths[call.flow] = s->observer.busy(s->observer.ctx, call.flow, now);
        break;
    case CALL_IDLE:
        s->observer.idle(s->observer.ctx, call.flow, p->paths[call.flow]);
        p->paths[call.flow] = 0;
        break;
    case CALL_LAST_PACKET:
        repeat_last_packet(s, &call, now);
        break;
    case CALL_POST: // made by the layers above
        break;
    }
    if (p->at != call.end)
        p->differs = true; // the layers above have posted less than in the period
}

/* ---- posts ---- */

static bool as_recorded(const struct skip *s, const struct transfer_request *request, ps_t now)
{
    const struct skip_period *p = &s->period;
    const struct engine *e = &s->fabric->engine;
    const struct skip_call *call = &s->log.calls[p->at];
    return p->at < s->log.n && call->kind == CALL_POST &&
           call->event_ps == e->now_ps - p->base_ps && call->event_key == e->now_key &&
           call->order_key == engine_order_key(e) && call->now_ps == now - p->base_ps &&
           skip_same_request(&s->log.posts[call->detail], request);
}

static void keep_extra(struct skip *s, const struct transfer_request *request, ps_t now)
{
    struct skip_period *p = &s->period;
    struct path_book *book = &s->delivery->path_book;
    if (p->n_extra == p->cap_extra)
        p->extra = memory_grow(p->extra, &p->cap_extra, sizeof *p->extra);
    p->extra[p->n_extra++] = (struct skip_extra){
        .request = *request,
        .now_ps = now,
        .path = path_thread(book)->current ? path_hold(book, path_thread(book)->current) : 0,
        .late = path_thread(book)->late};
    p->differs = true;
}

void skip_repeat_post(struct skip *s, const struct transfer_request *request, ps_t now)
{
    struct skip_period *p = &s->period;
    if (p->differs || !as_recorded(s, request, now)) {
        keep_extra(s, request, now);
        return;
    }
    uint32_t end = s->log.calls[p->at++].end;
    p->tokens[s->n_start + p->n_posted++] = request->token;
    while (p->at < end)
        make_call(s);
}

/* ---- the network takes part again ---- */

static void shift_state(struct skip *s)
{
    struct skip_period *p = &s->period;
    struct state *st = &s->second.state;
    uint32_t n_tokens = s->n_names;
    memset(s->names, 0xff, n_tokens * sizeof *s->names);
    for (uint32_t i = 0; i < s->n_start; i++)
        s->names[s->second.tokens[i]] = (uint32_t)p->tokens[i];
    st->mode = STATE_SHIFT;
    st->growth = p->growth;
    st->periods = p->times;
    st->shift_ps = (ps_t)p->times * p->length_ps;
    st->at = st->n_timers = 0;
    st->tokens = s->names;
    st->n_tokens = n_tokens;
    s->visit.dormant = p->dormant;
    s->visit.at_rest = p->at_rest;
    skip_visit(s, st);
    SIM_ASSERT(&s->fabric->engine, -1, st->at == st->n_counts);
    st->mode = STATE_SAVE;
}

// Put the network's events into the queue, and take out the events of the layers above.
static struct event *swap_events(struct skip *s, size_t *n_above)
{
    struct engine *e = &s->fabric->engine;
    struct skip_period *p = &s->period;
    const struct state *st = &s->second.state;
    struct event *above = memory_zeroed(e->queue.n + 1, sizeof *above);
    *n_above = e->queue.n;
    event_queue_copy(&e->queue, above);
    size_t n = 0;
    for (size_t i = 0; i < p->n_events; i++) {
        struct sim_timer *timer = skip_timer(e, p->events[i]);
        if (event_kind(p->events[i].key) == EVENT_TIMER) {
            if (timer)
                timer->queued_ps = PS_NEVER;
            continue;
        }
        p->events[n] = p->events[i];
        p->events[n++].at_ps += st->shift_ps;
    }
    event_queue_replace(&e->queue, p->events, n, p->base_ps);
    for (size_t i = 0; i < st->n_timers; i++) {
        struct sim_timer *timer = st->timers[i];
        timer->queued_ps = timer->at_ps;
        if (timer->at_ps != PS_NEVER)
            event_queue_push(&e->queue,
                             (struct event){timer->at_ps, event_timer_key(timer->node, timer->id)});
    }
    return above;
}

// Add events to the queue. The queue is built anew, because looking for the network's next event
// may have moved its wheel far ahead.
static void join_events(struct engine *e, const struct event *more, size_t n_more)
{
    size_t n = e->queue.n;
    struct event *all = memory_zeroed(n + n_more + 1, sizeof *all);
    event_queue_copy(&e->queue, all);
    memcpy(all + n, more, n_more * sizeof *all);
    event_queue_replace(&e->queue, all, n + n_more, e->now_ps);
    free(all);
}

// From now on the network's calls reach the ledger again.
static void go_on(struct skip *s)
{
    struct hosts *hosts = &s->fabric->hosts;
    for (uint32_t flow = 0; flow < hosts->flows.n; flow++)
        if (hosts->senders[flow]->cold.time_path != 0)
            hosts->senders[flow]->cold.time_path = s->period.paths[flow];
    skip_set_mode(s, SKIP_WATCH);
}

// Post to the hosts what has been posted while the network rested.
static void feed_recorded(struct skip *s)
{
    const struct skip_call call = s->log.calls[s->swallowed++];
    struct transfer_request request = s->log.posts[call.detail];
    request.token = s->period.tokens[call.message];
    hosts_post(&s->fabric->hosts, &request, s->period.base_ps + call.now_ps);
}

static void feed_extra(struct skip *s)
{
    struct skip_period *p = &s->period;
    struct path_book *book = &s->delivery->path_book;
    go_on(s);
    for (size_t i = 0; i < p->n_extra; i++) {
        const struct skip_extra extra = p->extra[i];
        uint32_t before = path_enter(book, extra.path);
        path_thread(book)->late = extra.late;
        hosts_post(&s->fabric->hosts, &extra.request, extra.now_ps);
        path_leave(book, before);
    }
    p->n_extra = 0;
}

void skip_swallow(struct skip *s, enum skip_call_kind kind)
{
    const struct skip_period *p = &s->period;
    size_t index = s->swallowed++;
    SIM_ASSERT(&s->fabric->engine, -1, index < p->at && s->log.calls[index].kind == kind);
    uint32_t end = s->log.calls[index].end;
    while (s->swallowed < end && s->swallowed < p->at)
        feed_recorded(s); // its calls are swallowed too
    if (p->differs && p->within && index == p->call)
        feed_extra(s);
}

static struct event order_of(const struct engine *e)
{
    return (struct event){e->now_ps, engine_order_key(e)};
}

// Simulate the network from the beginning of the present repetition up to the last event.
static void catch_up(struct skip *s, struct event last)
{
    struct engine *e = &s->fabric->engine;
    const struct skip_period *p = &s->period;
    for (;;) {
        struct event next = event_queue_first(&e->queue), post = {PS_NEVER, UINT64_MAX};
        const struct skip_call *call = &s->log.calls[s->swallowed];
        if (s->mode == SKIP_REJOIN && s->swallowed < p->at && call->kind == CALL_POST)
            post = (struct event){p->base_ps + call->event_ps, call->order_key};
        if (event_before(post, next)) {
            e->now_ps = post.at_ps;
            e->now_key = call->event_key;
            feed_recorded(s);
            continue;
        }
        if (event_before(last, next))
            return;
        event_queue_pop(&e->queue, &next);
        engine_process(e, next);
    }
}

void skip_rejoin(struct skip *s)
{
    struct engine *e = &s->fabric->engine;
    struct skip_period *p = &s->period;
    size_t n_above;
    const struct event last = order_of(e);
    const uint64_t now_key = e->now_key, late_key = e->late_key;
    const ps_t late_ps = e->late_ps;
    shift_state(s);
    struct event *above = swap_events(s, &n_above);
    s->mode = SKIP_REJOIN;
    s->swallowed = 0;
    catch_up(s, last);
    SIM_ASSERT(e, -1, s->swallowed == p->at);
    e->now_ps = last.at_ps;
    e->now_key = now_key;
    e->late_ps = late_ps;
    e->late_key = late_key;
    if (s->mode == SKIP_REJOIN)
        feed_extra(s);
    join_events(e, above, n_above);
    free(above);
    skip_count(s);
}

/* ---- repeating ---- */

static void next_repetition(struct skip *s)
{
    struct skip_period *p = &s->period;
    for (uint32_t i = 0; i < s->n_start; i++)
        p->next[i] = p->tokens[p->carry[i]];
    uint64_t *tokens = p->tokens;
    p->tokens = p->next;
    p->next = tokens;
    p->base_ps += p->length_ps;
    p->times++;
    p->at = p->n_posted = 0;
}

static struct event next_call(const struct skip *s)
{
    const struct skip_call *call = &s->log.calls[s->period.at];
    return (struct event){s->period.base_ps + call->event_ps, call->event_key};
}

static void repeat_call(struct skip *s, struct event event)
{
    struct engine *e = &s->fabric->engine;
    struct skip_period *p = &s->period;
    e->now_ps = event.at_ps;
    e->now_key = event.key;
    p->call = p->at;
    p->within = true;
    make_call(s);
}

// Process an event above the network. Returns false, and does nothing, if it may act on the
// network.
static bool process_above(struct skip *s, struct event event)
{
    struct engine *e = &s->fabric->engine;
    const struct sim_timer *timer = skip_timer(e, event);
    if (timer && !skip_is_above(timer))
        return false;
    event_queue_pop(&e->queue, &event);
    s->period.within = false;
    engine_process(e, event);
    return true;
}

size_t skip_repeat(struct skip *s, size_t max)
{
    struct engine *e = &s->fabric->engine;
    struct skip_period *p = &s->period;
    size_t done = 0;
    while (done < max) {
        struct event above = event_queue_first(&e->queue), call = next_call(s);
        bool up = event_before(call, above);
        ps_t next_ps = up ? call.at_ps : above.at_ps;
        bool missing = up && s->log.calls[p->at].kind == CALL_POST;
        if (e->stopped || next_ps > e->horizon_ps || missing)
            break;
        if (up)
            repeat_call(s, call);
        else if (!process_above(s, above))
            break;
        done++;
        if (p->differs)
            break;
        if (p->at == s->log.n)
            next_repetition(s);
    }
    if (done < max || p->differs)
        skip_rejoin(s);
    return done;
}

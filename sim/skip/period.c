// SPDX-License-Identifier: MIT
// Finds a period: saves the network's state at two moments and compares.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/skip/skip_internal.h"
#include "switch/state.h"

/* ---- budget ---- */

// Bytes of a snapshot that cost as much as a hop of a packet (both about 90 instructions).
#define BYTES_PER_HOP 10
#define SHARE 0.015       // share of the work that may be spent on snapshots,
#define LAST_TRY 0.05     // share of the work before the last try
#define FREE_HOPS 50000   // and the hops that may be spent on them in any run
#define FAILURES_MAX 3    // failures in a row after which tries pause
#define CALLS_MAX 8000000 // limit of the calls of a period

static double hops(const struct skip *s) { return (double)s->fabric->net.packet_hops; }

// Estimates the hops of the whole run by the share of the bytes that have been delivered.
static double expected_hops(const struct skip *s)
{
    double total = (double)s->all->workload->total_bytes;
    double done = (double)s->fabric->hosts.counters.delivered_bytes;
    return done > 0 && total > done ? hops(s) * total / done : hops(s);
}

// A try costs two snapshots. The last affordable try waits until the transient at the beginning of
// the run has passed.
static bool affordable(const struct skip *s)
{
    double expected = expected_hops(s), budget = FREE_HOPS + SHARE * expected - s->spent;
    double try = 2 * (double)(s->first.state.n + s->first.state.n_counts * 8) / BYTES_PER_HOP;
    bool is_last = 2 * try > budget;
    return try <= budget && hops(s) >= (double)s->patience &&
           (!is_last || hops(s) >= LAST_TRY * expected);
}

/* ---- snapshots ---- */

void skip_snapshot_free(struct skip_snapshot *snapshot)
{
    state_free(&snapshot->state);
    free(snapshot->flows);
    free(snapshot->tokens);
    *snapshot = (struct skip_snapshot){0};
}

void skip_visit(struct skip *s, struct state *st)
{
    hosts_visit(&s->visit, st);
    if (!st->refused)
        switches_visit(&s->fabric->switches, st);
}

// Name the messages that exist, in the order of flows.
static void number_messages(struct skip *s, struct skip_snapshot *shot)
{
    const struct hosts *hosts = &s->fabric->hosts;
    uint32_t n = ledger_entries(s->delivery);
    if (n > s->n_names) {
        s->names = memory_resize(s->names, 2 * (size_t)n, sizeof *s->names);
        s->numbers = memory_resize(s->numbers, 2 * (size_t)n, sizeof *s->numbers);
        memset(s->names + s->n_names, 0xff, (2 * (size_t)n - s->n_names) * sizeof *s->names);
        s->n_names = 2 * n;
    }
    memset(s->numbers, 0xff, s->n_names * sizeof *s->numbers);
    shot->n_tokens = 0;
    for (uint32_t flow = 0; flow < hosts->flows.n; flow++)
        for (uint32_t m = hosts->senders[flow]->oldest; m != MESSAGE_NIL;
             m = hosts_message(hosts, m)->next) {
            if (shot->n_tokens == shot->cap_tokens)
                shot->tokens = memory_grow(shot->tokens, &shot->cap_tokens, sizeof *shot->tokens);
            uint64_t token = hosts_message(hosts, m)->token;
            s->numbers[token] = shot->n_tokens;
            shot->tokens[shot->n_tokens++] = token;
        }
}

static void take(struct skip *s, struct skip_snapshot *shot)
{
    struct engine *e = &s->fabric->engine;
    const struct hosts *hosts = &s->fabric->hosts;
    network_catch_up(&s->fabric->net, e->now_ps);
    number_messages(s, shot);
    state_clear(&shot->state);
    shot->state.mode = STATE_SAVE;
    shot->state.now_ps = e->now_ps;
    shot->state.tokens = s->numbers;
    shot->state.n_tokens = s->n_names;
    shot->at_ps = e->now_ps;
    shot->key = e->now_key;
    shot->hops = s->fabric->net.packet_hops;
    shot->bytes = hosts->counters.delivered_bytes;
    skip_visit(s, &shot->state);
    s->spent += (double)(shot->state.n + 8 * shot->state.n_counts) / BYTES_PER_HOP;
    if (shot->state.refused)
        return;
    shot->flows = memory_resize(shot->flows, hosts->flows.n + 1, sizeof *shot->flows);
    memcpy(shot->flows, s->visit.flows, (hosts->flows.n + 1) * sizeof *shot->flows);
    shot->n_flows = hosts->flows.n;
}

/* ---- comparison ---- */

#define CHANGES "what repeats at a rank does not repeat in the network: "

static void why(struct skip *s, const char *text)
{
    snprintf(s->all->why, sizeof s->all->why, "%s", text);
}

// Returns true if both saved forms differ in [at, end), and names the first difference in `why`.
static bool differs(struct skip *s, size_t at, size_t end)
{
    const unsigned char *a = s->first.state.bytes, *b = s->second.state.bytes;
    if (memcmp(a + at, b + at, end - at) == 0)
        return false;
    while (a[at] == b[at])
        at++;
    char name[96];
    state_name(&s->second.state, at, name, sizeof name);
    snprintf(s->all->why, sizeof s->all->why, CHANGES "%s", name);
    return true;
}

static bool count_differs(struct skip *s, size_t count)
{
    const struct state *st = &s->second.state;
    uint64_t growth = st->counts[count] - s->first.state.counts[count];
    uint64_t length = (uint64_t)(s->second.at_ps - s->first.at_ps);
    if (!st->stamps[count] || growth == 0 || growth == length)
        return false;
    char name[96];
    state_count_name(st, count, name, sizeof name);
    snprintf(s->all->why, sizeof s->all->why, CHANGES "%s", name);
    return true;
}

// Returns true if an account began anew in the period with other totals; else totals may grow.
static bool account_differs(struct skip *s, uint32_t flow)
{
    size_t at = s->second.flows[flow].account_at;
    if (at == STATE_NO_ACCOUNT)
        return false;
    const uint64_t *a = s->first.state.counts + at, *b = s->second.state.counts + at;
    if (a[ACCOUNT_BEGIN] == b[ACCOUNT_BEGIN])
        return false;
    for (unsigned i = ACCOUNT_BEGIN + 1; i < ACCOUNT_COUNTS; i++)
        if (a[i] != b[i]) {
            why(s, "a flow's account does not repeat");
            return true;
        }
    return false;
}

// Returns true if a flow was inactive in the period; s->una is among the first counts.
static bool is_dormant(const struct skip *s, uint32_t flow)
{
    return s->first.flows[flow].dormant && s->second.flows[flow].dormant &&
           s->first.state.counts[flow] == s->second.state.counts[flow];
}

static bool same_bytes(const struct skip *s, size_t at, size_t end)
{
    return memcmp(s->first.state.bytes + at, s->second.state.bytes + at, end - at) == 0;
}

// Returns true if the private state of the flow's policy differs only in parts that are not read
// without congestion.
static bool policy_rests(const struct skip *s, uint32_t flow)
{
    const struct flow_state *f = &s->second.flows[flow];
    return !same_bytes(s, f->policy_at, f->policy_end) && !f->stirred &&
           f->rest_end > f->policy_end && same_bytes(s, f->policy_end, f->rest_end);
}

static bool flow_differs(struct skip *s, uint32_t flow)
{
    const struct flow_state *a = &s->first.flows[flow], *b = &s->second.flows[flow];
    if (is_dormant(s, flow))
        return false;
    if (b->hidden && b->stirred) {
        why(s, CHANGES "a policy changes a flow that has nothing to send");
        return true;
    }
    if (differs(s, b[0].at, b->policy_at) || differs(s, b->rest_end, b[1].at) ||
        (!policy_rests(s, flow) && differs(s, b->policy_at, b->policy_end)))
        return true;
    for (size_t c = b[0].count_at; c < b[1].count_at; c++)
        if (count_differs(s, c))
            return true;
    if (a->account_at != b->account_at) {
        why(s, "a flow's account does not repeat");
        return true;
    }
    return account_differs(s, flow);
}

// Returns true if the network's state is the same in both snapshots, relative to their times.
static bool returned(struct skip *s)
{
    const struct skip_snapshot *a = &s->first, *b = &s->second;
    const struct {
        bool differs;
        const char *what;
    } sums[] = {
        {a->n_flows != b->n_flows, "flows have been opened"},
        {a->n_tokens != b->n_tokens, "the number of messages"},
        {a->key != b->key, "the event at which messages are delivered"},
        {a->state.n != b->state.n, "the number of packets"},
        {a->state.n_counts != b->state.n_counts, "flows with something to send"},
        {s->log.n == 0 || a->at_ps == b->at_ps, "no time has passed"},
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (sums[i].differs) {
            snprintf(s->all->why, sizeof s->all->why, CHANGES "%s", sums[i].what);
            return false;
        }
    for (uint32_t flow = 0; flow <= a->n_flows; flow++)
        if (a->flows[flow].at != b->flows[flow].at ||
            a->flows[flow].count_at != b->flows[flow].count_at) {
            why(s, CHANGES "the messages of a flow");
            return false;
        }
    if (differs(s, 0, b->flows[0].at) || differs(s, b->flows[b->n_flows].at, b->state.n))
        return false;
    for (size_t c = b->n_flows; c < b->flows[0].count_at; c++)
        if (count_differs(s, c))
            return false;
    for (size_t c = b->flows[b->n_flows].count_at; c < b->state.n_counts; c++)
        if (count_differs(s, c))
            return false;
    for (uint32_t flow = 0; flow < b->n_flows; flow++)
        if (flow_differs(s, flow))
            return false;
    return true;
}

/* ---- the network rests ---- */

struct sim_timer *skip_timer(const struct engine *e, struct event event)
{
    return event_kind(event.key) == EVENT_TIMER
               ? e->timers[event_node(event.key)].slots[event_timer_id(event.key)]
               : NULL;
}

// Returns true for events of the network: packets, and timers that belong neither to the layers
// above nor to the simulation itself.
static bool is_network_event(const struct fabric *fabric, struct event event)
{
    const struct sim_timer *timer = skip_timer(&fabric->engine, event);
    if (event_kind(event.key) != EVENT_TIMER)
        return true;
    return timer && !timer->locks && timer->node < fabric->graph.n_nodes;
}

// Take the network's events out of the queue.
static void rest(struct skip *s)
{
    struct engine *e = &s->fabric->engine;
    struct skip_period *p = &s->period;
    size_t n = e->queue.n, n_above = 0;
    p->events = memory_resize(p->events, n + 1, sizeof *p->events);
    struct event *above = memory_zeroed(n + 1, sizeof *above);
    event_queue_copy(&e->queue, p->events);
    p->n_events = 0;
    for (size_t i = 0; i < n; i++) {
        struct event event = p->events[i];
        if (is_network_event(s->fabric, event))
            p->events[p->n_events++] = event;
        else
            above[n_above++] = event;
    }
    event_queue_replace(&e->queue, above, n_above, e->now_ps);
    free(above);
}

static void describe_flows(struct skip *s)
{
    struct skip_period *p = &s->period;
    const struct state *a = &s->first.state, *b = &s->second.state;
    size_t n = s->second.n_flows;
    p->dormant = memory_resize(p->dormant, n + 1, sizeof *p->dormant);
    p->at_rest = memory_resize(p->at_rest, n + 1, sizeof *p->at_rest);
    p->spanning = memory_resize(p->spanning, n + 1, sizeof *p->spanning);
    p->paths = memory_resize(p->paths, n + 1, sizeof *p->paths);
    for (uint32_t flow = 0; flow < n; flow++) {
        size_t account = s->second.flows[flow].account_at;
        p->dormant[flow] = is_dormant(s, flow);
        p->at_rest[flow] = !p->dormant[flow] && policy_rests(s, flow);
        p->spanning[flow] = !p->dormant[flow] && account != STATE_NO_ACCOUNT &&
                            a->counts[account] == b->counts[account];
        p->paths[flow] = s->fabric->hosts.senders[flow]->cold.time_path;
    }
}

static void begin_repeating(struct skip *s)
{
    struct skip_period *p = &s->period;
    const struct state *a = &s->first.state, *b = &s->second.state;
    size_t n_messages = s->n_start + s->log.n_posts;
    p->length_ps = s->second.at_ps - s->first.at_ps;
    p->base_ps = s->second.at_ps;
    p->times = p->at = p->n_posted = p->n_extra = 0;
    p->differs = p->within = false;
    p->growth = memory_resize(p->growth, b->n_counts + 1, sizeof *p->growth);
    for (size_t c = 0; c < b->n_counts; c++)
        p->growth[c] = b->counts[c] - a->counts[c];
    p->carry = memory_resize(p->carry, s->n_start + 1, sizeof *p->carry);
    p->tokens = memory_resize(p->tokens, n_messages + 1, sizeof *p->tokens);
    p->next = memory_resize(p->next, n_messages + 1, sizeof *p->next);
    for (uint32_t i = 0; i < s->n_start; i++) {
        p->carry[i] = s->names[s->second.tokens[i]];
        p->tokens[i] = s->second.tokens[i];
    }
    describe_flows(s);
    rest(s);
    skip_set_mode(s, SKIP_REPEAT);
    s->result.stretches++;
}

void skip_set_mode(struct skip *s, enum skip_mode mode)
{
    s->mode = mode;
    if (mode == SKIP_WATCH)
        skip_detach(s);
    else
        skip_attach(s);
}

/* ---- moments ---- */

static void begin_recording(struct skip *s)
{
    memcpy(s->names, s->numbers, s->n_names * sizeof *s->names);
    s->n_start = s->first.n_tokens;
    skip_log_clear(&s->log);
    s->spoiled = false;
    s->tried_until = s->watch.n + s->tried;
    skip_set_mode(s, SKIP_RECORD);
}

// Look for another period, but only after some more hops (s->patience).
static void give_up(struct skip *s)
{
    skip_set_mode(s, SKIP_WATCH);
    uint32_t doublings = s->failures < 40 ? s->failures : 40;
    s->patience =
        s->fabric->net.packet_hops +
        (uint64_t)((double)(s->second.hops > s->first.hops ? s->second.hops - s->first.hops : 1)) *
            (UINT64_C(1) << doublings);
}

static void swap_snapshots(struct skip *s)
{
    struct skip_snapshot shot = s->first;
    s->first = s->second;
    s->second = shot;
}

void skip_boundary(struct skip *s)
{
    bool recorded = s->mode == SKIP_RECORD;
    struct skip_snapshot *shot = recorded ? &s->second : &s->first;
    s->result.snapshots++;
    take(s, shot);
    if (shot->state.refused) {
        why(s, shot->state.refused);
        s->failures++;
        give_up(s);
        return;
    }
    if (!recorded) {
        begin_recording(s);
        return;
    }
    if (!s->spoiled && returned(s)) {
        s->failures = 0;
        begin_repeating(s);
        return;
    }
    if (++s->failures % FAILURES_MAX != 0 && affordable(s)) {
        swap_snapshots(s);
        begin_recording(s);
    } else {
        give_up(s);
    }
}

/* ---- deliveries ---- */

#define QUIET_SHARES                                                                               \
    16 // messages at each other rank, on average, after which a silent rank is no longer watched

static void request_boundary(struct skip *s)
{
    s->due = true;
    s->fabric->engine.horizon_ps = INT64_MIN; // which ends engine_drain() after this event
}

void skip_look_elsewhere(struct skip *s)
{
    const uint64_t *delivered = &s->fabric->hosts.counters.delivered_bytes;
    if (s->watch.n != s->watched_before) {
        s->watched_before = s->watch.n;
        s->quiet_until_bytes = *delivered + QUIET_SHARES * s->fabric->net.n_ranks * s->watch.bytes;
    } else if (*delivered > s->quiet_until_bytes) {
        ledger_watch(s->delivery, LEDGER_WATCHES_ALL); // watch the next rank that gets a message
    }
}

static void watch_rank(struct skip *s, uint32_t rank)
{
    skip_watch_begin(&s->watch, rank);
    ledger_watch(s->delivery, rank);
}

static struct skip_load *load_before(struct skip *s, uint64_t deliveries)
{
    return &s->loads[(s->watch.n - deliveries) % WATCH_SIGNS];
}

// True if the last two periods had the same number of hops and ended with the same number of
// packets. This costs nothing, and spares tries that would fail. After a success the numbers of
// skipped periods are missing.
static bool is_steady(struct skip *s, uint32_t period)
{
    const struct skip_load *now = load_before(s, 0), *a = load_before(s, period),
                           *b = load_before(s, 2 * (uint64_t)period);
    return s->watch.n > 2 * (uint64_t)period && 2 * period < WATCH_SIGNS &&
           now->hops - a->hops == a->hops - b->hops && now->packets == a->packets &&
           now->packets == b->packets;
}

void skip_delivered(void *ctx, uint32_t rank, uint32_t src, uint64_t bytes, ps_t age_ps, ps_t now)
{
    struct skip *s = ctx;
    if (s->watch.n == 0 || rank != s->watch.rank)
        watch_rank(s, rank);
    skip_watch_note(&s->watch, src, bytes, age_ps, now);
    *load_before(s, 0) = (struct skip_load){s->fabric->net.packet_hops, s->fabric->net.meta.n_used};
    if (s->due || s->mode == SKIP_REPEAT)
        return;
    if (s->mode == SKIP_RECORD) {
        if (!skip_watch_repeats(&s->watch, s->tried) || s->log.n > CALLS_MAX || s->spoiled) {
            if (!s->spoiled)
                why(s, "what had repeated at a rank changed");
            s->failures++;
            give_up(s);
        } else if (s->watch.n >= s->tried_until) {
            request_boundary(s);
        }
        return;
    }
    s->tried = skip_watch_period(&s->watch);
    if (s->tried > 0)
        s->result.candidates++;
    bool succeeds = s->result.stretches > 0 && s->failures == 0;
    if (s->tried > 0 && (succeeds || is_steady(s, s->tried)) && affordable(s))
        request_boundary(s);
}

void skip_spoil(struct skip *s, const char *reason)
{
    if (s->mode != SKIP_RECORD || s->spoiled)
        return;
    s->spoiled = true;
    why(s, reason);
}

void skip_name_post(struct skip *s, uint64_t token)
{
    while (token >= s->n_names) {
        uint32_t n = s->n_names > 0 ? 2 * s->n_names : 1024;
        s->names = memory_resize(s->names, n, sizeof *s->names);
        s->numbers = memory_resize(s->numbers, n, sizeof *s->numbers);
        memset(s->names + s->n_names, 0xff, (n - s->n_names) * sizeof *s->names);
        memset(s->numbers + s->n_names, 0xff, (n - s->n_names) * sizeof *s->numbers);
        s->n_names = n;
    }
    s->names[token] = s->n_start + (uint32_t)s->log.n_posts;
}

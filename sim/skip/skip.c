// SPDX-License-Identifier: MIT
// Fast-forward in a run: the conditions for it, and the loop that replaces the engine's own.
#include "sim/skip/skip.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/skip/skip_internal.h"

// Process at most `max` events, like engine_drain().
static size_t drain(void *ctx, size_t max)
{
    struct skip *s = ctx;
    struct engine *e = &s->fabric->engine;
    size_t done = 0;
    s->horizon_ps = e->horizon_ps;
    skip_look_elsewhere(s);
    while (done < max) {
        if (s->mode == SKIP_REPEAT) {
            done += skip_repeat(s, max - done);
            continue;
        }
        done += engine_drain(e, max - done);
        if (s->due) {
            e->horizon_ps = s->horizon_ps;
            s->due = false;
            skip_boundary(s);
        } else if (done < max) {
            break;
        }
    }
    e->horizon_ps = s->horizon_ps;
    return done;
}

static ps_t posted_ps(void *ctx, uint64_t token) { return ledger_message(ctx, token).posted_ps; }

void skip_count(struct skip *s)
{
    struct skip_period *p = &s->period;
    s->result.periods += p->times;
    s->result.skipped_ps += (ps_t)p->times * p->length_ps;
    s->result.hops += p->times * (s->second.hops - s->first.hops);
    p->times = 0;
}

void skip_ahead(const struct skipping *skipping, uint64_t *hops, uint64_t *bytes)
{
    const struct skip *s = skipping->skip;
    if (!s || s->mode != SKIP_REPEAT)
        return;
    *hops += s->period.times * (s->second.hops - s->first.hops);
    *bytes += s->period.times * (s->second.bytes - s->first.bytes);
}

static void skip_free(struct skip *s)
{
    struct skip_period *p = &s->period;
    hosts_visit_free(&s->visit);
    skip_snapshot_free(&s->first);
    skip_snapshot_free(&s->second);
    skip_log_free(&s->log);
    free(p->growth);
    free(p->dormant);
    free(p->at_rest);
    free(p->spanning);
    free(p->carry);
    free(p->tokens);
    free(p->next);
    free(p->paths);
    free(p->events);
    free(p->extra);
    free(s->names);
    free(s->numbers);
    free(s);
}

// Returns the first feature of the network whose state is not declared or cannot repeat; NULL =
// none.
static const char *undeclared(struct skip *s)
{
    s->first.state.mode = STATE_SAVE;
    skip_visit(s, &s->first.state);
    return s->first.state.refused;
}

static struct skip *skip_new(struct skipping *all)
{
    struct skip *s = memory_zeroed(1, sizeof *s);
    s->all = all;
    s->fabric = all->fabric;
    s->delivery = all->delivery;
    s->driver = (struct engine_driver){drain, s};
    s->visit = (struct hosts_visit){
        .hosts = &all->fabric->hosts, .posted_ps = posted_ps, .ctx = all->delivery};
    s->result.tried = true;
    return s;
}

static void changed(void *ctx, const char *what) { skip_spoil(ctx, what); }

static void say(struct skipping *all, const char *why)
{
    snprintf(all->why, sizeof all->why, "%s", why);
}

void skipping_init(struct skipping *all, struct delivery *delivery, const struct workload *workload)
{
    all->fabric = delivery->fabric;
    all->delivery = delivery;
    all->workload = workload;
}

void skip_begin(struct skipping *all)
{
    struct fabric *fabric = all->fabric;
    if (fabric->spec->fast_forward == FAST_FORWARD_OFF) {
        say(all, "engine.fast_forward is off");
        return;
    }
    all->result.tried = true;
    const char *why =
        fabric_is_analytical(fabric) ? "the network is in closed form" : fabric->skipping_obstacle;
    struct skip *s = why ? NULL : skip_new(all);
    if (s)
        why = undeclared(s);
    if (why) {
        say(all, why);
        if (s)
            skip_free(s);
        return;
    }
    all->skip = s;
    s->client = fabric->hosts.client;
    s->observer = fabric->hosts.observer;
    s->delivery->watch = (struct delivery_watch){.delivered = skip_delivered, .ctx = s};
    fabric->watch = (struct fabric_watch){changed, s};
    ledger_watch(s->delivery, LEDGER_WATCHES_ALL);
    fabric->engine.driver = &s->driver;
}

void skip_finish(struct skipping *all)
{
    struct skip *s = all->skip;
    if (!s)
        return;
    if (s->mode == SKIP_REPEAT)
        skip_rejoin(s);
    skip_detach(s);
    ledger_watch(s->delivery, LEDGER_WATCHES_NONE);
    s->delivery->watch = (struct delivery_watch){0};
    all->fabric->watch = (struct fabric_watch){0};
    all->fabric->engine.driver = NULL;
    all->result = s->result;
    if (all->result.candidates == 0)
        say(all, "nothing repeated where messages were delivered");
    else if (all->why[0] == '\0')
        say(all, all->result.stretches > 0
                     ? "all repetitions that were found were skipped; the rest had to show them"
                     : "what repeated did not go on long enough to be skipped");
    skip_free(s);
    all->skip = NULL;
}

// SPDX-License-Identifier: MIT
// Skipping in a run: where it can be tried, and how it takes the place of the engine's loop.
#include "sim/skip.h"

#include <stdlib.h>

#include "engine/memory.h"
#include "sim/skip_internal.h"

// Process at most `max` events, like engine_drain().
static size_t drain(void *ctx, size_t max)
{
    struct skip *s = ctx;
    struct engine *e = &s->sim->engine;
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

// Why a run cannot be skipped, whatever happens in it; NULL = it can.
static const char *hindrance(const struct sim *sim)
{
    if (sim_is_analytical(sim))
        return "the network is in closed form";
    if (sim->captures)
        return "packets are captured (`captures`)";
    if (sim->sampler)
        return "series are sampled (`report.sample`)";
    if (sim->spec->limits.events > 0)
        return "events are counted (`limits.events`)";
    if (sim->admission)
        return "receivers admit messages (`transport.admission`)";
    if (sim->circuits)
        return "circuits change (`topology`)";
    if (sim->nic_at)
        return "NICs are not ideal (`nic`)";
    return NULL;
}

static ps_t posted_ps(void *ctx, uint64_t token)
{
    return sim_ledger_message(ctx, token).posted_ps;
}

void skip_count(struct skip *s)
{
    struct skip_period *p = &s->period;
    s->result.periods += p->times;
    s->result.skipped_ps += (ps_t)p->times * p->length_ps;
    s->result.hops += p->times * (s->second.hops - s->first.hops);
    p->times = 0;
}

void sim_skip_ahead(const struct skip *s, uint64_t *hops, uint64_t *bytes)
{
    if (s->mode != SKIP_REPEAT)
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

// What the network has that is not declared, or keeps state that cannot repeat; NULL = nothing.
static const char *undeclared(struct skip *s)
{
    s->first.state.mode = STATE_SAVE;
    skip_visit(s, &s->first.state);
    return s->first.state.refused;
}

static struct skip *skip_new(struct sim *sim)
{
    struct skip *s = memory_zeroed(1, sizeof *s);
    s->sim = sim;
    s->driver = (struct engine_driver){drain, s};
    s->visit = (struct hosts_visit){.hosts = &sim->hosts, .posted_ps = posted_ps, .ctx = sim};
    s->result.tried = true;
    return s;
}

void sim_skip_init(struct sim *sim)
{
    if (sim->spec->fast_forward == FAST_FORWARD_OFF) {
        snprintf(sim->skip_why, sizeof sim->skip_why, "%s", "engine.fast_forward is off");
        return;
    }
    sim->skipped.tried = true;
    const char *why = hindrance(sim);
    struct skip *s = why ? NULL : skip_new(sim);
    if (s)
        why = undeclared(s);
    if (why) {
        snprintf(sim->skip_why, sizeof sim->skip_why, "%s", why);
        if (s)
            skip_free(s);
        return;
    }
    sim->skip = s;
    s->client = sim->hosts.client;
    s->observer = sim->hosts.observer;
    sim_ledger_watch(sim, LEDGER_WATCHES_ALL);
    sim->engine.driver = &s->driver;
}

void sim_skip_finish(struct sim *sim)
{
    struct skip *s = sim->skip;
    if (!s)
        return;
    if (s->mode == SKIP_REPEAT)
        skip_rejoin(s);
    skip_detach(s);
    sim_ledger_watch(sim, LEDGER_WATCHES_NONE);
    sim->engine.driver = NULL;
    sim->skipped = s->result;
    if (sim->skipped.candidates == 0)
        snprintf(sim->skip_why, sizeof sim->skip_why, "%s",
                 "nothing repeated where messages were delivered");
    else if (sim->skip_why[0] == '\0')
        snprintf(sim->skip_why, sizeof sim->skip_why, "%s",
                 sim->skipped.stretches > 0
                     ? "all repetitions that were found were skipped; the rest had to show them"
                     : "what repeated did not go on long enough to be skipped");
    skip_free(s);
    sim->skip = NULL;
}

// SPDX-License-Identifier: MIT
// Whether all messages may end within a window: then the run may be over, or programs that read ahead may
// decide that nothing is left to happen, and both need the order of events across parts.
//
// They cannot, if there is a computation or a start after the window; a message that takes longer even on an
// empty network; or a sender with data not yet sent, which needs a round trip. A flow fails after several
// retransmission timeouts, so while one has had a timeout, events are processed in order. So are they where
// limits.events may be reached.
#include "sim/parts.h"
#include "transport/host.h"

// True if what the sender has not sent yet cannot be acknowledged before `until_ps`: twice the first link.
static bool is_witness(const struct sim *sim, uint32_t flow, ps_t until_ps)
{
    const struct sender *s = sim->hosts.senders[flow];
    const struct network *net = &sim->net;
    if (s->nxt >= s->tail || s->failed || s->cls == NET_CLASS_CONTROL)
        return false;
    ps_t way_ps =
        port_link(net, s->port)->delay_ps + port_link(net, net->cold[s->port].peer)->delay_ps;
    return sim->engine.now_ps + way_ps >= until_ps;
}

static bool any_witness(struct sim *sim, ps_t until_ps)
{
    struct sim_parts *parts = sim->parts;
    uint32_t n = sim->hosts.flows.n;
    if (n == 0)
        return false;
    if (parts->witness < n && is_witness(sim, parts->witness, until_ps))
        return true;
    if (sim->engine.events < parts->look_at)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        parts->witness = parts->witness + 1 < n ? parts->witness + 1 : 0;
        if (is_witness(sim, parts->witness, until_ps))
            return true;
    }
    parts->look_at = sim->engine.events + n; // so that looking costs no more than the events
    return false;
}

// More events than a window can have: on each port the smallest frames back to back, and pauses; every timer of a
// flow or a rank as often as timers may fire.
static uint64_t most_events(const struct sim *sim)
{
    const struct sim_parts *parts = sim->parts;
    uint64_t window_ns = (uint64_t)(parts->partition->lookahead_ps / PS_PER_NS) + 2;
    return window_ns * (4 * (uint64_t)sim->hosts.flows.n + 4 * (uint64_t)sim->graph.n_ends) +
           4 * parts->frames_per_window;
}

bool sim_may_be_quiet(struct sim *sim, ps_t until_ps)
{
    const struct sim_parts *parts = sim->parts;
    uint64_t limit = sim->spec->limits.events;
    if (limit > 0 && limit < engine_model_events(&sim->engine) + most_events(sim))
        return true;
    uint32_t retrying = 0;
    for (uint32_t i = 0; i < parts->partition->n; i++)
        retrying += parts->hosts[i].n_retrying;
    if (retrying > 0 || sim->workload.takes_order)
        return true;
    return sim->workload.busy_until_ps < until_ps && parts->ends_ps < until_ps &&
           !any_witness(sim, until_ps);
}

void sim_quiet_posted(struct sim *sim, ps_t ends_ps)
{
    if (ends_ps > sim->parts->ends_ps)
        sim->parts->ends_ps = ends_ps;
}

void sim_quiet_failed(struct sim *sim) { sim->parts->ends_ps = 0; }

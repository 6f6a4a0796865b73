// SPDX-License-Identifier: MIT
// Faults of a scenario: links that lose packets, and links that fail and are repaired. A failed
// link loses all packets on it and all that are sent into it. After the detection delay every
// switch has routes without the link; the routing protocol is not modelled. The same holds for
// repairs.
#include <stdio.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "net/crossing.h"
#include "sim/port_patterns.h"
#include "sim/skip.h"

enum change { LINK_DOWN, LINK_UP, REROUTE, STORM, LANES_LOST, LANES_BACK, FLAP, FLAP_REROUTE };
#define CHANGES_MAX 9 // timers of one fault

#define STORM_PERIOD (20 * PS_PER_US)

struct fault_ports { // range in sim->fault_ports
    size_t first, n;
};

struct change_timer {
    struct sim_timer timer;
    const struct fault_spec *fault;
    struct fault_ports ports;
    struct sim *sim;
    enum change change;
    uint64_t n; // FLAP, FLAP_REROUTE: changes so far, down and up
};

// Store a port that a fault matches. Patterns are matched once, since a storm visits its ports
// every 20 us.
static void keep_port(void *ctx, uint32_t port)
{
    struct sim *sim = ctx;
    if (sim->n_fault_ports == sim->cap_fault_ports)
        sim->fault_ports =
            memory_grow(sim->fault_ports, &sim->cap_fault_ports, sizeof *sim->fault_ports);
    sim->fault_ports[sim->n_fault_ports++] = port;
}

static void keep_link(void *ctx, uint32_t port)
{
    keep_port(ctx, port);
    keep_port(ctx, ((struct sim *)ctx)->graph.ports[port].peer);
}

static struct fault_ports find_ports(struct sim *sim, const struct fault_spec *fault)
{
    struct fault_ports found = {.first = sim->n_fault_ports};
    port_patterns_match(&sim->graph, fault->at, fault->one_way ? keep_port : keep_link, sim);
    found.n = sim->n_fault_ports - found.first;
    return found;
}

static void each_port(struct sim *sim, struct fault_ports at, const struct fault_spec *fault,
                      void (*each)(struct sim *sim, uint32_t port, const struct fault_spec *fault))
{
    for (size_t i = 0; i < at.n; i++)
        each(sim, sim->fault_ports[at.first + i], fault);
}

static void set_loss(struct sim *sim, uint32_t port, const struct fault_spec *fault)
{
    struct fault *f = network_fault(&sim->net, port);
    f->rng = rng_init(sim->spec->seed, RNG_FAULT, port);
    if (fault->loss > 0)
        f->loss = fault->loss;
    if (fault->corruption > 0)
        f->corruption = fault->corruption;
    f->hits_pfc |= fault->pfc;
    if (sim->spec->dims[sim->graph.ports[port].dim].sw.llr)
        network_set_retry(&sim->net, port);
    struct loss_rule rule = {.every = fault->every,
                             .packets = fault->packets,
                             .n_packets = fault->n_packets,
                             .times = fault->times,
                             .blackout_packet = fault->blackout_packet,
                             .blackout_ps = fault->blackout_ps};
    if (rule.every > 0 || rule.n_packets > 0 || rule.blackout_packet > 0)
        fault_list(f, &rule);
}

static void go_down(struct sim *sim, uint32_t port, const struct fault_spec *fault)
{
    (void)fault;
    network_fault(&sim->net, port)->down = true;
}

static void come_up(struct sim *sim, uint32_t port, const struct fault_spec *fault)
{
    (void)fault;
    struct fault *f = network_fault(&sim->net, port);
    f->down = false;
    f->up_since_ps = sim->engine.now_ps;
}

static void learn(struct sim *sim, uint32_t port, const struct fault_spec *fault)
{
    (void)fault;
    sim->graph.ports[port].down = network_fault(&sim->net, port)->down;
}

// Pause every matching port for longer than the time to the next call: the lossless classes of the
// port, or all data classes if none is lossless.
static void storm(struct sim *sim, uint32_t port, const struct fault_spec *fault)
{
    (void)fault;
    const unsigned data = (1u << NET_DATA_CLASSES) - 1;
    uint8_t classes = sim_lossless(sim, sim->graph.ports[port].dim);
    if (classes == 0)
        classes = (uint8_t)(sim_classes_in_use(sim) & data);
    if (sim->graph.ports[port].node < sim->graph.n_ranks)
        port_send_pfc(network_of_port(&sim->net, port), port, classes, UINT16_MAX, NULL,
                      sim->engine.now_ps);
}

static void on_storm(struct change_timer *c, ps_t now)
{
    struct sim *sim = c->sim;
    each_port(sim, c->ports, c->fault, storm);
    // 65535 quanta of 64 byte times last 335 us at 100G; up to 1.6T they last longer than a period.
    if (now + STORM_PERIOD < c->fault->storm_end_ps) {
        sim_timer_start(&sim->engine, &c->timer, now + STORM_PERIOD);
        sim->housekeeping++;
    }
}

static void note(struct sim *sim, const struct change_timer *c, enum change change)
{
    static const char *const words[] = {[LINK_DOWN] = "down",
                                        [LINK_UP] = "up",
                                        [REROUTE] = "rerouted",
                                        [LANES_LOST] = "lanes lost",
                                        [LANES_BACK] = "lanes back"};
    if (sim->n_changes == sim->cap_changes)
        sim->changes = memory_grow(sim->changes, &sim->cap_changes, sizeof *sim->changes);
    sim->changes[sim->n_changes++] =
        (struct link_change){sim->engine.now_ps, c->fault->at, words[change]};
}

static void reroute(const struct change_timer *c)
{
    struct sim *sim = c->sim;
    each_port(sim, c->ports, c->fault, learn);
    struct err none = {0}; // the routes of the scenario have been checked
    sim_routes_build(sim, &none);
    err_free(&none);
    sim_routes_install(sim);
    hosts_reroute(&sim->hosts, sim->engine.now_ps);
}

// The time of change `n` of a link that flaps: even numbers are down, odd ones up.
static ps_t flap_at(const struct fault_spec *f, uint64_t n)
{
    return f->flap_ps + (ps_t)(n / 2) * f->flap_period_ps + (n % 2 > 0 ? f->flap_down_ps : 0);
}

// The change of a flap that is due, or of the routes after it. Schedules the next one.
static enum change next_flap(struct change_timer *c)
{
    const struct fault_spec *f = c->fault;
    ps_t after_ps = c->change == FLAP_REROUTE ? f->detect_ps : 0;
    enum change change = c->n % 2 > 0 ? LINK_UP : LINK_DOWN;
    if (++c->n < 2 * f->flap_count) {
        sim_timer_start(&c->sim->engine, &c->timer, flap_at(f, c->n) + after_ps);
        c->sim->housekeeping++;
    }
    return c->change == FLAP_REROUTE ? REROUTE : change;
}

// The rate of a link that has lost lanes. What it carries to a cut-through switch is stored there
// while another port of the switch is faster.
static void lose_lanes(struct sim *sim, uint32_t port, const struct fault_spec *fault)
{
    uint64_t rate_bps = sim->graph.ports[port].rate_bps;
    uint64_t left_bps = (uint64_t)((double)rate_bps * fault->rate_share);
    left_bps = left_bps > 0 ? left_bps : 1;
    network_change_rate(&sim->net, port, left_bps, 0, sim->engine.now_ps);
    sim->switches.ports[port].rate_bps = left_bps;
    if (fault->scale_buffers)
        sim_scale_buffers(sim, port, fault->rate_share);
}

static void regain_lanes(struct sim *sim, uint32_t port, const struct fault_spec *fault)
{
    const struct link *link = port_first_link(&sim->net, port);
    network_change_rate(&sim->net, port, sim_port_rate(sim, port), link->header_bytes,
                        sim->engine.now_ps);
    sim->switches.ports[port].rate_bps = sim->graph.ports[port].rate_bps;
    if (fault->scale_buffers)
        sim_scale_buffers(sim, port, 1);
}

static void on_change(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)e, (void)revents;
    struct change_timer *c = timer->data;
    struct sim *sim = c->sim;
    sim->housekeeping--;
    if (sim->skip)
        sim_skip_spoil(sim->skip, "a fault begins or ends (`faults`)");
    if (c->change == STORM) {
        on_storm(c, sim->engine.now_ps);
        return;
    }
    enum change change = c->change;
    if (change == FLAP || change == FLAP_REROUTE)
        change = next_flap(c);
    note(sim, c, change);
    switch (change) {
    case LINK_DOWN:
        each_port(sim, c->ports, c->fault, go_down);
        return;
    case LINK_UP:
        each_port(sim, c->ports, c->fault, come_up);
        return;
    case LANES_LOST:
    case LANES_BACK:
        each_port(sim, c->ports, c->fault, change == LANES_LOST ? lose_lanes : regain_lanes);
        return;
    default:
        reroute(c);
    }
}

void sim_faults_prepare(struct sim *sim)
{
    for (size_t i = 0; i < sim->n_fault_ports; i++)
        network_fault(&sim->net, sim->fault_ports[i]);
}

static void schedule(struct sim *sim, const struct fault_spec *fault, struct fault_ports ports,
                     enum change change, ps_t at_ps)
{
    struct change_timer *c = &sim->change_timers[sim->n_change_timers++];
    *c = (struct change_timer){.fault = fault, .ports = ports, .sim = sim, .change = change};
    sim_timer_init(&sim->engine, &c->timer, sim->graph.n_nodes, on_change, c);
    sim_timer_start(&sim->engine, &c->timer, at_ps);
    sim->housekeeping++;
}

static void schedule_flap(struct sim *sim, const struct fault_spec *f, struct fault_ports at)
{
    if (f->flap_period_ps == 0)
        return;
    schedule(sim, f, at, FLAP, f->flap_ps);
    if (f->detect_ps != PS_NEVER)
        schedule(sim, f, at, FLAP_REROUTE, f->flap_ps + f->detect_ps);
}

static void schedule_lanes(struct sim *sim, const struct fault_spec *f, struct fault_ports at)
{
    if (f->rate_share <= 0 || f->rate_share >= 1)
        return;
    for (size_t i = 0; i < at.n; i++) // a transmission may take longer than a lazy departure allows
        port_pin_departure_events(&sim->net, sim->fault_ports[at.first + i]);
    schedule(sim, f, at, LANES_LOST, f->rate_ps);
    if (f->rate_end_ps != PS_NEVER)
        schedule(sim, f, at, LANES_BACK, f->rate_end_ps);
}

void sim_faults_init(struct sim *sim, struct err *err)
{
    const struct spec *spec = sim->spec;
    if (spec->n_faults == 0)
        return;
    sim->change_timers = memory_zeroed(CHANGES_MAX * spec->n_faults, sizeof *sim->change_timers);
    for (size_t i = 0; i < spec->n_faults; i++) {
        const struct fault_spec *f = &spec->faults[i];
        char place[64];
        snprintf(place, sizeof place, "faults[%zu].at", i);
        struct fault_ports at = find_ports(sim, f);
        each_port(sim, at, f, set_loss);
        if (at.n == 0)
            err_add(err, place, "no place is called \"%s\" (try leaf0->spine1, rank3, *->spine0)",
                    f->at);
        if (f->storm_ps != PS_NEVER)
            schedule(sim, f, at, STORM, f->storm_ps);
        schedule_flap(sim, f, at);
        schedule_lanes(sim, f, at);
        if (f->down_ps == PS_NEVER)
            continue;
        schedule(sim, f, at, LINK_DOWN, f->down_ps);
        if (f->detect_ps != PS_NEVER)
            schedule(sim, f, at, REROUTE, f->down_ps + f->detect_ps);
        if (f->up_ps == PS_NEVER)
            continue;
        schedule(sim, f, at, LINK_UP, f->up_ps);
        if (f->detect_ps != PS_NEVER)
            schedule(sim, f, at, REROUTE, f->up_ps + f->detect_ps);
    }
}

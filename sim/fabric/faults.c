// SPDX-License-Identifier: MIT
// Faults of a scenario: links that lose packets, and links that fail and are repaired. A failed
// link loses all packets on it and all that are sent into it. After the detection delay every
// switch has routes without the link; the routing protocol is not modelled. The same holds for
// repairs.
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/crossing.h"
#include "sim/fabric/fabric_internal.h"
#include "sim/fabric/port_patterns.h"

enum change { LINK_DOWN, LINK_UP, REROUTE, STORM, LANES_LOST, LANES_BACK, FLAP, FLAP_REROUTE };
#define CHANGES_MAX 9 // timers of one fault

#define STORM_PERIOD (20 * PS_PER_US)

struct fault_ports { // range in fabric->fault_ports
    size_t first, n;
};

struct change_timer {
    struct sim_timer timer;
    const struct fault_spec *fault;
    struct fault_ports ports;
    struct fabric *fabric;
    enum change change;
    uint64_t n; // FLAP, FLAP_REROUTE: changes so far, down and up
};

// Store a port that a fault matches. Patterns are matched once, since a storm visits its ports
// every 20 us.
static void keep_port(void *ctx, uint32_t port)
{
    struct fabric *fabric = ctx;
    if (fabric->n_fault_ports == fabric->cap_fault_ports)
        fabric->fault_ports =
            memory_grow(fabric->fault_ports, &fabric->cap_fault_ports, sizeof *fabric->fault_ports);
    fabric->fault_ports[fabric->n_fault_ports++] = port;
}

static void keep_link(void *ctx, uint32_t port)
{
    keep_port(ctx, port);
    keep_port(ctx, ((struct fabric *)ctx)->graph.ports[port].peer);
}

static struct fault_ports find_ports(struct fabric *fabric, const struct fault_spec *fault)
{
    struct fault_ports found = {.first = fabric->n_fault_ports};
    // A fault hits both directions of a link unless it names one.
    port_patterns_match(&fabric->graph, fault->at, fault->one_way ? keep_port : keep_link, fabric);
    found.n = fabric->n_fault_ports - found.first;
    return found;
}

static void each_port(struct fabric *fabric, struct fault_ports at, const struct fault_spec *fault,
                      void (*each)(struct fabric *fabric, uint32_t port,
                                   const struct fault_spec *fault))
{
    for (size_t i = 0; i < at.n; i++)
        each(fabric, fabric->fault_ports[at.first + i], fault);
}

static void set_loss(struct fabric *fabric, uint32_t port, const struct fault_spec *fault)
{
    struct fault *f = network_fault(&fabric->net, port);
    f->rng = rng_init(fabric->spec->seed, RNG_FAULT, port);
    if (fault->loss > 0)
        f->loss = fault->loss;
    if (fault->corruption > 0)
        f->corruption = fault->corruption;
    f->hits_pfc |= fault->pfc;
    if (fabric->spec->dims[fabric->graph.ports[port].dim].sw.llr)
        // With link-level retry the link itself repeats lost frames.
        network_set_retry(&fabric->net, port);
    struct loss_rule rule = {.every = fault->every,
                             .packets = fault->packets,
                             .n_packets = fault->n_packets,
                             .times = fault->times,
                             .blackout_packet = fault->blackout_packet,
                             .blackout_ps = fault->blackout_ps};
    if (rule.every > 0 || rule.n_packets > 0 || rule.blackout_packet > 0)
        fault_list(f, &rule);
}

static void go_down(struct fabric *fabric, uint32_t port, const struct fault_spec *fault)
{
    (void)fault;
    network_fault(&fabric->net, port)->down = true;
}

static void come_up(struct fabric *fabric, uint32_t port, const struct fault_spec *fault)
{
    (void)fault;
    struct fault *f = network_fault(&fabric->net, port);
    f->down = false;
    // Packets that were sent into the link before it came up are lost all the same.
    f->up_since_ps = fabric->engine.now_ps;
}

static void learn(struct fabric *fabric, uint32_t port, const struct fault_spec *fault)
{
    (void)fault;
    fabric->graph.ports[port].down = network_fault(&fabric->net, port)->down;
}

// Pause every matching port for longer than the time to the next call: the lossless classes of the
// port, or all data classes if none is lossless. Only NICs storm, not switches.
static void storm(struct fabric *fabric, uint32_t port, const struct fault_spec *fault)
{
    (void)fault;
    const unsigned data = (1u << NET_DATA_CLASSES) - 1;
    uint8_t classes = fabric_lossless(fabric, fabric->graph.ports[port].dim);
    if (classes == 0)
        classes = (uint8_t)(fabric_classes_in_use(fabric) & data);
    uint32_t node = fabric->graph.ports[port].node;
    if (node < fabric->graph.n_ranks && !shards_is_elsewhere(fabric->shards, node))
        port_send_pfc(network_of_port(&fabric->net, port), port, classes, UINT16_MAX, NULL,
                      fabric->engine.now_ps);
}

static void on_storm(struct change_timer *c, ps_t now)
{
    struct fabric *fabric = c->fabric;
    each_port(fabric, c->ports, c->fault, storm);
    // 65535 quanta of 64 byte times last 335 us at 100G; up to 1.6T they last longer than a period.
    if (now + STORM_PERIOD < c->fault->storm_end_ps) {
        sim_timer_start(&fabric->engine, &c->timer, now + STORM_PERIOD);
        fabric->housekeeping++;
    }
}

static void note(struct fabric *fabric, const struct change_timer *c, enum change change)
{
    static const char *const words[] = {[LINK_DOWN] = "down",
                                        [LINK_UP] = "up",
                                        [REROUTE] = "rerouted",
                                        [LANES_LOST] = "lanes lost",
                                        [LANES_BACK] = "lanes back"};
    fabric_longest_keep(fabric);
    if (fabric->n_changes == fabric->cap_changes)
        fabric->changes =
            memory_grow(fabric->changes, &fabric->cap_changes, sizeof *fabric->changes);
    fabric->changes[fabric->n_changes++] =
        (struct link_change){fabric->engine.now_ps, c->fault->at, words[change]};
}

// Routes change only now: until the failure is detected, switches send into the dead link.
static void reroute(const struct change_timer *c)
{
    struct fabric *fabric = c->fabric;
    each_port(fabric, c->ports, c->fault, learn);
    struct err none = {0}; // the routes of the scenario have been checked
    fabric_routes_build(fabric, &none);
    err_free(&none);
    fabric_routes_install(fabric);
    hosts_reroute(&fabric->hosts, fabric->engine.now_ps);
}

// The time of change `n` of a link that flaps: even numbers are down, odd ones up.
static ps_t flap_at(const struct fault_spec *f, uint64_t n)
{
    return f->flap_ps + (ps_t)(n / 2) * f->flap_period_ps + (n % 2 > 0 ? f->flap_down_ps : 0);
}

// Returns the due change of a flapping link, or of the routes after it. Schedules the next change.
static enum change next_flap(struct change_timer *c)
{
    const struct fault_spec *f = c->fault;
    ps_t after_ps = c->change == FLAP_REROUTE ? f->detect_ps : 0;
    enum change change = c->n % 2 > 0 ? LINK_UP : LINK_DOWN;
    // A flap is over after flap_count times down and up.
    if (++c->n < 2 * f->flap_count) {
        sim_timer_start(&c->fabric->engine, &c->timer, flap_at(f, c->n) + after_ps);
        c->fabric->housekeeping++;
    }
    return c->change == FLAP_REROUTE ? REROUTE : change;
}

// Lower the rate of a link that has lost lanes. Its packets to a cut-through switch are then stored
// completely, since another port of the switch is faster.
static void lose_lanes(struct fabric *fabric, uint32_t port, const struct fault_spec *fault)
{
    uint64_t rate_bps = fabric->graph.ports[port].rate_bps;
    uint64_t left_bps = (uint64_t)((double)rate_bps * fault->rate_share);
    // A rate of 0 would have no finite time of transmission.
    left_bps = left_bps > 0 ? left_bps : 1;
    network_change_rate(&fabric->net, port, left_bps, 0, fabric->engine.now_ps);
    fabric->switches.ports[port].rate_bps = left_bps;
    if (fault->scale_buffers)
        fabric_scale_buffers(fabric, port, fault->rate_share);
}

static void regain_lanes(struct fabric *fabric, uint32_t port, const struct fault_spec *fault)
{
    // The link at the start of the run has the original rate and the number of bytes for
    // cut-through.
    const struct link *link = port_first_link(&fabric->net, port);
    network_change_rate(&fabric->net, port, fabric_port_rate(fabric, port), link->header_bytes,
                        fabric->engine.now_ps);
    fabric->switches.ports[port].rate_bps = fabric->graph.ports[port].rate_bps;
    if (fault->scale_buffers)
        fabric_scale_buffers(fabric, port, 1);
}

static void on_change(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)e, (void)revents;
    struct change_timer *c = timer->data;
    struct fabric *fabric = c->fabric;
    fabric->housekeeping--;
    if (c->change == STORM) {
        on_storm(c, fabric->engine.now_ps);
        return;
    }
    enum change change = c->change;
    if (change == FLAP || change == FLAP_REROUTE)
        change = next_flap(c);
    note(fabric, c, change);
    switch (change) {
    case LINK_DOWN:
        each_port(fabric, c->ports, c->fault, go_down);
        return;
    case LINK_UP:
        each_port(fabric, c->ports, c->fault, come_up);
        return;
    case LANES_LOST:
    case LANES_BACK:
        each_port(fabric, c->ports, c->fault, change == LANES_LOST ? lose_lanes : regain_lanes);
        return;
    default:
        reroute(c);
    }
}

void fabric_faults_prepare(struct fabric *fabric)
{
    for (size_t i = 0; i < fabric->n_fault_ports; i++)
        network_fault(&fabric->net, fabric->fault_ports[i]);
}

static void schedule(struct fabric *fabric, const struct fault_spec *fault,
                     struct fault_ports ports, enum change change, ps_t at_ps)
{
    struct change_timer *c = &fabric->change_timers[fabric->n_change_timers++];
    *c = (struct change_timer){.fault = fault, .ports = ports, .fabric = fabric, .change = change};
    sim_timer_init(&fabric->engine, &c->timer, fabric->graph.n_nodes, on_change, c);
    sim_timer_start(&fabric->engine, &c->timer, at_ps);
    fabric->housekeeping++;
}

static void schedule_flap(struct fabric *fabric, const struct fault_spec *f, struct fault_ports at)
{
    if (f->flap_period_ps == 0)
        return;
    schedule(fabric, f, at, FLAP, f->flap_ps);
    if (f->detect_ps != PS_NEVER)
        schedule(fabric, f, at, FLAP_REROUTE, f->flap_ps + f->detect_ps);
}

static void schedule_lanes(struct fabric *fabric, const struct fault_spec *f, struct fault_ports at)
{
    if (f->rate_share <= 0 || f->rate_share >= 1)
        return;
    for (size_t i = 0; i < at.n; i++) // a transmission may take longer than a lazy departure allows
        port_pin_departure_events(&fabric->net, fabric->fault_ports[at.first + i]);
    schedule(fabric, f, at, LANES_LOST, f->rate_ps);
    if (f->rate_end_ps != PS_NEVER)
        schedule(fabric, f, at, LANES_BACK, f->rate_end_ps);
}

void fabric_faults_init(struct fabric *fabric, struct err *err)
{
    const struct spec *spec = fabric->spec;
    if (spec->n_faults == 0)
        return;
    fabric->change_timers =
        memory_zeroed(CHANGES_MAX * spec->n_faults, sizeof *fabric->change_timers);
    for (size_t i = 0; i < spec->n_faults; i++) {
        const struct fault_spec *f = &spec->faults[i];
        char place[64];
        snprintf(place, sizeof place, "faults[%zu].at", i);
        struct fault_ports at = find_ports(fabric, f);
        each_port(fabric, at, f, set_loss);
        if (at.n == 0)
            port_patterns_unknown(&fabric->graph, f->at, place, err);
        if (f->storm_ps != PS_NEVER)
            schedule(fabric, f, at, STORM, f->storm_ps);
        schedule_flap(fabric, f, at);
        schedule_lanes(fabric, f, at);
        if (f->down_ps == PS_NEVER)
            continue;
        // Each change is followed by its own change of routes, after the delay of detection.
        schedule(fabric, f, at, LINK_DOWN, f->down_ps);
        if (f->detect_ps != PS_NEVER)
            schedule(fabric, f, at, REROUTE, f->down_ps + f->detect_ps);
        if (f->up_ps == PS_NEVER)
            continue;
        schedule(fabric, f, at, LINK_UP, f->up_ps);
        if (f->detect_ps != PS_NEVER)
            schedule(fabric, f, at, REROUTE, f->up_ps + f->detect_ps);
    }
}

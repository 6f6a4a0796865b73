// SPDX-License-Identifier: MIT
// Optical circuit switches in time: which circuits have light.
//
// The light of a matching lasts for its duration, then nothing passes for the time of a
// reconfiguration; circuits that the next matching has too keep their light. Ports follow the
// schedule: a port stops so early that its largest packet ends before the light does (the guard),
// and packets wait without loss. While a port waits, its retransmission timers stand still, as in a
// pause.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "net/crossing.h"
#include "sim/fabric/fabric_circuits.h"

static const struct circuit_params *params_of(const struct fabric *fabric, uint32_t dim)
{
    const struct dim_spec *spec = &fabric->spec->dims[dim];
    return spec->kind == topology_find("circuit") ? (const void *)spec->params : NULL;
}

/* ---- light ---- */

// Note in c->marked which circuits a phase has.
static void mark_phase(const struct circuit_switch *c, uint32_t phase)
{
    const struct circuit_phase *p = &c->schedule.phases[phase];
    memset(c->marked, 0, c->schedule.n_circuits * sizeof *c->marked);
    for (uint32_t i = p->first; i < p->first + p->count; i++)
        c->marked[c->schedule.lit[i]] = true;
}

static void set_circuit(const struct circuit_switch *c, uint32_t circuit, bool dark, ps_t now)
{
    for (int e = 0; e < 2; e++)
        port_set_dark(network_of_port(&c->fabric->net, c->ports[circuit][e]), c->ports[circuit][e],
                      dark, now);
}

// Set the ports of the circuits of `phase` that `other` does not have.
static void set_light(const struct circuit_switch *c, uint32_t phase, uint32_t other, bool dark,
                      ps_t now)
{
    const struct circuit_phase *p = &c->schedule.phases[phase];
    mark_phase(c, other);
    for (uint32_t i = p->first; i < p->first + p->count; i++)
        if (!c->marked[c->schedule.lit[i]])
            set_circuit(c, c->schedule.lit[i], dark, now);
}

static ps_t lasts_ps(const struct circuit_switch *c)
{
    return c->schedule.phases[c->phase].duration_ps;
}

// Returns true if the next change is needed: messages may wait for light, or events may post some.
static bool goes_on(const struct fabric *fabric)
{
    return fabric_messages_running(fabric) || !fabric_only_housekeeping(fabric);
}

static void on_change(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct circuit_switch *c = timer->data;
    uint32_t next = (c->phase + 1) % c->schedule.n_phases;
    ps_t at;
    // Dark and light alternate: the reconfiguration ends here, or it begins.
    if (c->dark) {
        set_light(c, next, c->phase, false, e->now_ps);
        c->phase = next;
        c->from_ps = e->now_ps;
        at = c->from_ps + lasts_ps(c) - c->guard_ps;
    } else {
        set_light(c, c->phase, next, true, e->now_ps);
        c->n_changes++;
        at = c->from_ps + lasts_ps(c) + c->params->reconfiguration_ps;
    }
    c->dark = !c->dark;
    if (goes_on(c->fabric))
        sim_timer_start(e, timer, at);
}

/* ---- building ---- */

// Ports of a rank are in the order of linking, which is that of circuits.
static void find_ports(struct circuit_switch *c)
{
    const struct graph *g = &c->fabric->graph;
    uint32_t *used = memory_zeroed(g->n_ranks, sizeof *used);
    c->ports = memory_zeroed(c->schedule.n_circuits, sizeof *c->ports);
    for (uint32_t i = 0; i < c->schedule.n_circuits; i++)
        for (int e = 0; e < 2; e++) {
            uint32_t rank = c->schedule.circuits[i].rank[e], first = 0;
            graph_ports_in(g, rank, c->dim, &first);
            c->ports[i][e] = first + used[rank]++;
        }
    free(used);
}

static void start(struct circuit_switch *c, struct err *err)
{
    struct fabric *fabric = c->fabric;
    char place[64];
    uint64_t rate = fabric->spec->dims[c->dim].links[0].rate_bps;
    c->guard_ps = serialization_ps(fabric_largest_packets(fabric, c->dim).full_wire + 64, rate);
    snprintf(place, sizeof place, "topology.dims[%u].duration", c->dim);
    // A single matching has light for ever.
    for (uint32_t i = 0; i < c->schedule.n_phases && c->schedule.n_phases > 1; i++)
        if (c->schedule.phases[i].duration_ps <= 2 * c->guard_ps) {
            char text[UNIT_TEXT];
            err_add(err, place, "is too short: two of the largest packets take %s",
                    human_time(2 * c->guard_ps, text));
            return;
        }
    if (c->schedule.n_phases < 2)
        return;
    c->marked = memory_zeroed(c->schedule.n_circuits, sizeof *c->marked);
    mark_phase(c, 0);
    for (uint32_t i = 0; i < c->schedule.n_circuits; i++)
        // The run begins with the light of the first matching.
        if (!c->marked[i])
            set_circuit(c, i, true, 0);
    sim_timer_init(&fabric->engine, &c->timer, fabric->graph.n_nodes, on_change, c);
    sim_timer_start(&fabric->engine, &c->timer, lasts_ps(c) - c->guard_ps);
}

static void check_pairs(const struct circuit_switch *c, struct err *err)
{
    const struct fabric *fabric = c->fabric;
    char place[64];
    snprintf(place, sizeof place, "topology.dims[%u].schedule", c->dim);
    for (uint32_t a = 0; a < fabric->graph.n_ranks; a++)
        for (uint32_t b = a + 1; b < fabric->graph.n_ranks; b++) {
            if (fabric_pair_joined(fabric, a, b))
                continue;
            err_add(err, place,
                    "no circuit joins rank %u and rank %u, and no other dimension does%s", a, b,
                    c->params->transit ? "" : " (with transit ranks forward)");
            return;
        }
}

void fabric_circuits_init(struct fabric *fabric, struct err *err)
{
    const struct circuit_switch *first = NULL;
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) {
        const struct circuit_params *params = params_of(fabric, d);
        if (!params)
            continue;
        if (!fabric->circuits)
            fabric->circuits = memory_zeroed(1, sizeof *fabric->circuits);
        struct circuit_switch *c = fabric->circuits->of_dim[d] = memory_zeroed(1, sizeof *c);
        c->fabric = fabric;
        c->dim = d;
        c->params = params;
        circuit_schedule_make(&c->schedule, params, fabric->graph.n_ranks, "", err);
        find_ports(c);
        first = first ? first : c;
    }
    if (first)
        check_pairs(first, err);
}

void fabric_circuits_start(struct fabric *fabric, struct err *err)
{
    for (uint32_t d = 0; fabric->circuits && d < fabric->spec->n_dims; d++)
        if (fabric->circuits->of_dim[d])
            start(fabric->circuits->of_dim[d], err);
}

void fabric_circuits_free(struct fabric *fabric)
{
    for (uint32_t d = 0; fabric->circuits && d < SPEC_MAX_DIMS; d++) {
        struct circuit_switch *c = fabric->circuits->of_dim[d];
        if (!c)
            continue;
        circuit_schedule_free(&c->schedule);
        free(c->ports);
        free(c->marked);
        free(c);
    }
    free(fabric->circuits);
}

struct circuits_summary fabric_circuits_summary(const struct fabric *fabric, uint32_t dim)
{
    const struct circuit_switch *c = fabric->circuits ? fabric->circuits->of_dim[dim] : NULL;
    ps_t light = 0, cycle = 0;
    if (!c || c->n_changes == 0)
        return (struct circuits_summary){0};
    for (uint32_t i = 0; i < c->schedule.n_phases; i++) {
        light += c->schedule.phases[i].duration_ps - c->guard_ps;
        cycle += c->schedule.phases[i].duration_ps + c->params->reconfiguration_ps;
    }
    return (struct circuits_summary){c->n_changes, c->schedule.n_phases,
                                     (double)light / (double)cycle};
}

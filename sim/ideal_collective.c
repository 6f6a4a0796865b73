// SPDX-License-Identifier: MIT
// A collective on its own: the longest path through its programs under the alpha-beta model. A send
// begins when its step does and the sender's line is free, takes bytes/G there, and arrives a later
// (a = propagation + store-and-forward of one packet). With dimensions the phases of a chunk follow
// one another at each rank. With chunks: no less than the bytes that leave or come in by the busiest
// line, nor than one chunk's path. A rank has a line for every neighbour in direct dimensions, and one
// in the others, however many planes. Contention inside the fabric and for routers is left out, so a
// path that several flows share may take longer; so are the time of reductions and the wait for a
// dimension.
#include <stdlib.h>
#include <string.h>

#include "collective/grid.h"
#include "collective/plan.h"
#include "engine/memory.h"
#include "sim/sim.h"
#include "workload/instance.h"

#define STEPS_AHEAD 64 // a send is awaited at most this many steps later than it is issued

struct line { // of a rank, towards the peer it sent to last
    uint32_t peer, port;
    double latency_ps, byte_ps, ack_ps; // of a payload byte: its own time, and that of the ACKs
                                        // that leave for as much data that comes in
};

struct evaluation {
    const struct sim *sim;
    const struct job_spec *job;
    const struct coll_schedule *schedule;
    /* a phase in a group */
    const struct coll_algorithm *algorithm;
    struct coll_shape shape;
    uint32_t dim, group;
    /* [rank] of the job */
    struct line *lines, *back; // towards the peer sent to last, heard from last
    double *enter;             // begin of the current step
    double *ready;             // [step % STEPS_AHEAD][rank] arrivals
    /* [port] of ranks */
    double *free;  // the line is free
    double *sent;  // time of all bytes sent
    double *heard; // time of all bytes that came in
    double weight; // chunks that the one evaluated stands for
    bool *hears;   // data comes in by it
};

static uint32_t rank_of(const struct evaluation *e, uint32_t member)
{
    return coll_rank_of(e->schedule, e->dim, e->group, member);
}

// Its first port, of several that are equal.
static uint32_t line_port(const struct evaluation *e, uint32_t src, uint32_t dst, uint32_t *planes)
{
    const struct sim *sim = e->sim;
    const uint16_t *ports;
    uint32_t dim = graph_joining_dim(&sim->graph, src, dst);
    if (dim == GRAPH_NONE) { // relayed: the first leg
        dst = sim_relay_next(&sim->graph, src, dst);
        dim = graph_joining_dim(&sim->graph, src, dst);
    }
    src = graph_owner(&sim->graph, src, dim);
    dst = graph_owner(&sim->graph, dst, dim);
    if (src == dst) { // ranks that share a NIC reach each other through its first port (sim_route)
        uint32_t shared = 0;
        graph_ports_in(&sim->graph, src, dim, &shared);
        *planes = 1;
        return shared;
    }
    uint32_t n = routes_from(sim_first_routes(sim), src, dst, dim, &ports);
    uint32_t first = node_port(&sim->net, src, ports[0]);
    *planes = 0; // of several ways round only what leads to the same neighbour
    for (uint32_t i = 0; i < n; i++) {
        uint32_t port = node_port(&sim->net, src, ports[i]);
        *planes += !sim->graph.dim_direct[dim] ||
                   sim->net.ports[port].peer_node == sim->net.ports[first].peer_node;
    }
    return first;
}

// Time of a payload byte on a NIC's line: (P + data overhead) / P wire bytes; where data comes in by it,
// the answers to as much of it share the direction: ACK / ack_interval / P.
static void time_bytes(const struct evaluation *e, uint32_t planes, struct line *line)
{
    uint32_t dim = e->sim->graph.ports[line->port].dim;
    const struct transport_spec *t = &e->sim->roce.dims[dim].spec;
    const struct byte_time *bt = &port_link(&e->sim->net, line->port)->byte_time;
    double wire_ps = (double)bt->num / (double)bt->den / (double)t->mtu_bytes / planes;
    line->byte_ps = wire_ps * data_sizes(t, (uint32_t)t->mtu_bytes, false).wire;
    if (e->hears[line->port])
        line->ack_ps = wire_ps * ack_sizes(t).wire / (double)t->ack_interval;
}

// Over all legs; that a rank on the way takes the whole message in first is not in the ideal.
static double latency_ps(const struct sim *sim, uint32_t src, uint32_t dst)
{
    double ps = 0;
    while (src != dst) {
        uint32_t next = sim_relay_next(&sim->graph, src, dst);
        uint32_t dim = graph_joining_dim(&sim->graph, src, next);
        ps += (double)sim_latency_ps(sim, src, next, dim);
        src = next;
    }
    return ps;
}

static const struct line *line_to(const struct evaluation *e, struct line *lines, uint32_t rank,
                                  uint32_t peer)
{
    struct line *line = &lines[rank];
    if (line->peer == peer)
        return line;
    uint32_t src = job_rank(e->job, rank), dst = job_rank(e->job, peer);
    uint32_t planes, port = line_port(e, src, dst, &planes);
    *line = (struct line){.peer = peer, .port = port, .latency_ps = latency_ps(e->sim, src, dst)};
    time_bytes(e, planes, line);
    return line;
}

// Which lines data comes in by: those that the answers leave by.
static void find_hearers(struct evaluation *e)
{
    const struct coll_algorithm *a = e->algorithm;
    uint32_t steps = a->steps(&e->shape);
    for (uint32_t step = 0; step < steps; step++)
        for (uint32_t m = 0; m < e->shape.ranks; m++)
            for (uint32_t k = 0; k < a->n_sends(&e->shape, m, step); k++) {
                uint32_t peer = rank_of(e, a->send(&e->shape, m, step, k).peer);
                e->hears[line_to(e, e->back, peer, rank_of(e, m))->port] = true;
            }
}

static double *ready_at(struct evaluation *e, uint32_t step, uint32_t member)
{
    uint32_t ranks = coll_ranks(e->schedule);
    return &e->ready[(size_t)(step % STEPS_AHEAD) * ranks + rank_of(e, member)];
}

static void evaluate_step(struct evaluation *e, uint32_t step)
{
    const struct coll_algorithm *a = e->algorithm;
    for (uint32_t m = 0; m < e->shape.ranks; m++) {
        uint32_t rank = rank_of(e, m), n = a->n_sends(&e->shape, m, step);
        double begin = e->enter[rank] + (double)e->schedule->endpoint_ps;
        for (uint32_t k = 0; k < n; k++) {
            struct coll_send send = a->send(&e->shape, m, step, k);
            const struct line *line = line_to(e, e->lines, rank, rank_of(e, send.peer));
            const struct line *there = line_to(e, e->back, rank_of(e, send.peer), rank);
            double bytes = (double)send.bytes, *line_free = &e->free[line->port];
            double time = bytes * line->byte_ps, acks = bytes * line->ack_ps;
            if (*line_free < begin)
                *line_free = begin;
            // Data of the step comes in a latency later; answers after the last byte has left are free.
            *line_free += time;
            if (time > line->latency_ps)
                *line_free += acks * (1 - line->latency_ps / time);
            e->sent[line->port] += (time + acks) * e->weight;
            e->heard[there->port] += bytes * there->byte_ps * e->weight;
            double *ready = ready_at(e, send.peer_step, send.peer);
            double arrival = *line_free + line->latency_ps;
            *ready = arrival > *ready ? arrival : *ready;
        }
    }
    for (uint32_t m = 0; m < e->shape.ranks; m++) {
        double *ready = ready_at(e, step, m), *enter = &e->enter[rank_of(e, m)];
        *enter = *ready > *enter ? *ready : *enter;
        *ready = 0;
    }
}

static void evaluate_phase(struct evaluation *e)
{
    uint32_t steps = e->algorithm->steps(&e->shape);
    find_hearers(e);
    for (uint32_t step = 0; step < steps; step++)
        evaluate_step(e, step);
    for (uint32_t m = 0; m < e->shape.ranks; m++)
        e->enter[rank_of(e, m)] += (double)e->schedule->endpoint_ps;
}

// One chunk through its phases, all groups of each side by side.
static void evaluate_chunk(struct evaluation *e, const struct instance *in, uint32_t chunk)
{
    for (uint32_t i = 0; i < in->n_phases; i++) {
        const struct coll_phase *phase = instance_phase(in, chunk, i);
        e->dim = phase->dim;
        e->algorithm = e->schedule->choice[phase->op][phase->dim].algorithm;
        for (e->group = 0; e->group < coll_n_groups(e->schedule, e->dim); e->group++) {
            e->shape = instance_shape(e->schedule, in, chunk, i, e->group);
            evaluate_phase(e);
        }
    }
}

// Chunks with the same phases differ by few bytes: one of them stands for all.
static bool same_plan(const struct instance *in, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < in->n_phases; i++) {
        const struct coll_phase *x = instance_phase(in, a, i), *y = instance_phase(in, b, i);
        if (x->dim != y->dim || x->op != y->op)
            return false;
    }
    return true;
}

static double chunk_bytes(const struct instance *in, uint32_t c)
{
    struct coll_range range = instance_chunk(in, c);
    return range.end > range.first ? (double)(range.end - range.first) : 1;
}

static double largest(const double *values, uint32_t n)
{
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

static double evaluate_all(struct evaluation *e, const struct instance *in)
{
    uint32_t ranks = coll_ranks(e->schedule), lines = e->sim->net.first_port[e->sim->graph.n_ranks];
    bool *done = memory_zeroed(in->n_chunks, sizeof *done);
    double path = 0;
    for (uint32_t c = in->n_chunks; c-- > 0;) { // the last one is the largest
        if (done[c])
            continue;
        double bytes = 0;
        for (uint32_t other = 0; other <= c; other++) {
            if (done[other] || !same_plan(in, c, other))
                continue;
            done[other] = true;
            bytes += chunk_bytes(in, other);
        }
        e->weight = bytes / chunk_bytes(in, c);
        memset(e->enter, 0, ranks * sizeof *e->enter);
        memset(e->free, 0, lines * sizeof *e->free);
        evaluate_chunk(e, in, c);
        double end = largest(e->enter, ranks);
        path = end > path ? end : path;
    }
    free(done);
    double sent = largest(e->sent, lines), heard = largest(e->heard, lines);
    double busiest = sent > heard ? sent : heard;
    return path > busiest ? path : busiest;
}

ps_t sim_ideal_collective_ps(const struct sim *sim, const struct job_spec *job,
                             const struct coll_schedule *schedule,
                             const struct system_request *request)
{
    if (sim_is_analytical(sim))
        return -1; // there is no contention to compare with
    struct evaluation e = {.sim = sim, .job = job, .schedule = schedule};
    struct coll_planner planner;
    uint32_t n = coll_ranks(schedule), lines = sim->net.first_port[sim->graph.n_ranks];
    e.lines = memory_zeroed(n, sizeof *e.lines);
    e.back = memory_zeroed(n, sizeof *e.back);
    e.enter = memory_zeroed(n, sizeof *e.enter);
    e.ready = memory_zeroed((size_t)n * STEPS_AHEAD, sizeof *e.ready);
    e.free = memory_zeroed(lines, sizeof *e.free);
    e.sent = memory_zeroed(lines, sizeof *e.sent);
    e.heard = memory_zeroed(lines, sizeof *e.heard);
    e.hears = memory_zeroed(lines, sizeof *e.hears);
    for (uint32_t rank = 0; rank < n; rank++)
        e.lines[rank].peer = e.back[rank].peer = GRAPH_NONE;
    coll_planner_init(&planner, schedule);
    struct instance *in = instance_new(&planner, request, 0);
    double ps = in->n_phases > 0 ? evaluate_all(&e, in) : 0;
    instance_free(in);
    free(e.lines);
    free(e.back);
    free(e.enter);
    free(e.ready);
    free(e.free);
    free(e.sent);
    free(e.heard);
    free(e.hears);
    return (ps_t)ps;
}

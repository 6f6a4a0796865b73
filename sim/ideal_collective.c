// SPDX-License-Identifier: MIT
// A collective on its own: the longest path through its program under the alpha-beta model. A send
// begins when its step does and the sender's line is free, takes bytes/G there, and arrives a later
// (a = propagation + store-and-forward of one packet). With chunks: no less than the bytes of the
// busiest line, nor than one chunk's program. A rank has a line for every neighbour in direct
// dimensions, and one in the others, however many planes. Contention inside the fabric and for
// routers is left out, so a path that several flows share may take longer.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "sim/sim.h"

#define STEPS_AHEAD 64 // a send is awaited at most this many steps later than it is issued

struct line { // of a rank, towards the peer it sent to last
    uint32_t peer, port;
    double latency_ps, byte_ps; // byte_ps: of a payload byte
};

struct evaluation {
    const struct sim *sim;
    const struct job_spec *job;
    struct coll_shape shape;
    struct line *lines; // [rank]
    double *enter;      // [rank] begin of the current step
    double *free;       // [port] the line is free
    double *sent;       // [port] time of all bytes sent
    bool *hears;        // [port] data comes in by it
    double *ready;      // [step % STEPS_AHEAD][rank] arrivals
};

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

// Time of a payload byte on a NIC's line: (P + data overhead) / P wire bytes, and where as much
// data comes in by it, which shares the direction with its ACKs, ACK / ack_interval / P more.
static double payload_byte_ps(const struct evaluation *e, uint32_t port, uint32_t planes)
{
    uint32_t dim = e->sim->graph.ports[port].dim;
    const struct transport_spec *t = &e->sim->roce.dims[dim].spec;
    const struct byte_time *bt = &port_link(&e->sim->net, port)->byte_time;
    double wire = data_sizes(t, (uint32_t)t->mtu_bytes, false).wire;
    if (e->hears[port])
        wire += (double)ack_sizes(t).wire / (double)t->ack_interval;
    return (double)bt->num / (double)bt->den * wire / (double)t->mtu_bytes / planes;
}

// Which lines data comes in by: those that the answers leave by.
static void find_hearers(struct evaluation *e)
{
    const struct coll_algorithm *a = e->job->algorithm;
    uint32_t steps = a->steps(&e->shape), planes;
    for (uint32_t step = 0; step < steps; step++)
        for (uint32_t rank = 0; rank < e->shape.ranks; rank++)
            for (uint32_t k = 0; k < a->n_sends(&e->shape, rank, step); k++) {
                uint32_t peer = a->send(&e->shape, rank, step, k).peer;
                e->hears[line_port(e, job_rank(e->job, peer), job_rank(e->job, rank), &planes)] =
                    true;
            }
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

static const struct line *line_to(struct evaluation *e, uint32_t rank, uint32_t peer)
{
    struct line *line = &e->lines[rank];
    if (line->peer == peer)
        return line;
    uint32_t src = job_rank(e->job, rank), dst = job_rank(e->job, peer);
    uint32_t planes, port = line_port(e, src, dst, &planes);
    *line =
        (struct line){peer, port, latency_ps(e->sim, src, dst), payload_byte_ps(e, port, planes)};
    return line;
}

static double *ready_at(struct evaluation *e, uint32_t step)
{
    return e->ready + (size_t)(step % STEPS_AHEAD) * e->shape.ranks;
}

static void evaluate_step(struct evaluation *e, uint32_t step)
{
    const struct coll_algorithm *a = e->job->algorithm;
    for (uint32_t rank = 0; rank < e->shape.ranks; rank++) {
        uint32_t n = a->n_sends(&e->shape, rank, step);
        for (uint32_t k = 0; k < n; k++) {
            struct coll_send send = a->send(&e->shape, rank, step, k);
            const struct line *line = line_to(e, rank, send.peer);
            double time = (double)send.bytes * line->byte_ps, *line_free = &e->free[line->port];
            if (*line_free < e->enter[rank])
                *line_free = e->enter[rank];
            *line_free += time;
            e->sent[line->port] += time;
            double *ready = &ready_at(e, send.peer_step)[send.peer];
            double arrival = *line_free + line->latency_ps;
            *ready = arrival > *ready ? arrival : *ready;
        }
    }
    double *ready = ready_at(e, step);
    for (uint32_t rank = 0; rank < e->shape.ranks; rank++) {
        e->enter[rank] = ready[rank] > e->enter[rank] ? ready[rank] : e->enter[rank];
        ready[rank] = 0;
    }
}

static double largest(const double *values, uint32_t n)
{
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

ps_t sim_ideal_collective_ps(const struct sim *sim, const struct job_spec *job)
{
    if (sim_is_analytical(sim))
        return sim_analytical_ideal_ps(sim, job);
    struct evaluation e = {.sim = sim, .job = job};
    uint32_t n = job_n_ranks(job, sim->graph.n_ranks);
    uint32_t lines = sim->net.first_port[sim->graph.n_ranks];
    e.lines = memory_zeroed(n, sizeof *e.lines);
    e.enter = memory_zeroed(n, sizeof *e.enter);
    e.free = memory_zeroed(lines, sizeof *e.free);
    e.sent = memory_zeroed(lines, sizeof *e.sent);
    e.hears = memory_zeroed(lines, sizeof *e.hears);
    e.ready = memory_zeroed((size_t)n * STEPS_AHEAD, sizeof *e.ready);
    for (uint32_t rank = 0; rank < n; rank++)
        e.lines[rank].peer = GRAPH_NONE;
    // The last chunk is the largest by at most a byte.
    e.shape = job_chunk_shape(job, sim->graph.n_ranks, job->chunks - 1);
    uint32_t steps = job->algorithm->steps(&e.shape);
    find_hearers(&e);
    for (uint32_t step = 0; step < steps; step++)
        evaluate_step(&e, step);
    double path = largest(e.enter, n);
    double bytes =
        largest(e.sent, lines) * (double)job->bytes / (double)(e.shape.bytes ? e.shape.bytes : 1);
    free(e.lines);
    free(e.enter);
    free(e.free);
    free(e.sent);
    free(e.hears);
    free(e.ready);
    return (ps_t)(path > bytes ? path : bytes);
}

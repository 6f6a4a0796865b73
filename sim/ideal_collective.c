// SPDX-License-Identifier: MIT
// A collective on its own: the longest path through its program under the alpha-beta model. A send
// begins when its step does and the sender's line is free, takes bytes/G there, and arrives a later
// (a = propagation + store-and-forward of one packet). With chunks: no less than the bytes of the
// busiest rank, nor than one chunk's program. Contention inside the fabric is left out, so a path
// that several flows share may take longer.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "sim/sim.h"

#define STEPS_AHEAD 64 // a send is awaited at most this many steps later than it is issued

struct line { // of a rank, towards the peer it sent to last
    uint32_t peer;
    double latency_ps, byte_ps; // byte_ps: of a payload byte
};

struct evaluation {
    const struct sim *sim;
    const struct job_spec *job;
    struct coll_shape shape;
    struct line *lines; // [rank]
    double *enter;      // [rank] begin of the current step
    double *free;       // [rank] the line is free
    double *sent;       // [rank] time of all bytes sent
    double *ready;      // [step % STEPS_AHEAD][rank] arrivals
};

// Time of a payload byte on a NIC's line, its direction shared with the ACKs of as much data coming
// in: (P + data overhead + ACK / ack_interval) / P wire bytes.
static double payload_byte_ps(const struct sim *sim, uint32_t rank, uint32_t dim)
{
    const struct transport_spec *t = &sim->roce.dims[dim].spec;
    double byte_ps = 0, mtu = (double)t->mtu_bytes;
    uint32_t planes = 0;
    for (uint32_t p = sim->net.first_port[rank]; p < sim->net.first_port[rank + 1]; p++)
        if (sim->graph.ports[p].dim == dim) {
            const struct byte_time *bt = &port_link(&sim->net, p)->byte_time;
            byte_ps = (double)bt->num / (double)bt->den;
            planes++;
        }
    double wire = data_sizes(t, (uint32_t)t->mtu_bytes, false).wire +
                  (double)ack_sizes(t).wire / (double)t->ack_interval;
    return planes ? byte_ps * wire / mtu / planes : 0;
}

static const struct line *line_to(struct evaluation *e, uint32_t rank, uint32_t peer)
{
    struct line *line = &e->lines[rank];
    if (line->peer == peer)
        return line;
    uint32_t src = job_rank(e->job, rank), dst = job_rank(e->job, peer);
    uint32_t dim = graph_joining_dim(&e->sim->graph, src, dst);
    *line = (struct line){peer, (double)sim_latency_ps(e->sim, src, dst, dim),
                          payload_byte_ps(e->sim, src, dim)};
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
            double time = (double)send.bytes * line->byte_ps;
            if (e->free[rank] < e->enter[rank])
                e->free[rank] = e->enter[rank];
            e->free[rank] += time;
            e->sent[rank] += time;
            double *ready = &ready_at(e, send.peer_step)[send.peer];
            double arrival = e->free[rank] + line->latency_ps;
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
    struct evaluation e = {.sim = sim, .job = job};
    uint32_t n = job_n_ranks(job, sim->graph.n_ranks);
    e.lines = memory_zeroed(n, sizeof *e.lines);
    e.enter = memory_zeroed(n, sizeof *e.enter);
    e.free = memory_zeroed(n, sizeof *e.free);
    e.sent = memory_zeroed(n, sizeof *e.sent);
    e.ready = memory_zeroed((size_t)n * STEPS_AHEAD, sizeof *e.ready);
    for (uint32_t rank = 0; rank < n; rank++)
        e.lines[rank].peer = GRAPH_NONE;
    // The last chunk is the largest by at most a byte.
    e.shape = job_chunk_shape(job, sim->graph.n_ranks, job->chunks - 1);
    uint32_t steps = job->algorithm->steps(&e.shape);
    for (uint32_t step = 0; step < steps; step++)
        evaluate_step(&e, step);
    double path = largest(e.enter, n);
    double bytes =
        largest(e.sent, n) * (double)job->bytes / (double)(e.shape.bytes ? e.shape.bytes : 1);
    free(e.lines);
    free(e.enter);
    free(e.free);
    free(e.sent);
    free(e.ready);
    return (ps_t)(path > bytes ? path : bytes);
}

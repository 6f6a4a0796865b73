// SPDX-License-Identifier: MIT
// Times without contention: one message on an empty path, a collective on its own.
#include "sim/sim.h"

struct hop {
    double byte_ps; // time of a byte
    ps_t delay_ps;
};

static uint32_t path_hops(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                          struct hop *out, struct hop *back)
{
    uint32_t ports[ROUTE_MAX_HOPS];
    uint32_t n = route_path(&sim->routes, &sim->graph, src, dst, dim, ports, ROUTE_MAX_HOPS);
    for (uint32_t h = 0; h < n; h++) {
        const struct port *there = &sim->net.ports[ports[h]];
        const struct port *here = &sim->net.ports[there->peer];
        out[h] = (struct hop){(double)there->byte_time.num / (double)there->byte_time.den,
                              there->delay_ps};
        back[n - 1 - h] =
            (struct hop){(double)here->byte_time.num / (double)here->byte_time.den, here->delay_ps};
    }
    return n;
}

// Completion of the last packet over the hops, of a train: one of `first` wire bytes, n_mid of
// `mid`, one of `last` (absent where n < 2). f[i,h] = max(f[i,h-1] + prop, f[i-1,h]) + L_i/R_h is a
// longest path through the grid of packets and hops; equal packets between the ends may all stay on
// the slowest hop of those they cross, so entering the middle at hop a and leaving at hop b covers
// every path (models: store and forward).
static double train_ps(const struct hop *hops, uint32_t n, uint32_t first, uint32_t mid,
                       uint64_t n_mid, uint32_t last)
{
    double best = 0, head = 0;
    for (uint32_t a = 0; a < n; a++) { // the first packet has crossed hops 0..a
        head += first * hops[a].byte_ps;
        double middle = 0, slowest = 0;
        for (uint32_t b = a; b < n; b++) { // the last one crosses b..n-1
            if (n_mid > 0) {
                middle += mid * hops[b].byte_ps;
                if (hops[b].byte_ps > slowest)
                    slowest = hops[b].byte_ps;
            }
            double tail = 0;
            for (uint32_t h = b; last > 0 && h < n; h++)
                tail += last * hops[h].byte_ps;
            double all = head + middle + tail;
            if (n_mid > 1)
                all += (double)(n_mid - 1) * mid * slowest;
            if (last == 0 && b + 1 < n)
                continue; // without a last packet the path must end at the last hop
            if (n_mid == 0 && b > a)
                continue;
            if (all > best)
                best = all;
        }
    }
    return best;
}

static ps_t delays_ps(const struct hop *hops, uint32_t n)
{
    ps_t sum = 0;
    for (uint32_t h = 0; h < n; h++)
        sum += hops[h].delay_ps;
    return sum;
}

// When the last byte of `packets` packets has arrived, the last of them of `last` payload bytes.
static double arrival_ps(const struct transport_spec *t, const struct hop *out, uint32_t n,
                         uint64_t packets, uint32_t last)
{
    uint32_t mtu = (uint32_t)t->mtu_bytes, mid = data_sizes(t, mtu, false, 0).wire;
    uint32_t first = data_sizes(t, packets > 1 ? mtu : last, true, 0).wire;
    double ps = (double)delays_ps(out, n);
    if (packets > 1)
        return ps + train_ps(out, n, first, mid, packets - 2, data_sizes(t, last, false, 0).wire);
    for (uint32_t h = 0; h < n; h++)
        ps += first * out[h].byte_ps;
    return ps;
}

ps_t sim_ideal_ps(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim, uint64_t bytes,
                  ps_t *delivered_ps)
{
    const struct transport_spec *t = &sim->spec->dims[dim].transport;
    struct hop out[ROUTE_MAX_HOPS], back[ROUTE_MAX_HOPS];
    uint32_t n = path_hops(sim, src, dst, dim, out, back), ack = ack_sizes(t, 0).wire;
    uint64_t mtu = t->mtu_bytes, packets = bytes ? (bytes + mtu - 1) / mtu : 1;
    double arrived = arrival_ps(t, out, n, packets, (uint32_t)(bytes - (packets - 1) * mtu));
    if (delivered_ps)
        *delivered_ps = (ps_t)(arrived + 0.5);
    // The last ACK may wait behind the one before it, where the last packet is small. Earlier ones
    // are apart by a full packet, which is longer than an ACK on every hop.
    bool two = packets > 1 && t->ack_interval == 1;
    double before = two ? arrival_ps(t, out, n, packets - 1, (uint32_t)mtu) : 0, last = arrived;
    for (uint32_t h = 0; h < n; h++) {
        before += ack * back[h].byte_ps;
        last = (last > before ? last : before) + ack * back[h].byte_ps + (double)back[h].delay_ps;
        before += (double)back[h].delay_ps;
    }
    return (ps_t)(last + 0.5);
}

// Latency of one packet beyond its serialization at the sender (the a of the alpha-beta model).
static ps_t latency_ps(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim)
{
    const struct transport_spec *t = &sim->spec->dims[dim].transport;
    struct hop out[ROUTE_MAX_HOPS], back[ROUTE_MAX_HOPS];
    uint32_t n = path_hops(sim, src, dst, dim, out, back);
    double ps = 0;
    for (uint32_t h = 1; h < n; h++)
        ps += data_sizes(t, (uint32_t)t->mtu_bytes, false, 0).wire * out[h].byte_ps;
    return (ps_t)ps + delays_ps(out, n);
}

// Time of `bytes` of payload on a NIC's line, its direction shared with the ACKs of as much data
// coming in: P / (P + data overhead + ACK / ack_interval) of the raw rate.
static double payload_ps(const struct sim *sim, uint32_t rank, uint32_t dim, uint64_t bytes)
{
    const struct transport_spec *t = &sim->spec->dims[dim].transport;
    const struct port *port = NULL;
    uint32_t planes = 0;
    for (uint32_t p = sim->net.first_port[rank]; p < sim->net.first_port[rank + 1]; p++)
        if (sim->graph.ports[p].dim == dim) {
            port = &sim->net.ports[p];
            planes++;
        }
    if (!port)
        return 0;
    double mtu = (double)t->mtu_bytes;
    double wire = data_sizes(t, (uint32_t)t->mtu_bytes, false, 0).wire +
                  (double)ack_sizes(t, 0).wire / (double)t->ack_interval;
    return (double)bytes * (wire / mtu) * (double)port->byte_time.num /
           (double)port->byte_time.den / planes;
}

struct step_cost {
    double latency, transfer; // of the slowest rank
};

static struct step_cost step_cost(const struct sim *sim, const struct job_spec *job,
                                  const struct coll_shape *shape, uint32_t step)
{
    struct step_cost worst = {0, 0};
    for (uint32_t rank = 0; rank < shape->ranks; rank++) {
        struct step_cost cost = {0, 0};
        uint32_t src = job_rank(job, rank), n = job->algorithm->n_sends(shape, rank, step);
        for (uint32_t k = 0; k < n; k++) {
            struct coll_send send = job->algorithm->send(shape, rank, step, k);
            uint32_t dst = job_rank(job, send.peer);
            uint32_t dim = graph_joining_dim(&sim->graph, src, dst);
            if (k < 4 || k == n / 2) { // far peers are alike; keep it linear in ranks
                double latency = (double)latency_ps(sim, src, dst, dim);
                if (latency > cost.latency)
                    cost.latency = latency;
            }
            cost.transfer += payload_ps(sim, src, dim, send.bytes);
        }
        if (cost.latency + cost.transfer > worst.latency + worst.transfer)
            worst = cost;
    }
    return worst;
}

ps_t sim_ideal_collective_ps(const struct sim *sim, const struct job_spec *job)
{
    double transfer_all = 0, first_chunk = 0;
    for (uint64_t chunk = 0; chunk < job->chunks; chunk++) {
        struct coll_shape shape = job_chunk_shape(job, sim->graph.n_ranks, chunk);
        uint32_t steps = job->algorithm->steps(&shape);
        for (uint32_t step = 0; step < steps; step++) {
            struct step_cost cost = step_cost(sim, job, &shape, step);
            transfer_all += cost.transfer;
            if (chunk == 0)
                first_chunk += cost.latency + cost.transfer;
        }
    }
    return (ps_t)(first_chunk > transfer_all ? first_chunk : transfer_all);
}

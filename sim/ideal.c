// SPDX-License-Identifier: MIT
// One message on an empty path: times without contention.
#include "sim/sim.h"

struct hop {
    double byte_ps; // time of a byte
    ps_t delay_ps;
};

static uint32_t path_hops(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                          struct hop *out, struct hop *back)
{
    uint32_t ports[ROUTE_MAX_HOPS];
    uint32_t n = sim_route(sim, sim_first_routes(sim), src, dst, dim, ports);
    for (uint32_t h = 0; h < n; h++) {
        const struct link *there = port_link(&sim->net, ports[h]);
        const struct link *here = port_link(&sim->net, sim->net.cold[ports[h]].peer);
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
    double best = 0, head = 0, tail[ROUTE_MAX_HOPS + 1] = {0}; // tail[b]: the last one over b..n-1
    for (uint32_t h = n; h-- > 0;)
        tail[h] = tail[h + 1] + last * hops[h].byte_ps;
    for (uint32_t a = 0; a < n; a++) { // the first packet has crossed hops 0..a
        head += first * hops[a].byte_ps;
        double middle = 0, slowest = 0;
        for (uint32_t b = a; b < n; b++) { // the last one crosses b..n-1
            if (n_mid > 0) {
                middle += mid * hops[b].byte_ps;
                if (hops[b].byte_ps > slowest)
                    slowest = hops[b].byte_ps;
            }
            double all = head + middle + tail[b];
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
    uint32_t mtu = (uint32_t)t->mtu_bytes, mid = data_sizes(t, mtu, false).wire;
    uint32_t first = data_sizes(t, packets > 1 ? mtu : last, true).wire;
    double ps = (double)delays_ps(out, n);
    if (packets > 1)
        return ps + train_ps(out, n, first, mid, packets - 2, data_sizes(t, last, false).wire);
    for (uint32_t h = 0; h < n; h++)
        ps += first * out[h].byte_ps;
    return ps;
}

ps_t sim_ideal_ps(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim, uint64_t bytes,
                  ps_t *delivered_ps)
{
    const struct transport_spec *t = &sim->roce.dims[dim].spec;
    struct hop out[ROUTE_MAX_HOPS], back[ROUTE_MAX_HOPS];
    uint32_t n = path_hops(sim, src, dst, dim, out, back), ack = ack_sizes(t).wire;
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

ps_t sim_latency_ps(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim)
{
    const struct transport_spec *t = &sim->roce.dims[dim].spec;
    struct hop out[ROUTE_MAX_HOPS], back[ROUTE_MAX_HOPS];
    uint32_t n = path_hops(sim, src, dst, dim, out, back);
    double ps = 0;
    for (uint32_t h = 1; h < n; h++)
        ps += data_sizes(t, (uint32_t)t->mtu_bytes, false).wire * out[h].byte_ps;
    return (ps_t)ps + delays_ps(out, n);
}

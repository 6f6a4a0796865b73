// SPDX-License-Identifier: MIT
// Times of one message on a path without contention.
#include "sim/ideal/ideal_internal.h"
#include "sim/ideal/train.h"

static uint32_t path_hops(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t dim,
                          struct train_hop *out)
{
    uint32_t ports[ROUTE_MAX_HOPS];
    uint32_t n =
        fabric_route(ideals->fabric, fabric_first_routes(ideals->fabric), src, dst, dim, ports);
    for (uint32_t h = 0; h < n; h++) {
        const struct link *link = port_first_link(&ideals->fabric->net, ports[h]);
        out[h] =
            (struct train_hop){ideal_byte_ps(ideals, ports[h]), link->delay_ps, link->header_bytes};
    }
    return n;
}

// Pieces or parts of a message that use several connections take different paths.
struct ideal_path ideal_path_of(const struct ideals *ideals, uint32_t src, uint32_t dst,
                                uint32_t dim, uint32_t transport, uint64_t bytes)
{
    struct ideal_path path = ideal_path(ideals, src, dst, dim);
    const struct transport_dim *t = hosts_dim(&ideals->fabric->hosts, dim, transport);
    bool pieces = fabric_is_pieced(&t->spec, bytes);
    bool several =
        t->parts_per_message > 1 ||
        (pieces && (t->spec.channels > 1 || t->connections_per_pair > 1 || t->fresh_connections));
    path.cut = pieces || t->parts_per_message > 1;
    path.exact &= !path.cut;
    path.parted |= several;
    // Connections that are bound to no plane may leave by any port of the sender.
    if (several && fabric_stripes(ideals->fabric, src, dst, dim, transport) == 1)
        path.first_ps = path.first_all_ps;
    return path;
}

struct ideal_wire ideal_wire(const struct transport_dim *dim, uint64_t bytes, bool cut)
{
    const struct transport_spec *t = &dim->spec;
    uint64_t mtu = dim->mtu_bytes, packets = bytes ? (bytes + mtu - 1) / mtu : 1;
    uint32_t rest = (uint32_t)(bytes - (packets - 1) * mtu);
    struct ideal_wire w = {.packets = packets};
    w.mid = dim->full.wire;
    w.first = dim->ops->data_sizes(t, packets > 1 ? (uint32_t)mtu : rest, true).wire;
    w.last = packets > 1 ? dim->ops->data_sizes(t, rest, false).wire : 0;
    w.total = w.first + w.last + (packets > 2 ? (packets - 2) * w.mid : 0);
    w.least = packets > 1 && w.last < w.first ? w.last : w.first;
    // A piece may end with a packet of a single byte.
    if (cut)
        w.least = dim->ops->data_sizes(t, 1, false).wire;
    return w;
}

// Lower bound for `total` bytes of packets of at least `least` bytes each. On one path, all bytes
// cross the slowest link, and then one packet crosses the other links. If packets take different
// paths, the bound is the larger of two: all bytes leave by the sender's port, then one packet
// crosses the path; or one packet crosses the path up to the last link, and all bytes arrive by the
// receiver's links.
static double loose_ps(const struct ideal_path *p, double total, double least)
{
    double latency = p->delay_ps + least * p->byte_ps;
    if (!p->parted)
        return latency + (total - least) * p->slowest_ps;
    double leaves = (total - least) * p->first_ps;
    double comes = total * p->into_ps - least * p->into_single_ps;
    return latency + (leaves > comes ? leaves : comes);
}

static double delivery_ps(const struct ideals *ideals, const struct ideal_path *p, uint32_t src,
                          uint32_t dst, const struct transport_dim *dim, uint64_t bytes)
{
    struct ideal_wire w = ideal_wire(dim, bytes, p->cut);
    struct train_hop out[ROUTE_MAX_HOPS];
    if (p->exact) {
        uint32_t n = path_hops(ideals, src, dst, p->dim, out);
        return train_of(out, n, &w, 0, NULL).arrives_ps;
    }
    double all = loose_ps(p, (double)w.total, w.least), most = 0;
    if (w.packets > 1 && !p->cut) // also without the last packet, which may be small
        most = loose_ps(p, (double)(w.total - w.last), w.packets > 2 ? w.mid : w.first);
    return all > most ? all : most;
}

double ideal_delivery_ps(const struct ideals *ideals, const struct ideal_path *path, uint32_t src,
                         uint32_t dst, uint32_t transport, uint64_t bytes)
{
    const struct transport_dim *dim = hosts_dim(&ideals->fabric->hosts, path->dim, transport);
    return delivery_ps(ideals, path, src, dst, dim, bytes);
}

// Round an ideal time down to integer ps so that no run is faster: each hop whose byte time is not
// an integer may end up to 1 ps early.
static ps_t ideal_whole_ps(double ps, uint32_t fractions)
{
    ps_t whole = (ps_t)(ps * (1 - 1e-14)) - (ps_t)fractions;
    return fractions == 0 ? (ps_t)(ps + 0.25) : whole > 1 ? whole : 1;
}

uint64_t ideal_part(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t dim,
                    uint32_t transport, uint64_t bytes, uint32_t *parts)
{
    uint32_t n = fabric_stripes(ideals->fabric, src, dst, dim, transport);
    *parts = bytes >= n ? n : bytes > 0 ? (uint32_t)bytes : 1;
    return bytes / *parts + (bytes % *parts > 0);
}

// Time of one ACK on its way back. The bounds of cut-through switches leave out bytes that are the
// same for all sizes, so there the hops of an exact path are added up.
static double back_ps(const struct ideals *ideals, const struct ideal_path *back, uint32_t src,
                      uint32_t dst, uint32_t ack)
{
    struct train_hop hops[ROUTE_MAX_HOPS];
    bool cut = ideals->fabric->spec->dims[back->dim].sw.forwarding == FORWARDING_CUT;
    if (!cut || !back->exact)
        return back->delay_ps + ack * back->byte_ps;
    uint32_t n = path_hops(ideals, dst, src, back->dim, hops);
    return train_answered(hops, n, 0, -1, ack);
}

// The arrival of the last ACK after the last packet has arrived. If the last packet is small, the
// last ACK may wait behind the previous ACK. Earlier ACKs are at least one full packet apart. Where
// an ACK takes longer than that on a hop, all ACKs follow the first one without a gap there.
static double answered_ps(const struct ideals *ideals, const struct ideal_path *out,
                          const struct ideal_path *back, uint32_t src, uint32_t dst,
                          const struct transport_dim *dim, uint64_t bytes, double arrived)
{
    struct train_hop hops[ROUTE_MAX_HOPS];
    uint32_t ack = dim->ack.wire;
    uint64_t earlier = bytes > 0 ? (bytes - 1) / dim->mtu_bytes * dim->mtu_bytes : 0;
    bool two = earlier > 0 && dim->packets_per_ack == 1 && ideals->fabric->spec->n_faults == 0;
    if (!two || !out->exact || !back->exact)
        return arrived + back_ps(ideals, back, src, dst, ack);
    uint32_t n = path_hops(ideals, dst, src, out->dim, hops);
    double before = delivery_ps(ideals, out, src, dst, dim, earlier),
           last = train_answered(hops, n, arrived, before, ack);
    if (ack * back->slowest_ps <= dim->full.wire * out->slowest_ps)
        return last;
    double first =
        delivery_ps(ideals, out, src, dst, dim, dim->mtu_bytes); // arrival of the first packet
    uint64_t packets = earlier / dim->mtu_bytes;                 // those after its ACK
    double acks = (double)packets;
    double train = first + back->delay_ps + ack * (back->byte_ps + acks * back->slowest_ps);
    return last > train ? last : train;
}

static ps_t message_ps(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t dim,
                       uint32_t transport, uint64_t bytes, ps_t *delivered_ps)
{
    uint32_t parts;
    const struct transport_dim *t = hosts_dim(&ideals->fabric->hosts, dim, transport);
    struct ideal_path out = ideal_path_of(ideals, src, dst, dim, transport, bytes),
                      back = ideal_path(ideals, dst, src, dim);
    bytes = ideal_part(ideals, src, dst, dim, transport, bytes, &parts);
    double arrived = delivery_ps(ideals, &out, src, dst, t, bytes);
    *delivered_ps = ideal_whole_ps(arrived, out.fractions);
    double end = answered_ps(ideals, &out, &back, src, dst, t, bytes, arrived);
    ps_t ideal = ideal_whole_ps(end, out.fractions + back.fractions);
    // 0 would mean that no answer is kept.
    return ideal > 1 ? ideal : 1;
}

ps_t ideal_message_ps(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t dim,
                      uint32_t transport, uint64_t bytes, ps_t *delivered_ps)
{
    struct ideal_answer *kept = ideal_kept(ideals, src, dst),
                        now = {.src = src, .dst = dst, .dim = dim, .transport = transport};
    if (ideals->fabric->rerouted || kept->ideal_ps == 0 || kept->src != src || kept->dst != dst ||
        kept->dim != dim || kept->transport != transport || kept->bytes != bytes) {
        now.bytes = bytes;
        now.ideal_ps = message_ps(ideals, src, dst, dim, transport, bytes, &now.delivered_ps);
        *kept = now;
    }
    if (delivered_ps)
        *delivered_ps = kept->delivered_ps;
    return kept->ideal_ps;
}

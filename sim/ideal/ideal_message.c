// SPDX-License-Identifier: MIT
// One message of a collective: its least time, and its load on the links of its ends.
//
// "Link" here means all ports together by which a rank sends to a peer: the ports of the dimension
// (all planes), or in a direct dimension the links to one neighbour. If packets may leave to
// several neighbours, or if routes have changed during the run, there is no such link.
#include "sim/ideal/ideal_message.h"
#include "sim/ideal/ideal_internal.h"

// The only neighbour through which a rank sends to a peer in a direct dimension, or GRAPH_NONE.
static uint32_t only_neighbour(const struct ideals *ideals, uint32_t src, uint32_t dst,
                               uint32_t dim)
{
    const uint16_t *ports;
    uint32_t n = routes_from(fabric_first_routes(ideals->fabric), src, dst, dim, &ports),
             found = GRAPH_NONE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t peer =
            fabric_peer_node(ideals->fabric, node_port(&ideals->fabric->net, src, ports[i]));
        // Packets may leave to several neighbours: no link is common to all of them.
        if (i > 0 && peer != found)
            return GRAPH_NONE;
        found = peer;
    }
    return found;
}

struct line {
    uint32_t key, ports; // key: the first port
    double byte_ps;      // over all ports together
    double nominal_bps;  // likewise, without the error of clocks
    bool ends;           // it ends at the peer itself, or at a switch
};

static struct line line_of(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t dim,
                           bool into)
{
    struct line line = {.key = GRAPH_NONE, .ends = true};
    uint32_t first = 0, n = graph_ports_in(&ideals->fabric->graph, src, dim, &first),
             only = GRAPH_NONE;
    double rate = 0;
    if (ideals->fabric->graph.dim_direct[dim]) {
        // Routes that are given or have changed may lead to another neighbour.
        if (ideals->fabric->rerouted || ideals->fabric->spec->n_routes > 0 || src == dst)
            return line;
        only = only_neighbour(ideals, src, dst, dim);
        if (only == GRAPH_NONE)
            return line;
        line.ends = only == dst;
    }
    for (uint32_t p = first; p < first + n; p++) {
        if (only != GRAPH_NONE && fabric_peer_node(ideals->fabric, p) != only)
            continue;
        double byte_ps = ideal_byte_ps(ideals, into ? ideals->fabric->graph.ports[p].peer : p);
        line.key = line.key == GRAPH_NONE ? p : line.key;
        line.ports++;
        line.nominal_bps +=
            (double)ideals->fabric->graph.ports[into ? ideals->fabric->graph.ports[p].peer : p]
                .rate_bps;
        rate += 1 / byte_ps;
    }
    line.byte_ps = rate > 0 ? 1 / rate : 0;
    return line;
}

// A lower bound of the ACKs that the receiver sends before the message's last packets arrive: at
// least one for every packets_per_ack full packets of a queue pair.
static double answers(const struct transport_dim *dim, const struct ideal_wire *w, uint32_t parts)
{
    double n = (double)(w->packets - (w->packets > 1 && w->last < w->mid)) * parts;
    double interval = dim->packets_per_ack;
    double acks = dim->packets_per_ack == 1 ? n : n / interval - parts * (1 - 1 / interval);
    return acks > 0 ? acks : 0;
}

// Returns the extra delay of a last packet that is smaller than the others: on its path it queues
// behind the full packet before it, whose store-and-forward takes longer. This is a lower bound,
// so it also holds when the NIC sends packets of other messages between the two. It is 0 where the
// two may take different paths (`parted`) or belong to different pieces (`cut`), and where no full
// packet is in the middle.
static double behind_ps(const struct ideal_path *path, const struct ideal_wire *w)
{
    double ps = (w->mid - (double)w->least) * (path->byte_ps - path->first_single_ps) +
                w->last * (path->into_ps - path->first_single_ps);
    return w->packets > 2 && !path->parted && !path->cut && ps > 0 ? ps : 0;
}

static void message_leg(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t transport,
                        uint64_t bytes, struct ideal_message *m)
{
    uint32_t dim = fabric_message_dim(ideals->fabric, src, dst, bytes), parts;
    const struct transport_dim *t = hosts_dim(&ideals->fabric->hosts, dim, transport);
    struct ideal_path path = ideal_path_of(ideals, src, dst, dim, transport, bytes);
    uint64_t part = ideal_part(ideals, src, dst, dim, transport, bytes, &parts);
    // for the two sizes of parts
    struct ideal_wire w = ideal_wire(t, bytes / parts, path.cut),
                      large = ideal_wire(t, part, path.cut);
    w.least = large.least < w.least ? large.least : w.least;
    struct line out = line_of(ideals, path.src, path.dst, dim, false);
    struct line in = line_of(ideals, path.dst, path.src, dim, true);
    struct line answer = line_of(ideals, path.dst, path.src, dim, false);
    double total = (double)w.total * parts;
    double least = path.delay_ps + w.least * path.byte_ps - path.fractions;
    double packet = w.packets > 1 ? w.mid : w.first, ack = t->ack.wire;
    *m = (struct ideal_message){.out = out.key, .in = in.key};
    m->reach_ps = ideal_delivery_ps(ideals, &path, src, dst, transport, part) - path.fractions;
    m->out_ps = total * out.byte_ps - (path.fractions > 0);
    m->in_ps = total * in.byte_ps - (path.fractions > 0);
    m->own_ps = total / parts * path.first_ps - (path.fractions > 0);
    m->after_ps = least - w.least * path.first_single_ps;
    m->behind_ps = behind_ps(&path, &w);
    m->before_ps = least - w.least * path.into_single_ps;
    // the time of the ACKs of arriving data per time of the data
    m->ack_share = ack / (packet * (double)t->packets_per_ack);
    if (answer.nominal_bps > 0)
        m->ack_share *= in.nominal_bps / answer.nominal_bps;
    bool beside = in.ports == parts && in.ends && m->ack_share < 1;
    m->ack_share = beside ? m->ack_share : 0;
    m->ack_ps = beside ? ack * answer.byte_ps * parts : 0;
    m->acks_ps = m->ack_ps / parts * answers(t, &w, parts);
}

struct ideal_message ideal_message(const struct ideals *ideals, uint32_t src, uint32_t dst,
                                   uint32_t transport, uint64_t bytes)
{
    struct ideal_message whole, leg;
    uint32_t next = fabric_next_rank(&ideals->fabric->graph, src, dst);
    message_leg(ideals, src, next, transport, bytes, &whole);
    while (next != dst) { // an intermediate rank receives the complete message first
        uint32_t from = next;
        next = fabric_next_rank(&ideals->fabric->graph, from, dst);
        message_leg(ideals, from, next, transport, bytes, &leg);
        whole.before_ps = whole.reach_ps + leg.before_ps;
        whole.reach_ps += leg.reach_ps;
        whole.after_ps = whole.behind_ps = 0;
        // The receiver's link carries only the last leg.
        whole.in = leg.in;
        whole.in_ps = leg.in_ps;
        whole.ack_share = whole.ack_ps = whole.acks_ps = 0;
    }
    return whole;
}

// SPDX-License-Identifier: MIT
// Path choices other than ECMP: spraying (random or round robin), flowlets, the least loaded port,
// by destination.
//
// spray: every packet chooses alone. In round robin, data packets and ACKs have separate turns;
// with a common turn their alternation would restrict data to every other port.
// flowlet: the packets of a burst keep their port, and after a gap the next burst draws a new one
// (Vanini et al., NSDI 2017, LetFlow). The table has ROUTING_FLOWLETS entries, because tables of
// switches are finite.
// adaptive: the port with the fewest queued bytes at this instant, with ties broken by round robin.
// It acts per packet and uses local knowledge only. (With state_interval: switch/quality.h.)
// source: the packet has the number of its path, which the source counts up per flow.
// static: destination modulo the number of ports (D-mod-k, Zahavi, CLUSTER 2010). Shift
// permutations never collide on a fabric that is wide enough.
#include "switch/routing.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

static uint32_t *turn_of(struct routing *r, const struct packet *p)
{
    return &r->turn[p->kind != PACKET_DATA];
}

static uint32_t spray(struct routing *r, uint32_t count, const struct packet *p)
{
    if (r->spray == SPRAY_RANDOM)
        return (uint32_t)rng_below(&r->rng, count);
    return (*turn_of(r, p))++ % count;
}

struct flowlet *routing_flowlet(struct routing *r, uint32_t hash, bool *fresh, ps_t now)
{
    if (!r->flowlets)
        r->flowlets = memory_zeroed(ROUTING_FLOWLETS, sizeof *r->flowlets);
    struct flowlet *f = &r->flowlets[hash % ROUTING_FLOWLETS];
    *fresh = !f->used || now - f->last_ps > r->flowlet_gap_ps;
    f->used = true;
    f->last_ps = now;
    return f;
}

static uint32_t least_loaded(struct routing *r, struct network *net, uint32_t first_port,
                             const uint16_t *ports, uint32_t count, const struct packet *p,
                             ps_t now)
{
    uint32_t first = (*turn_of(r, p))++ % count, best = first;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = first + i < count ? first + i : first + i - count;
        uint32_t port = first_port + ports[at];
        port_catch_up(net, port, now);
        uint64_t load = net->ports[port].queued_bytes;
        // A packet in transmission counts as load, otherwise all packets of a burst would go to one
        // port.
        if (net->ports[port].busy_until_ps > now)
            load++;
        if (load < least) {
            least = load;
            best = at;
        }
    }
    return best;
}

static uint32_t flowlet(struct routing *r, struct network *net, uint32_t first_port,
                        const uint16_t *ports, uint32_t count, const struct packet *p,
                        uint32_t hash, ps_t now)
{
    bool fresh;
    struct flowlet *f = routing_flowlet(r, hash, &fresh, now);
    if (fresh && r->by_quality)
        f->choice = least_loaded(r, net, first_port, ports, count, p, now);
    else if (fresh)
        f->choice = (uint32_t)rng_below(&r->rng, count);
    return f->choice % count;
}

// Returns the number of a flow's next path, counted by the switch next to the source.
static uint32_t next_path(struct routing *r, const struct packet *p)
{
    if (p->flow >= r->n_paths) {
        size_t before = r->n_paths;
        r->n_paths = (size_t)p->flow + 1 > 2 * before ? (size_t)p->flow + 1 : 2 * before;
        r->paths = memory_resize(r->paths, r->n_paths, sizeof *r->paths);
        memset(r->paths + before, 0, (r->n_paths - before) * sizeof *r->paths);
    }
    return p->entropy + r->paths[p->flow]++;
}

// The packet's entropy is the number of its path. Each switch uses the digit of its own choices,
// the least significant first, and leaves the rest to the switches behind it, like a segment list.
static uint32_t segment(struct routing *r, uint32_t count, struct packet *p, bool from_source,
                        uint32_t hash)
{
    bool in_turn = r->source == SOURCE_ROUND_ROBIN;
    if (r->source == SOURCE_HASH || (in_turn && p->kind != PACKET_DATA))
        return (uint32_t)((uint64_t)hash * count >> 32);
    if (from_source && in_turn)
        p->entropy = next_path(r, p);
    uint32_t number = p->entropy;
    p->entropy = number / count;
    return number % count;
}

uint32_t routing_pick(struct routing *r, struct network *net, uint32_t first_port,
                      const uint16_t *ports, uint32_t count, struct packet *p, bool from_source,
                      uint32_t hash, ps_t now)
{
    switch (r->kind) {
    case ROUTING_SOURCE:
        return segment(r, count, p, from_source, hash);
    case ROUTING_SPRAY:
        return spray(r, count, p);
    case ROUTING_FLOWLET:
        return flowlet(r, net, first_port, ports, count, p, hash, now);
    case ROUTING_ADAPTIVE:
        return least_loaded(r, net, first_port, ports, count, p, now);
    default:
        return p->dst % count;
    }
}

void routing_free(struct routing *r)
{
    free(r->flowlets);
    free(r->paths);
}

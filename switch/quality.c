// SPDX-License-Identifier: MIT
// Measures the quality of ports, and chooses the best path by it.
#include "switch/quality.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "net/crossing.h"
#include "switch/switch.h"

#define KEPT_MAX                                                                                   \
    256 // on very long links the state of the neighbours is therefore more recent than it should be

struct link_quality *quality_new(uint32_t n_ports, ps_t interval_ps, uint32_t bands, ps_t oldest_ps)
{
    struct link_quality *q = memory_zeroed(1, sizeof *q);
    ps_t kept = oldest_ps / interval_ps + 2;
    q->interval_ps = interval_ps;
    q->n_bands = bands;
    q->n_kept = kept < KEPT_MAX ? (uint32_t)kept : KEPT_MAX;
    q->bands = memory_zeroed((size_t)q->n_kept * n_ports, sizeof *q->bands);
    q->tx_bytes = memory_zeroed(n_ports, sizeof *q->tx_bytes);
    return q;
}

void quality_free(struct link_quality *q)
{
    if (!q)
        return;
    free(q->bands);
    free(q->tx_bytes);
    free(q->shared);
    free(q);
}

static uint8_t band_of(const struct link_quality *q, const struct network *net, uint32_t port,
                       ps_t now)
{
    const struct port *at = &net->ports[port];
    const struct byte_time *bt = &port_link(net, port)->byte_time;
    double bytes = (double)q->interval_ps * (double)bt->den / (double)bt->num;
    double load = (double)(at->tx_bytes - q->tx_bytes[port]) / bytes;
    double queue = (double)at->queued_bytes / bytes;
    // A packet that has started is counted as sent, so a port may seem to have sent too much.
    load = load < 1 ? load : 1;
    queue = queue < 1 ? queue : 1;
    if (at->busy_until_ps > now && load == 0)
        load = 1; // one packet was in transmission for the whole interval
    double band = (load + queue) / 2 * q->n_bands;
    return (uint8_t)(band < q->n_bands ? band : q->n_bands - 1);
}

// Sum the bands over all processes. Each process measures only its own ports and has 0 for all
// others, so the sum has every port's band.
static void share(struct link_quality *q, struct shards *p, uint8_t *bands, uint32_t n)
{
    if (!shards_is_shared(p))
        return;
    // A word has eight bands, whose sums cannot overflow into each other: each band is not 0 in one
    // process at most.
    uint32_t words = n / sizeof *q->shared + 1;
    if (q->shared == NULL)
        q->shared = memory_zeroed(words, sizeof *q->shared);
    memcpy(q->shared, bands, n);
    shards_sum(p, q->shared, words);
    memcpy(bands, q->shared, n);
}

void quality_measure(struct link_quality *q, const struct switches *sw, uint32_t dim, ps_t now)
{
    struct network *net = sw->net;
    q->measured++;
    uint8_t *bands = q->bands + (size_t)(q->measured % q->n_kept) * net->n_ports;
    for (uint32_t i = 0; i < sw->n_switches + sw->n_routers; i++) {
        const struct switch_node *s = &sw->nodes[i];
        for (uint32_t p = s->first_port; s->dim == dim && p < s->first_port + s->n_ports; p++) {
            bands[p] = 0;
            if (shards_is_elsewhere(net->engine->shards, net->ports[p].node))
                continue;
            port_catch_up(network_of_port(net, p), p, now);
            bands[p] = band_of(q, net, p, now);
            q->tx_bytes[p] = net->ports[p].tx_bytes;
        }
    }
    share(q, net->engine->shards, bands, net->n_ports);
}

// Returns the band of a port in the last measurement that is at least `age_ps` old.
static uint8_t band_at(const struct link_quality *q, const struct network *net, uint32_t port,
                       ps_t age_ps, ps_t now)
{
    int64_t number = now > age_ps ? (now - age_ps) / q->interval_ps : 0;
    number = number < q->measured ? number : q->measured;
    if (number <= q->measured - (int64_t)q->n_kept)
        number = q->measured - (int64_t)q->n_kept + 1;
    return number <= 0 ? 0 : q->bands[(size_t)(number % q->n_kept) * net->n_ports + port];
}

// Returns the best band among the ports of the neighbour behind `port` towards the destination.
static uint8_t behind(const struct switches *sw, const struct link_quality *q, uint32_t port,
                      uint32_t dst, ps_t now)
{
    const struct network *net = sw->net;
    uint32_t node = net->ports[port].peer_node;
    if (node_is_rank(net, node))
        return 0;
    const struct switch_node *s = switch_of(sw, node);
    const struct next_hops *r = &s->routes;
    uint32_t next = r->next[r->group[dst]];
    uint16_t one = (uint16_t)(next == NEXT_HERE ? r->own[dst] : next);
    const uint16_t *ports = &one;
    uint32_t count = 1;
    if (next == NEXT_NONE)
        return UINT8_MAX;
    if (next & NEXT_SET && next != NEXT_HERE) {
        ports = r->ports + r->sets[next & ~NEXT_SET].first;
        count = r->sets[next & ~NEXT_SET].count;
    }
    uint8_t best = UINT8_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t band =
            band_at(q, net, s->node_port + ports[i], port_link(net, port)->delay_ps, now);
        best = band < best ? band : best;
    }
    return best;
}

uint32_t quality_pick(const struct switches *sw, struct switch_node *s, const uint16_t *ports,
                      uint32_t count, const struct packet *p, ps_t now)
{
    const struct link_quality *q = s->routing.quality;
    uint32_t first = s->routing.turn[p->kind != PACKET_DATA]++ % count, best = first;
    unsigned least = UINT_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = first + i < count ? first + i : first + i - count;
        uint32_t port = s->node_port + ports[at];
        unsigned band = band_at(q, sw->net, port, 0, now);
        if (s->routing.remote) {
            uint8_t far = behind(sw, q, port, p->dst, now);
            band = far > band ? far : band;
        }
        if (band < least) {
            least = band;
            best = at;
        }
    }
    return best;
}

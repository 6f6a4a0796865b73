// SPDX-License-Identifier: MIT
// Setup and statistics of a network: memory, ports, links, counters of ports.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "net/credit_balance.h"
#include "net/crossing.h"
#include "net/network.h"

void network_init(struct network *net, struct engine *engine, uint32_t n_ranks, uint32_t n_nodes,
                  uint32_t n_ports, uint8_t classes)
{
    *net = (struct network){
        .engine = engine, .n_ranks = n_ranks, .n_nodes = n_nodes, .n_ports = n_ports, .n_slots = 1};
    for (int cls = NET_CLASSES - 1; cls >= 0; cls--) { // highest class first
        net->slot_of_class[cls] = NET_NO_SLOT;
        if (cls == NET_DATA_CLASSES - 1)
            net->data_slot = net->n_slots;
        if (classes >> cls & 1) {
            net->class_of_slot[net->n_slots] = (uint8_t)cls;
            net->slot_of_class[cls] = (uint8_t)net->n_slots++;
        }
    }
    net->n_data = net->n_slots - net->data_slot;
    if (net->n_data > 1)
        net->shared_slots = (1u << net->n_slots) - (1u << net->data_slot), net->arbitrates = true;
    ring_pool_init(&net->rings);
    fifo_pool_init(&net->pool);
    meta_pool_init(&net->meta);
    net->ports = memory_zeroed_lines(n_ports, sizeof *net->ports);
    net->cold = memory_zeroed(n_ports, sizeof *net->cold);
    net->queues = memory_zeroed((size_t)n_ports * net->n_slots, sizeof *net->queues);
    net->pfc = memory_zeroed(n_ports, sizeof *net->pfc);
    net->first_port = memory_zeroed(n_nodes + 1, sizeof *net->first_port);
    net->kinds = memory_zeroed(n_nodes, sizeof *net->kinds);
    for (uint32_t node = n_ranks; node < n_nodes; node++)
        net->kinds[node] = NET_SWITCH;
    network_handle_events(net);
}

void network_free(struct network *net)
{
    network_shards_free(net);
    network_free_packets(net);
    free(net->ports);
    free(net->cold);
    free(net->links);
    free(net->link_table);
    free(net->queues);
    free(net->pfc);
    for (uint32_t p = 0; net->faults && p < net->n_ports; p++)
        fault_free(&net->faults[p]);
    free(net->faults);
    credits_free(net);
    free(net->first_port);
    free(net->kinds);
    *net = (struct network){0};
}

static bool links_equal(const struct link *a, const struct link *b)
{
    return a->byte_time.num == b->byte_time.num && a->byte_time.den == b->byte_time.den &&
           a->delay_ps == b->delay_ps && a->header_bytes == b->header_bytes;
}

// The entry of the table that has this kind of link, or the free one where it belongs.
static uint32_t *link_entry(const struct network *net, const struct link *link)
{
    uint64_t hash = hash_mix(hash_mix(link->byte_time.num) + link->byte_time.den) ^
                    hash_mix((uint64_t)link->delay_ps + link->header_bytes);
    for (size_t at = hash;; at++) {
        uint32_t *entry = &net->link_table[at & (net->cap_table - 1)];
        if (*entry == 0 || links_equal(&net->links[*entry - 1], link))
            return entry;
    }
}

static void link_table_grow(struct network *net)
{
    free(net->link_table);
    net->cap_table = net->cap_table > 0 ? 2 * net->cap_table : 16;
    net->link_table = memory_zeroed(net->cap_table, sizeof *net->link_table);
    for (uint32_t i = 0; i < net->n_links; i++)
        *link_entry(net, &net->links[i]) = i + 1;
}

static uint32_t link_index(struct network *net, uint64_t rate_bps, ps_t delay_ps,
                           uint32_t header_bytes)
{
    const struct link link = {byte_time_of(rate_bps), delay_ps, header_bytes};
    if (2 * ((size_t)net->n_links + 1) > net->cap_table)
        link_table_grow(net);
    uint32_t *entry = link_entry(net, &link);
    if (*entry > 0)
        return *entry - 1;
    if (net->n_links == net->cap_links)
        net->links = memory_grow(net->links, &net->cap_links, sizeof *net->links);
    net->links[net->n_links] = link;
    *entry = net->n_links + 1;
    return net->n_links++;
}

void network_set_port(struct network *net, uint32_t port, const struct port_config *config)
{
    net->ports[port] = (struct port){
        .wake_ps = PS_NEVER,
        .flight = ring_empty(),
        .node = config->node,
        .peer_node = config->peer_node & ((1u << NET_NODE_BITS) - 1),
        .peer_local = config->peer_local & 0xfff,
        .link = link_index(net, config->rate_bps, config->delay_ps, config->header_bytes) &
                (NET_MAX_LINKS - 1),
    };
    net->cold[port] = (struct port_cold){.peer = config->peer,
                                         .local = (uint16_t)config->local,
                                         .first_link = net->ports[port].link};
    for (unsigned slot = 0; slot < net->n_slots; slot++)
        *port_queue(net, port, slot) =
            (struct queue){.fifo = fifo_empty(), .quantum_bytes = NET_QUANTUM_BYTES};
    net->pfc[port].pending = fifo_empty();
    sim_timer_init(net->engine, &net->pfc[port].expiry, config->node, pause_expired, net);
    if (config->header_bytes > 0)
        network_make_special(net, port, SPECIAL_EARLY);
    if (config->local == 0)
        net->first_port[config->node] = port;
    net->first_port[net->n_nodes] = net->n_ports;
}

void network_change_rate(struct network *net, uint32_t index, uint64_t rate_bps,
                         uint32_t header_bytes, ps_t now)
{
    struct port *port = &net->ports[index];
    struct port_cold *cold = &net->cold[index];
    const struct link *link = port_link(net, index);
    double byte_ps = (double)link->byte_time.num / (double)link->byte_time.den;
    port_catch_up(network_of_port(net, index), index, now);
    cold->earlier_ps += (double)(port->tx_bytes - cold->earlier_bytes) * byte_ps;
    cold->earlier_bytes = port->tx_bytes;
    uint32_t kind = link_index(net, rate_bps, link->delay_ps, header_bytes);
    SIM_ASSERT(net->engine, (int32_t)port->node, kind < NET_MAX_LINKS);
    port->link = kind & (NET_MAX_LINKS - 1);
    port->carry = 0;
    if (header_bytes > 0)
        network_make_special(net, index, SPECIAL_EARLY);
    if (net->shards && net->shards->ghost_of[index] > 0)
        net->ports[net->shards->ghost_of[index]].link = port->link;
    network_shards_update(net);
}

void network_set_quantum(struct network *net, uint32_t port, unsigned cls, uint32_t bytes)
{
    port_queue(net, port, net->slot_of_class[cls])->quantum_bytes = bytes;
}

void network_set_control_share(struct network *net, uint32_t port, double share)
{
    if (share >= 1)
        return;
    net->cold[port].control_yield = (1 - share) / share;
    net->arbitrates = true;
}

void network_undecide(struct network *net)
{
    for (uint32_t p = 0; p < net->n_ports + network_ghosts(net); p++) {
        const struct ring *flight = &net->ports[p].flight;
        const struct ring_pool *rings = &network_of_port(net, p)->rings;
        for (uint32_t i = 0; i < flight->count; i++)
            ring_at(rings, flight, i)->onward = PACKET_UNDECIDED;
    }
}

void port_catch_up_before(struct network *net, uint32_t port, ps_t now)
{
    const struct engine *e = engine_current(net->engine);
    bool follows = e->now_ps == now && net->ports[port].node > event_node(engine_order_key(e));
    port_catch_up(net, port, follows ? now - 1 : now);
}

void network_catch_up_before(struct network *net, ps_t now)
{
    for (uint32_t p = 0; p < net->n_ports; p++)
        port_catch_up_before(network_of_port(net, p), p, now);
}

void network_catch_up(struct network *net, ps_t now)
{
    for (uint32_t p = 0; p < net->n_ports; p++)
        port_catch_up(network_of_port(net, p), p, now);
}

uint64_t network_held(const struct network *net)
{
    uint64_t n = 0;
    for (uint32_t g = 0; g < network_ghosts(net); g++)
        n += net->ports[net->n_ports + g].flight.count;
    for (uint32_t p = 0; p < net->n_ports; p++) {
        n += net->ports[p].flight.count + net->pfc[p].pending.count;
        for (unsigned slot = 0; slot < net->n_slots; slot++)
            n += port_queue(net, p, slot)->fifo.count;
    }
    return n;
}

void port_pin_departure_events(struct network *net, uint32_t index)
{
    net->ports[index].flags |= PORT_DEPARTURE_EVENTS;
    net->cold[index].pinned = true;
}

void network_set_reference(struct network *net)
{
    for (uint32_t p = 0; p < net->n_ports; p++)
        port_pin_departure_events(net, p);
}

void network_tap_port(struct network *net, uint32_t port)
{
    network_make_special(net, port, SPECIAL_TAPPED);
}

void network_set_pfc_response(struct network *net, uint32_t port, ps_t response_ps)
{
    net->pfc[port].response_ps = response_ps;
}

struct fault *network_fault(struct network *net, uint32_t port)
{
    if (!net->faults)
        net->faults = memory_zeroed(net->n_ports, sizeof *net->faults);
    net->ports[port].flags |= PORT_FAULTY;
    return &net->faults[port];
}

void network_set_retry(struct network *net, uint32_t port)
{
    network_fault(net, port)->retries = true;
    network_make_special(net, port, SPECIAL_RETRY);
    port_pin_departure_events(net, port); // an arrival may be much later than its transmission
}

#define LONGEST_BYTES 16384 // no packet has more on the wire

struct port_stats port_stats(const struct network *net, uint32_t index, ps_t now)
{
    const struct port *port = &net->ports[index];
    const struct port_cold *cold = &net->cold[index];
    const struct byte_time *bt = &port_link(net, index)->byte_time;
    double byte_ps = (double)bt->num / (double)bt->den;
    double ahead = (double)(port->busy_until_ps - now); // rest of a transmission that has not ended
                                                        // at `now`
    if (ahead >
        LONGEST_BYTES * byte_ps) // it began after `now`, as ACKs do that a timer has delayed
        ahead = 0;
    double busy = cold->earlier_ps + (double)(port->tx_bytes - cold->earlier_bytes) * byte_ps;
    return (struct port_stats){.tx_bytes = port->tx_bytes,
                               .tx_packets = port->tx_packets,
                               .max_queued_bytes = port->max_queued_bytes,
                               .pause_frames = net->pfc[index].tx_pause,
                               .resume_frames = net->pfc[index].tx_resume,
                               .drops = {cold->dropped.packets + cold->lost.packets,
                                         cold->dropped.bytes + cold->lost.bytes},
                               .busy_ps = ahead <= 0     ? busy < (double)now ? busy : (double)now
                                          : ahead < busy ? busy - ahead
                                                         : 0,
                               .queued_byte_ps =
                                   0x1p64 * (double)cold->wait_wraps + (double)port->wait_byte_ps};
}

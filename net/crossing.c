// SPDX-License-Identifier: MIT
// The letters of packets that cross, and the cut of a network.
#include "net/crossing.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

struct letter {
    union {
        struct packet packet;        // to a ghost
        struct credit_return credit; // to a port
    };
    uint32_t port;
};

// Put a packet on the ghost of the link by which it has left another shard.
static void put(struct network *net, uint32_t index, const struct packet *p)
{
    struct port *ghost = &net->ports[index];
    if (ghost->flight.count == 0)
        crossing_arrival(net, index, p->arrives_ps);
    struct packet *place = ring_push(&net->rings, &ghost->flight);
    *place = *p;
    place->onward = PACKET_UNDECIDED;
}

// Record that a packet or credit goes to another process, where it arrives at `at_ps`.
static void abroad(const struct network *net, ps_t at_ps)
{
    ps_t *sent_ps = &net->shards->all->sent_ps[net->shard];
    *sent_ps = at_ps < *sent_ps ? at_ps : *sent_ps;
}

void crossing_send(struct network *net, uint32_t port, const struct packet *p, ps_t arrives_ps)
{
    const struct network_shards *shards = net->shards;
    const struct shards *all = shards->all;
    uint32_t to = all->shard_of[net->ports[port].peer_node];
    struct letter letter = {.packet = *p, .port = shards->ghost_of[port]};
    letter.packet.arrives_ps = arrives_ps;
    // A common event happens in all processes, and the process of the port sends the packet.
    if (net->shard >= all->n_own)
        return;
    if (to >= all->n_own) {
        abroad(net, arrives_ps);
        passage_send(net, shards_box(all, net->shard, to), shards_process_of_shard(all, to), port,
                     &letter.packet);
    } else if (!all->parallel || all->in_turn) // the other shard is not being processed
        put(&shards->nets[to], letter.port, &letter.packet);
    else
        *(struct letter *)mailbox_put(shards_box(all, net->shard, to), sizeof letter) = letter;
}

bool crossing_credit(struct network *net, uint32_t port, const struct credit_return *r)
{
    const struct shards *all = net->shards->all;
    uint32_t to = all->shard_of[net->ports[port].node];
    if (to >= all->n_own) {
        abroad(net, r->at_ps);
        passage_send_credit(net, shards_box(all, net->shard, to), port, r);
        return true;
    }
    if (!all->parallel)
        return false;
    struct letter letter = {.credit = *r, .port = port};
    *(struct letter *)mailbox_put(shards_box(all, net->shard, to), sizeof letter) = letter;
    return true;
}

/* ---- lists of border ports ---- */

static void list_add(struct border_list *list, uint32_t port)
{
    if (list->n == list->cap)
        list->ports = memory_grow(list->ports, &list->cap, sizeof *list->ports);
    list->ports[list->n++] = port;
}

void crossing_due(struct network *net, uint32_t index)
{
    struct port *port = &net->ports[index];
    ps_t *next_ps = &net->shards->all->next_ps[net->shard];
    *next_ps = port->wake_ps < *next_ps ? port->wake_ps : *next_ps;
    if (port->flags & PORT_DUE)
        return;
    port->flags |= PORT_DUE;
    list_add(&net->shards->due[net->shard], index);
}

ps_t crossing_depart(struct network *net, ps_t until_ps)
{
    struct border_list *due = &net->shards->due[net->shard];
    ps_t next_ps = PS_NEVER;
    size_t kept = 0;
    for (size_t i = 0; i < due->n; i++) {
        uint32_t index = due->ports[i];
        struct port *port = &net->ports[index];
        if (i + 8 < due->n)
            __builtin_prefetch(&net->ports[due->ports[i + 8]], 1);
        port_catch_up(net, index, until_ps);
        // The port has no further departure, or its departures are events: remove it from the list.
        if (port->wake_ps == PS_NEVER || port->flags & PORT_DEPARTURE_EVENTS) {
            port->flags ^= PORT_DUE;
            continue;
        }
        next_ps = port->wake_ps < next_ps ? port->wake_ps : next_ps;
        due->ports[kept++] = index;
    }
    due->n = kept;
    return next_ps;
}

void crossing_arrival(struct network *net, uint32_t port, ps_t arrives_ps)
{
    const struct shards *all = net->shards->all;
    uint32_t tile = all->tile_of[net->ports[port].peer_node];
    shards_note_next(all, tile, arrives_ps);
    list_add(&net->shards->arrivals[tile], port);
}

void crossing_enter(struct network *net, uint32_t tile)
{
    struct border_list *list = &net->shards->arrivals[tile];
    for (size_t i = 0; i < list->n; i++) {
        uint32_t index = list->ports[i];
        const struct port *port = &net->ports[index];
        if (i + 8 < list->n)
            __builtin_prefetch(&net->ports[list->ports[i + 8]], 1);
        port_push_arrival(net, index, ring_head(&net->rings, &port->flight)->arrives_ps);
    }
    list->n = 0;
}

static void receive(struct network *net, const struct letter *letter)
{
    bool is_credit = letter->port < net->n_ports;
    ps_t at_ps = is_credit ? letter->credit.at_ps : letter->packet.arrives_ps;
    SIM_ASSERT(net->engine, (int32_t)net->ports[letter->port].node, at_ps > net->engine->now_ps);
    if (is_credit)
        credits_put(net, letter->port, &letter->credit);
    else
        put(net, letter->port, &letter->packet);
}

void crossing_receive(struct network *net)
{
    const struct shards *all = net->shards->all;
    for (uint32_t from = 0; from < all->n_own; from++) {
        struct mailbox *box = shards_box(all, from, net->shard);
        size_t at = 0;
        for (const struct letter *letter; (letter = mailbox_next(box, &at)) != NULL;)
            receive(net, letter);
        mailbox_clear(box);
    }
}

static struct network *net_at(struct network_shards *shards, uint32_t node)
{
    return &shards->nets[shards->all->shard_of[node]];
}

void crossing_arrive(struct network_shards *shards, uint32_t from, const struct mailbox *letters)
{
    uint32_t process = shards_process_of_shard(shards->all, from);
    const struct network *any = &shards->nets[0];
    size_t at = 0;
    for (const void *letter; (letter = mailbox_next(letters, &at)) != NULL;) {
        uint32_t port = passage_port(letter);
        if (passage_is_credit(letter)) {
            credits_put(net_at(shards, any->ports[port].node), port, passage_credit(letter));
            continue;
        }
        struct network *net = net_at(shards, any->ports[port].peer_node);
        struct packet p = passage_packet(net, process, letter);
        put(net, shards->ghost_of[port], &p);
    }
}

/* ---- the cut ---- */

// Add a ghost for each port whose link leaves its shard.
static void add_ghosts(struct network *net, const uint16_t *shard_of)
{
    struct network_shards *shards = net->shards;
    uint32_t n = net->n_ports;
    for (uint32_t p = 0; p < n; p++)
        if (shard_of[net->ports[p].node] != shard_of[net->ports[p].peer_node])
            shards->ghost_of[p] = n + shards->n_ghosts++;
    struct port *ports = memory_zeroed_lines(n + shards->n_ghosts, sizeof *ports);
    memcpy(ports, net->ports, n * sizeof *ports);
    free(net->ports);
    net->ports = ports;
    net->cold = memory_resize(net->cold, n + shards->n_ghosts, sizeof *net->cold);
    shards->real_of = memory_zeroed(shards->n_ghosts + 1, sizeof *shards->real_of);
    for (uint32_t p = 0; p < n; p++) {
        uint32_t ghost = shards->ghost_of[p];
        if (ghost == 0)
            continue;
        shards->real_of[ghost - n] = p;
        network_make_special(net, p, SPECIAL_CROSSES);
        net->ports[ghost] = net->ports[p];
        net->ports[ghost].flags = net->ports[p].flags & PORT_FAULTY;
        net->ports[ghost].wake_ps = PS_NEVER;
        net->cold[ghost] = net->cold[p];
        net->cold[ghost].special = 0;
    }
}

static void mark_borders(struct network *net, const uint16_t *tile_of)
{
    for (uint32_t p = 0; p < net->n_ports; p++)
        if (tile_of[net->ports[p].node] != tile_of[net->ports[p].peer_node])
            net->ports[p].flags |= PORT_CROSSES;
}

static void share_meta(const struct network *net)
{
    const struct network_shards *shards = net->shards;
    struct meta_pool *pools[SHARDS_MAX];
    for (uint32_t i = 0; i < shards->n; i++)
        pools[i] = &shards->nets[i].meta;
    meta_pools_share(&net->meta, pools, shards->n);
}

struct network_shards *network_shard(struct network *net, const struct shards_cut *cut)
{
    struct network_shards *shards = net->shards = memory_zeroed(1, sizeof *shards);
    const uint16_t *shard_of = cut->shard_of;
    uint32_t n = cut->shards;
    shards->n = n;
    shards->n_tiles = cut->tiles;
    shards->ghost_of = memory_zeroed(net->n_ports, sizeof *shards->ghost_of);
    shards->due = memory_zeroed(n, sizeof *shards->due);
    shards->arrivals = memory_zeroed(cut->tiles, sizeof *shards->arrivals);
    add_ghosts(net, shard_of);
    mark_borders(net, cut->tile_of);
    shards->nets = memory_zeroed(n, sizeof *shards->nets);
    for (uint32_t i = 0; i < n; i++) {
        struct network *shard = &shards->nets[i];
        *shard = *net;
        shard->shard = i;
        ring_pool_init(&shard->rings);
        fifo_pool_init(&shard->pool);
        shard->packet_hops = 0;
        memset(shard->drops, 0, sizeof shard->drops);
    }
    share_meta(net);
    for (uint32_t p = 0; p < net->n_ports; p++) {
        struct network *shard = &shards->nets[shard_of[net->ports[p].node]];
        net->pfc[p].expiry.data = shard;
        if (net->credits)
            net->credits[p].timer.data = shard;
    }
    return shards;
}

void network_shards_update(struct network *net)
{
    const struct network_shards *shards = net->shards;
    for (uint32_t i = 0; shards && i < shards->all->n; i++) {
        shards->nets[i].links = net->links;
        shards->nets[i].n_links = net->n_links;
    }
}

void network_unite(struct network *net)
{
    const struct network_shards *shards = net->shards;
    for (uint32_t i = 0; i < shards->all->n_own; i++) {
        struct network *shard = &shards->nets[i];
        net->packet_hops += shard->packet_hops;
        COUNTERS_ADD(&net->drops, &shard->drops);
    }
}

void network_shards_free(struct network *net)
{
    struct network_shards *shards = net->shards;
    if (!shards)
        return;
    network_free_packets(net);
    free(shards->nets);
    free(shards->ghost_of);
    free(shards->real_of);
    for (uint32_t i = 0; i < shards->n; i++)
        free(shards->due[i].ports);
    for (uint32_t i = 0; i < shards->n_tiles; i++)
        free(shards->arrivals[i].ports);
    free(shards->due);
    free(shards->arrivals);
    passage_free(shards->passage);
    free(shards);
    net->shards = NULL;
}

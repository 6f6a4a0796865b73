// SPDX-License-Identifier: MIT
// A network in tiles and shards (engine/shards.h): packets that cross from one to another.
//
// The shards share the arrays of ports, links and faults, since each entry belongs to one shard.
// Each shard has a struct network of its own with its engine, its pools of packets, and its
// counters.
//
// A link between two tiles of one shard holds its packets like any other link. Its port computes
// the departures of a window by the end of the window, so that all packets that arrive in the next
// window are in the link by then. A link between two shards has two ports: the real one, through
// which its shard sends, and a ghost, an entry behind the last port, which holds packets in flight
// for the receiving shard.
//
// Credit (net/credit_balance.h) has no packet: it returns to another tile by letter, also within a
// shard, and takes the delay of the link, so a window is not longer than that.
#pragma once

#include "engine/shards.h"
#include "net/credit_balance.h"
#include "net/network.h"
#include "net/passage.h"

struct border_list {
    uint32_t *ports;
    size_t n, cap;
};

struct network_shards {
    struct shards *all;
    struct passage *passage; // to other processes; NULL = there is one
    struct network *nets;    // [shard]
    uint32_t n, n_tiles;
    uint32_t *ghost_of; // [port] 0 = its link does not leave the shard
    uint32_t *real_of;  // [ghost - n_ports]
    uint32_t n_ghosts;
    struct border_list *due;      // [shard] ports with PORT_DUE
    struct border_list *arrivals; // [tile] ports and ghosts whose first packet in flight is not an
                                  // event yet: it arrives in the tile
};

// Cut a network whose ports are set and which holds no packet. The nets have copies of the
// operations, whose contexts the caller replaces. `all` may be set afterwards.
struct network_shards *network_shard(struct network *net, const struct shards_cut *cut);

// Add the counters of the shards to those of the network; call when the run has ended.
void network_unite(struct network *net);
void network_shards_free(struct network *net);

// Give the shards the network's present array of links, which may have grown.
void network_shards_update(struct network *net);

// A packet leaves by a port whose far end belongs to another shard. Its meta-data stay where they
// are. If the other shard is being processed at the same time, the packet is sent as a letter.
void crossing_send(struct network *net, uint32_t port, const struct packet *p, ps_t arrives_ps);

// Credit returns to a port of another tile. Returns false if the tiles are not being processed
// apart, so that the port may be changed at once.
bool crossing_credit(struct network *net, uint32_t port, const struct credit_return *r);

// Put the packets and the credit that have been sent to a shard on their links.
void crossing_receive(struct network *net);
// Put the packets and the credit that another process has sent on their links. Shard `from`
// represents that process.
void crossing_arrive(struct network_shards *shards, uint32_t from, const struct mailbox *letters);

// A port with PORT_CROSSES has a departure at its wake_ps, which is not an event.
void crossing_due(struct network *net, uint32_t port);

// Let the ports of a shard whose links leave their tiles compute their departures until `until_ps`.
// Returns the time of their next departure, or PS_NEVER.
ps_t crossing_depart(struct network *net, ps_t until_ps);

// The first packet of a flight that ends in another tile, or on a ghost, arrives at `arrives_ps`.
void crossing_arrival(struct network *net, uint32_t port, ps_t arrives_ps);

// Called when a tile is about to be processed: make events of the first packets that arrive in it.
void crossing_enter(struct network *net, uint32_t tile);

static inline uint32_t network_ghosts(const struct network *net)
{
    return net->shards ? net->shards->n_ghosts : 0;
}

// Returns the real port of a ghost, or the port itself if it is none.
static inline uint32_t network_real_port(const struct network *net, uint32_t port)
{
    return port < net->n_ports ? port : net->shards->real_of[port - net->n_ports];
}

// Returns the network of the shard that a port belongs to; a ghost belongs to the receiving shard.
static inline const struct network *network_at_port(const struct network *net, uint32_t port)
{
    if (!net->shards)
        return net;
    const struct port *p = &net->ports[port];
    uint32_t node = port < net->n_ports ? p->node : p->peer_node;
    return &net->shards->nets[net->shards->all->shard_of[node]];
}
static inline struct network *network_of_port(struct network *net, uint32_t port)
{
    return net->shards ? &net->shards->nets[network_at_port(net, port)->shard] : net;
}

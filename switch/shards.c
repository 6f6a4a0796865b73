// SPDX-License-Identifier: MIT
// The switches of a network in shards. A switch belongs to one shard, so only references to the
// network differ between the shards.
#include "engine/base/memory.h"
#include "net/crossing.h"
#include "switch/switch.h"

struct switches *switches_shard(struct switches *sw)
{
    const struct network_shards *shards = sw->net->shards;
    const struct shards *all = shards->all;
    struct switches *of = memory_zeroed(all->n, sizeof *of);
    for (uint32_t i = 0; i < all->n; i++) {
        of[i] = *sw;
        of[i].net = &shards->nets[i];
        of[i].n_watchdogs_armed = 0;
        of[i].net->ops[NET_SWITCH].ctx = of[i].net->ops[NET_ROUTER].ctx = &of[i];
    }
    for (uint32_t p = 0; p < sw->net->n_ports; p++)
        sw->ports[p].pfc.refresh.data = &of[all->shard_of[sw->net->ports[p].node]];
    for (uint32_t i = 0; sw->watchdogs && i < sw->net->n_ports * sw->net->n_data; i++) {
        struct watchdog *w = &sw->watchdogs[i];
        w->sw = &of[all->shard_of[sw->net->ports[w->port].node]];
    }
    return of;
}

void switches_unite(struct switches *sw, const struct switches *shards)
{
    for (uint32_t i = 0; i < sw->net->shards->all->n_own; i++)
        sw->n_watchdogs_armed += shards[i].n_watchdogs_armed;
}

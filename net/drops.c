// SPDX-License-Identifier: MIT
// Packets that end before their destination.
#include "net/network.h"

static void count(struct drops *drops, const struct packet *p)
{
    drops->packets++;
    drops->bytes += p->frame_bytes;
}

static void tell(const struct network *net, uint32_t port, const struct packet *p,
                 enum drop_reason reason, struct drop_level level, ps_t now)
{
    if (net->cold[port].special & SPECIAL_TAPPED && net->tap.dropped)
        net->tap.dropped(net->tap.ctx, port, p, reason, level, now);
}

void network_drop(struct network *net, uint32_t port, struct packet *p, enum drop_reason reason,
                  struct drop_level level, ps_t now)
{
    count(&net->drops[reason], p);
    count(&net->cold[port].dropped, p);
    tell(net, port, p, reason, level, now);
    packet_end(net, p);
}

void network_lose(struct network *net, uint32_t port, struct packet *p, enum drop_reason reason,
                  ps_t now)
{
    count(&net->drops[reason], p);
    count(&net->cold[port].lost, p);
    tell(net, port, p, reason, (struct drop_level){0}, now);
    packet_end(net, p);
}

// SPDX-License-Identifier: MIT
// Credit-based flow control of a link, by class: the far end has a buffer for the class, and the
// sender starts a packet only if the far end has room for it.
//
// Credit is counted in blocks of 64 bytes of frames (InfiniBand Architecture 1.4, section 7.9). A
// packet takes its blocks when its transmission starts. They return when the far end has freed the
// packet's buffer, after the delay of the link in the other direction; the messages that carry them
// take no bandwidth. A class waits while it lacks credit for the largest packet, even if its next
// packet is smaller. The blocks of packets that the link loses return as well, because flow control
// packets carry the total that was sent.
#pragma once

#include "net/network.h"

#define CREDIT_BLOCK_BYTES 64

struct credit_return {
    ps_t at_ps;
    uint32_t blocks;
    unsigned cls;
};

// The sender's side of a link.
struct credit_port {
    /* config */
    uint8_t classes;                    // bit set of classes with credits; 0 = none
    uint32_t limit_blocks, full_blocks; // of the far end's buffer; of the largest packet
    ps_t return_ps;                     // delay of the other direction
    bool by_nic; // the NIC of the rank at the far end returns credit, not the router of the rank
    /* state */
    uint32_t blocks[NET_CLASSES];  // available
    struct credit_return *returns; // on their way back: a ring
    uint32_t first, n, cap;        // cap is a power of two, or 0
    struct sim_timer timer;        // arrival of the first of them
};

static inline uint32_t credit_blocks(uint32_t frame_bytes)
{
    return (frame_bytes + CREDIT_BLOCK_BYTES - 1) / CREDIT_BLOCK_BYTES;
}

// Let a port need credit for the classes of a bit set, with `limit_blocks` for each; the largest
// packet takes `full_blocks`. Call before the first event.
void network_set_credits(struct network *net, uint32_t port, uint8_t classes, uint32_t limit_blocks,
                         uint32_t full_blocks);
void credits_free(struct network *net);

// A packet of a class with credits starts on the port.
void credits_take(struct network *net, uint32_t port, const struct packet *p, ps_t now);

// Credit is on its way back to a port.
void credits_put(struct network *net, uint32_t port, const struct credit_return *r);

// The far end of the link behind a port has freed the buffer of a packet, or the packet is lost:
// return its credit.
void credits_return(struct network *net, uint32_t port, unsigned cls, uint32_t frame_bytes,
                    ps_t now);

// True if the port has credits for the class.
static inline bool port_has_credits(const struct network *net, uint32_t port, unsigned cls)
{
    return net->credits && net->credits[port].classes >> cls & 1;
}

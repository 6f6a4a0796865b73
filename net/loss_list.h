// SPDX-License-Identifier: MIT
// Losses that a scenario lists, on one direction of a link: chosen data packets, and blackouts.
//
// First transmissions of data packets with payload are counted in the order of their arrival, from
// 1. A chosen packet loses its first transmission, or its first few. All other packets pass: ACKs,
// PFC frames, and retransmissions of packets that were not chosen. This reproduces measured runs in
// which a box in front of the bottleneck drops a list of packets.
#pragma once

#include "net/meta.h"
#include "net/packet.h"

struct loss_rule {
    uint64_t every;           // choose each packet whose number it divides; 0 = none
    const uint64_t *packets;  // chosen packets, ascending; borrowed
    size_t n_packets;         //
    uint64_t times;           // transmissions of each chosen packet that are lost
    uint64_t blackout_packet; // the arrival of this packet begins a blackout; 0 = none
    ps_t blackout_ps;         // length of the blackout, in which everything is lost
    size_t next;              // state: index of the next one of `packets`
};

// A chosen packet whose next `left` retransmissions are lost.
struct loss_again {
    uint32_t flow, seq;
    uint64_t left;
};

struct loss_list {
    /* config */
    struct loss_rule *rules;
    size_t n_rules, cap_rules;
    /* state */
    uint64_t seen; // first transmissions so far
    ps_t blackout_until_ps;
    struct loss_again *again;
    size_t n_again, cap_again;
};

void loss_list_free(struct loss_list *list);
void loss_list_add(struct loss_list *list, const struct loss_rule *rule);

// Returns true if the list loses the packet, whose arrival is p->arrives_ps. Call once for every
// packet of the link, in order of arrival.
bool loss_list_hits(struct loss_list *list, const struct packet *p, const struct packet_meta *meta);

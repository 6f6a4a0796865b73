// SPDX-License-Identifier: MIT
// PFC as a port sends it to the sender at the other end of its link: XOFF, XON, and the refresh of
// pauses that must last longer (IEEE 802.1Qbb). Its owner, a switch or a NIC, decides when.
#pragma once

#include "net/network.h"

struct pfc_sender {
    struct sim_timer refresh; // its callback calls pfc_sender_renew()
    ps_t refresh_every_ps;    // half of the quanta of its XOFF
    uint8_t xoff_sent;        // bit set of classes that this port has paused
};

// Pause classes. A refresh covers all paused classes at once, so the timer of the first class is
// early enough for the others.
void pfc_sender_xoff(struct pfc_sender *sender, struct network *net, uint32_t port, uint8_t classes,
                     uint16_t quanta, const struct pfc_cause *cause, ps_t now);

// Send XON for classes, so that the sender at the far end resumes them.
void pfc_sender_xon(struct pfc_sender *sender, struct network *net, uint32_t port, uint8_t classes,
                    const struct pfc_cause *cause, ps_t now);

// Send XOFF again for all classes that are paused, and start the timer again.
void pfc_sender_renew(struct pfc_sender *sender, struct network *net, uint32_t port,
                      uint16_t quanta, const struct pfc_cause *cause, ps_t now);

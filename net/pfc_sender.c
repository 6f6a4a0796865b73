// SPDX-License-Identifier: MIT
// PFC as a port sends it.
#include "net/pfc_sender.h"

void pfc_sender_xoff(struct pfc_sender *sender, struct network *net, uint32_t port, uint8_t classes,
                     uint16_t quanta, const struct pfc_cause *cause, ps_t now)
{
    port_send_pfc(net, port, classes, quanta, cause, now);
    if (sender->xoff_sent == 0)
        sim_timer_start(net->engine, &sender->refresh, now + sender->refresh_every_ps);
    sender->xoff_sent |= classes;
}

void pfc_sender_xon(struct pfc_sender *sender, struct network *net, uint32_t port, uint8_t classes,
                    const struct pfc_cause *cause, ps_t now)
{
    port_send_pfc(net, port, classes, 0, cause, now);
    sender->xoff_sent &= (uint8_t)~classes;
    if (sender->xoff_sent == 0)
        sim_timer_stop(&sender->refresh);
}

void pfc_sender_renew(struct pfc_sender *sender, struct network *net, uint32_t port,
                      uint16_t quanta, const struct pfc_cause *cause, ps_t now)
{
    port_send_pfc(net, port, sender->xoff_sent, quanta, cause, now);
    sim_timer_start(net->engine, &sender->refresh, now + sender->refresh_every_ps);
}

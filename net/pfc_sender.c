// SPDX-License-Identifier: MIT
// Makes the PFC frames of a port: XOFF, XON and refreshes.
#include "net/pfc_sender.h"

// If notes are kept, give a PFC frame a slot of meta-data for the reason why it is sent.
static void note_pfc(struct network *net, uint32_t index, struct packet *p,
                     const struct pfc_cause *cause)
{
    p->meta = meta_alloc(&net->meta);
    *meta_at(&net->meta, p->meta) = (struct packet_meta){0};
    struct packet_note *note = meta_note(&net->meta, p->meta);
    note->set = NOTE_XOFF | NOTE_MADE | (cause->renews ? NOTE_RENEWS : 0);
    note->made_ps = p->arrives_ps;
    note->ingress_port = index;
    note->ingress_bytes = cause->held_bytes;
    note->ingress_limit_bytes = cause->limit_bytes;
    if (!cause->trigger)
        return;
    note->set |= NOTE_TRIGGER;
    note->trigger_flow = cause->trigger->flow;
    note->trigger_seq = meta_at(&net->meta, cause->trigger->meta)->seq;
    struct packet_note *other = meta_note(&net->meta, cause->trigger->meta);
    if (other) {
        other->set |= NOTE_XOFF;
        other->ingress_port = index;
        other->ingress_bytes = cause->held_bytes;
        other->ingress_limit_bytes = cause->limit_bytes;
    }
}

// Record which source holds which classes. Returns the classes for which a frame must be sent.
static uint8_t classes_to_send(struct port_pfc *pfc, uint8_t classes, uint16_t quanta,
                               enum pfc_source source)
{
    if (quanta > 0) {
        pfc->held[source] |= classes;
        return classes;
    }
    pfc->held[source] &= (uint8_t)~classes;
    // A router and the NIC of its rank share the port, so a class resumes only when neither holds
    // it.
    return classes & (uint8_t) ~(pfc->held[PFC_SWITCH] | pfc->held[PFC_NIC]);
}

void port_send_pfc(struct network *net, uint32_t index, uint8_t classes, uint16_t quanta,
                   const struct pfc_cause *cause, ps_t now)
{
    if (cause)
        classes = classes_to_send(&net->pfc[index], classes, quanta, cause->source);
    if (classes == 0)
        return;
    struct packet p = {.pfc = packet_pfc(classes, quanta),
                       .frame_bytes = NET_PFC_FRAME_BYTES,
                       .wire_bytes = (uint16_t)net->pfc_wire_bytes,
                       .kind = PACKET_PFC,
                       .arrives_ps = now};
    if (cause && net->meta.keeps_notes)
        note_pfc(net, index, &p, cause);
    if (quanta > 0)
        net->pfc[index].tx_pause++;
    else
        net->pfc[index].tx_resume++;
    port_enqueue(net, index, &p, now);
}

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

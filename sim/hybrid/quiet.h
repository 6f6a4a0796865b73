// SPDX-License-Identifier: MIT
// Messages in closed form.
#pragma once

#include "sim/hybrid/hybrid_internal.h"

// Post a message on a connection whose ports nobody else uses.
void quiet_post(struct hybrid *h, const struct sender *s, const struct transfer_request *request,
                ps_t now);

// The ACKs of a sender's data pass its way back in [from, until), and delay quiet data there.
void quiet_acks_pass(struct hybrid *h, const struct sender *s, double from, double until, ps_t now);

// Count the first `packets` packets of a message at the ports of its connection, and their ACKs.
void quiet_count_data(struct hybrid *h, const struct quiet_connection *c,
                      const struct ideal_wire *w, uint64_t packets);
void quiet_count_acks(struct hybrid *h, const struct quiet_connection *c, const struct sender *s,
                      const struct ideal_wire *w, uint64_t packets);
// Count what the hops have sent of the first `most` packets of a message that began at begin_ps,
// and that the end of the run cuts off.
void quiet_count_running(struct hybrid *h, const struct quiet_connection *c,
                         const struct ideal_wire *w, double begin_ps, uint64_t most);

// Give back a message that has ended or has become packets.
void quiet_give(struct hybrid *h, struct quiet_message *m);

// What a sender would say of the message now. `done`: its last ACK has arrived.
struct message_end quiet_end(const struct quiet_message *m, bool done);

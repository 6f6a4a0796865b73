// SPDX-License-Identifier: MIT
// Messages in closed form.
#pragma once

#include "sim/hybrid/hybrid_internal.h"
#include "sim/ideal/ideal.h"

// Post a message on a connection whose ports nobody else uses.
void quiet_post(struct hybrid *h, const struct sender *s, const struct transfer_request *request,
                ps_t now);

// Count the first `packets` packets of a message, and their ACKs, at the ports of its connection.
void quiet_count(struct hybrid *h, const struct quiet_connection *c, const struct sender *s,
                 const struct quiet_message *m, uint64_t packets);

// What a sender would say of the message now. `done`: its last ACK has arrived.
struct message_end quiet_end(const struct quiet_message *m, bool done);

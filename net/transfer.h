// SPDX-License-Identifier: MIT
// The interface through which workloads send messages, the same for every network.
#pragma once

#include <stdbool.h>

#include "collwire/hint.h"
#include "engine/base/units.h"

// The part of a collective that a message belongs to.
struct message_origin {
    const char *op;        // name of the operation; NULL = the message belongs to no collective
    const char *name;      // of the job or the layer
    uint32_t communicator; // number among those of the job
    uint32_t collective;   // number among those of the communicator
    uint32_t chunk, phase; // phase: turn of the dimension
    uint32_t step;         // of the algorithm
};

struct transfer_request {
    uint32_t src, dst; // ranks, src != dst
    uint64_t bytes;    // 0 is legal: a message of headers only
    uint32_t job, channel;
    uint32_t stripe; // 1, 2, ... = part of a message that is split over planes; 0 = whole message
    uint8_t of_dim;  // 1 + the dimension that it takes; 0 = by its size and its ends
    uint32_t cls;    // class of its data packets
    uint32_t transport;  // number of the transport that carries it; 0 = the default
    bool own_connection; // use a connection of its own (raw flows)
    bool joined;         // the job's ranks have connected before it starts (collectives, programs)
    bool control;        // of the network itself: in the control class, not recorded, not counted
    bool unrecorded;     // an internal message of a library: not recorded, not counted
    bool immediate; // RoCE: the last packet carries an immediate value, which notifies the receiver
    uint32_t
        piece_of;   // 1 + number among the messages of src that this is a piece of; 0 = a message
    uint64_t token; // passed back to the client
    struct cc_hint hint;
    struct message_origin origin;
};

// Callbacks of the network to the poster of messages. Each runs within the event that caused it and
// may post further messages from the rank of that event.
struct transfer_client {
    // The last byte of the message has arrived at the receiver; `bytes` is its size.
    void (*delivered)(void *ctx, uint64_t token, uint64_t bytes, ps_t now);
    // The sender's program may continue before the message has been sent, because its last byte has
    // entered the send buffer of the connection (TCP; also within post()), or because it has left
    // for a relay. In all other cases it is not called. May be NULL: then programs continue when
    // the message is sent.
    void (*entered)(void *ctx, uint64_t token, ps_t now);
    // The last ACK has arrived at the sender.
    void (*sent)(void *ctx, uint64_t token, ps_t now);
    // The transport has given up. No other callback follows for the message.
    void (*failed)(void *ctx, uint64_t token, ps_t now);
    void *ctx;
};

// declared in collective/algorithm/phase.h; a packet network passes them on without reading them
struct coll_phase_call;
struct coll_phase_cost;

struct transfer {
    void (*post)(void *net, const struct transfer_request *request, ps_t now);
    // A network without contention may compute the cost of a whole collective phase that all its
    // ranks start at once, in closed form. Returns true and sets *cost if it can. NULL = it never
    // can.
    bool (*phase)(void *net, const struct coll_phase_call *phase, struct coll_phase_cost *cost);
    void *net;
};

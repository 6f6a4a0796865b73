// SPDX-License-Identifier: MIT
// The state of clear-to-send admission (clear_to_send.c), shared with its records.
#pragma once

#include "engine/base/slots.h"
#include "sim/delivery/layer.h"
#include "transport/sender/pairs.h"

#define PIECE_BIT (UINT64_C(1) << 62) // tokens of the workload and of the relay do not have it
#define GRANT_BIT (UINT64_C(1) << 61) // with PIECE_BIT: a grant
#define CHANNEL_SHIFT 40
#define GRANT_CHANNEL UINT32_MAX // transfer_request.channel of grants
#define NIL UINT32_MAX

struct admitted { // a message, from its post until all its pieces have ended
    struct transfer_request request;
    uint64_t sent_bytes, delivered_bytes; // bytes of posted and of delivered pieces
    uint64_t n_pieces, posted, delivered, ended, recorded;
    uint32_t pair, dim;
    uint32_t number; // transfer_request.piece_of
    uint32_t next;   // next waiting message of the pair
    uint32_t path;   // critical path up to the post while pieces wait; else 0
    ps_t posted_ps;
    ps_t ended_ps; // end of the piece that ended last; possibly known before that of another one
    bool used, failed;
    struct flow_record record;
};

struct copy { // a slot that the receiver copies
    ps_t due_ps;
    uint32_t channel, path;
};

struct clear_to_send_pair { // of one sender and one receiver, in one job
    struct clear_to_send *a;
    struct transfer_request grant; // template of the receiver's grants
    const struct transport_spec *spec;
    uint32_t head, tail; // messages with pieces to post
    uint32_t turn;       // channel that is tried first
    bool feeding;
    uint32_t *free_slots; // [channel] grants that the sender holds
    /* of the receiver */
    struct sim_timer copied;
    struct copy *copies; // a ring of channels * slots; NULL before the first
    uint32_t first_copy, n_copies;
};

struct clear_to_send {
    struct delivery *delivery;
    struct layer layer;
    struct transfer below;  // for pieces
    struct transfer ledger; // for grants, which are not striped
    struct pair_table table;
    struct clear_to_send_pair **pairs;
    size_t cap_pairs;
    uint32_t n_pairs;
    struct admitted *messages;
    struct slots numbers; // of messages
    uint64_t n_copying;
    uint64_t cancelled_bytes; // bytes of failed messages that were never posted
    struct admission_result counts;
};

static inline bool clear_to_send_is_grant(uint64_t token)
{
    return token & PIECE_BIT && token & GRANT_BIT;
}
static inline bool clear_to_send_is_piece(uint64_t token)
{
    return (token & (PIECE_BIT | UINT64_C(1) << 63 | GRANT_BIT)) == PIECE_BIT;
}

// Cancel the pieces of a message that wait, after a piece has failed.
void clear_to_send_cancel(struct clear_to_send *a, uint32_t slot);

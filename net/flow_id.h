// SPDX-License-Identifier: MIT
// The description of a flow for its receiver and for captures; looked up by flow handle, off the data path.
// The source writes it when it opens the flow, and again when it renames the connection before a message; the
// destination reads it from the connection's first packet on.
#pragma once

#include <stdint.h>

struct frame_ops; // wire/frame.h

// A connection from src to dst. Data goes from src_port to connection number dst_conn; ACKs and CNPs go back
// from dst_port to src_conn.
struct flow_id {
    const struct frame_ops *frames; // encoder of its packets
    uint32_t src, dst;              // ranks
    uint32_t src_node, dst_node;    // whose ports they use: their own, unless they share a NIC
    uint32_t number;                // of the flows that src has opened
    uint32_t src_conn, dst_conn;    // connection numbers at its ends. RoCE: QPN, 24 bits
    uint32_t entropy, back_entropy; // packet.entropy of data, of what comes back
    uint16_t src_port, dst_port;    // source ports of data, of what comes back
    uint16_t job;                   // index of the job that opened it
    uint16_t dim;                   // dimension of the network it runs in
    uint16_t int_bytes;             // INT trailer of its data and ACKs, 0 = none
    uint8_t cls;                    // of its data
    uint8_t data_dscp, ack_dscp, cnp_dscp; // DSCP of data, of its ACKs and of its CNPs
};

struct flow_ids {
    struct flow_id *ids;
    uint32_t n, cap;
};

// SPDX-License-Identifier: MIT
// The description of a flow for its receiver and for captures, looked up by flow handle outside the
// data path. The source writes it when it opens the flow, and again when a message gets new
// connection numbers. The destination reads it from the connection's first packet on.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct frame_ops; // net/wire/frame.h

// A connection from src to dst. Data goes from src_port to connection number dst_conn. ACKs and
// CNPs go from dst_port to src_conn.
struct flow_id {
    const struct frame_ops *frames; // encoder of its packets
    uint32_t src, dst;              // ranks
    uint32_t src_node, dst_node;    // nodes whose ports src and dst use: their own, unless they
                                    // share a NIC
    uint32_t number;                // sequence number among the flows that src has opened
    uint32_t src_conn, dst_conn;    // connection numbers at src and dst. RoCE: 24-bit QPN
    uint32_t entropy, back_entropy; // packet.entropy of data, and of ACKs and CNPs
    uint32_t channel;               // struct transfer_request
    uint32_t window_bytes;          // TCP: receive window
    uint16_t src_port, dst_port;    // UDP source port of data, and of ACKs and CNPs
    uint16_t job;                   // index of the job that opened the flow
    uint16_t dim;                   // network dimension of the flow
    uint16_t int_bytes;             // bytes of the INT trailer of data and ACKs; 0 = none
    uint16_t mss_bytes;             // TCP: payload of a full segment
    uint8_t window_scale;           // TCP: scale of the window fields
    uint8_t transport;              // number of its transport in the dimension
    uint8_t cls;                    // class of the data packets
    uint8_t data_dscp, ack_dscp, cnp_dscp;  // DSCP of data, ACKs and CNPs
    bool sack : 1, timestamps : 1, ecn : 1; // TCP: as negotiated
    bool joined : 1, immediate : 1;         // struct transfer_request
    bool duplex : 1;      // TCP: the flow back is the other direction of the connection
    bool established : 1; // TCP: before the start, without a handshake in the run
};
_Static_assert(sizeof(struct flow_id) <= 72, "one for each queue pair");

struct flow_ids {
    struct flow_id *ids;
    uint32_t first, n; // flows of this process: [first, n)
    uint32_t cap;
};

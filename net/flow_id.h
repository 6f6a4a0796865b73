// SPDX-License-Identifier: MIT
// The names a flow has on the wire: cold, looked up by flow index when a header is written.
#pragma once

#include <stdint.h>

// A queue pair connection from src to dst. Data goes src -> dst to dst_qpn from UDP port
// src_udp; ACKs and CNPs go back to src_qpn from UDP port dst_udp.
struct flow_id {
    uint32_t src, dst;                     // ranks
    uint32_t src_qpn, dst_qpn;             // 24 bits
    uint16_t src_udp, dst_udp;             // entropy of ECMP; destination port is always 4791
    uint16_t job;                          // index of the job that opened it
    uint16_t dim;                          // dimension of the network it runs in
    uint16_t int_bytes;                    // INT trailer of its data and ACKs, 0 = none
    uint8_t data_dscp, ack_dscp, cnp_dscp; // DSCP of data, of its ACKs and of its CNPs
};

struct flow_ids {
    struct flow_id *ids;
    uint32_t n, cap;
};

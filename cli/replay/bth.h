// SPDX-License-Identifier: MIT
// Headers of RoCEv2 behind UDP: BTH, and the length of a message in the extended headers.
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  |    opcode     |S|M|pad|  tver |             p_key             |
//  |F|B| reserved  |               destination QP                  |
//  |A|  reserved   |                     PSN                       |
//
// Source: InfiniBand Architecture Specification, volume 1, sections 9.2 and 9.3; annex A14 (XRC),
// annex A17 (RoCEv2).
#pragma once

#include "cli/replay/dissect.h"

enum bth_operation { BTH_SEND, BTH_WRITE, BTH_READ_REQUEST, BTH_READ_RESPONSE };

struct bth {
    enum bth_operation operation;
    bool first, last;       // of the packets of a message
    bool sized;             // message_bytes is known
    uint32_t qpn, psn;      // 24 bits; qpn is the destination's
    uint32_t payload;       // bytes of this packet
    uint32_t message_bytes; // DMA length of the RETH
};

// Read the headers from the BTH on; body.length is the payload of UDP. Returns SKIP_NONE, or why
// the packet carries no part of a message.
enum skip bth_read(const struct span *body, struct bth *out);

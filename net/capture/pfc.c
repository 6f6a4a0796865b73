// SPDX-License-Identifier: MIT
// PFC frame encoder (IEEE 802.1Qbb; 802.3 annex 31D): a MAC control frame to the other end of the
// link.
//
//  01:80:C2:00:00:01 | source MAC | 0x8808 | opcode 0x0101 | class vector 16 | quanta[8] 16 | pad
//
// Classes outside the vector have time 0, which a receiver ignores.

#include "net/capture/pfc.h"

#include <string.h>

#include "net/wire/bytes.h"
#include "net/wire/ip.h"

#define PFC_DST_MAC UINT64_C(0x0180c2000001)
#define PFC_OPCODE 0x0101
#define PFC_CLASSES 8

void pfc_encode(uint64_t src_mac, uint8_t class_vector, uint16_t quanta, struct frame *frame)
{
    frame->head_bytes = PFC_FRAME_BYTES;
    frame->zero_bytes = frame->tail_bytes = 0;
    memset(frame->head, 0, PFC_FRAME_BYTES);
    uint8_t *at = ethernet_put(frame->head, PFC_DST_MAC, src_mac, ETHERTYPE_MAC_CONTROL);
    at = put16(at, PFC_OPCODE);
    at = put16(at, class_vector);
    for (int cls = 0; cls < PFC_CLASSES; cls++)
        at = put16(at, class_vector >> cls & 1 ? quanta : 0);
}

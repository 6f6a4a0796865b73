// SPDX-License-Identifier: MIT
// The priority flow control frame.
#pragma once

#include "net/wire/frame.h"

#define PFC_FRAME_BYTES 60 // without FCS

// Encode a frame that pauses each class in `class_vector` for `quanta` (0 = resume).
void pfc_encode(uint64_t src_mac, uint8_t class_vector, uint16_t quanta, struct frame *frame);

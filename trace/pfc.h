// SPDX-License-Identifier: MIT
// The priority flow control frame.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PFC_FRAME_BYTES 60 // without FCS

// Write the first min(cap, PFC_FRAME_BYTES) bytes of a frame that pauses each class in
// `class_vector` for `quanta` (0 = resume) to `out`, and return how many.
size_t pfc_encode(uint64_t src_mac, uint8_t class_vector, uint16_t quanta, uint8_t *out,
                  size_t cap);

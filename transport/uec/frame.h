// SPDX-License-Identifier: MIT
// UEC packets as frames.
#pragma once

#include "net/wire/frame.h"

#define UEC_UDP_PORT 4793

extern const struct frame_ops uec_frames;

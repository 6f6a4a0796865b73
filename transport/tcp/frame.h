// SPDX-License-Identifier: MIT
// TCP packets as frames.
#pragma once

#include "net/wire/frame.h"

extern const struct frame_ops tcp_frames;

// SPDX-License-Identifier: MIT
// TCP packets as frames.
#pragma once

#include "wire/frame.h"

extern const struct frame_ops tcp_frames;

// SPDX-License-Identifier: MIT
// Reasons for packet drops. One line of DROP_LIST is one reason: its constant, its key in metrics,
// its meaning, and the sentence that explains it in a result (NULL where sim/explain/explain.c
// writes its own sentence).
#pragma once

#include "engine/counters.h"
#include <stdint.h>

#define DROP_LIST(X)                                                                               \
    X(HEADROOM, "headroom", "lossless: headroom was full", NULL)                                   \
    X(LOSSY_THRESHOLD, "lossy_threshold", "lossy: the output queue was above its threshold",       \
      "packets of lossy classes were dropped: egress queue above its threshold")                   \
    X(QUEUE_LIMIT, "queue_limit", "lossy: the output queue was at `switch.queue_limit`",           \
      "packets of lossy classes were dropped: egress queue at `switch.queue_limit`")               \
    X(CONTROL_LIMIT, "control_limit",                                                              \
      "control class: the output queue was at `switch.trimming.control_limit`",                    \
      "packets of the control class were dropped at `trimming.control_limit`")                     \
    X(RED, "red", "lossy: not ECN capable, where others are marked (`switch.ecn.not_ect`)",        \
      "packets that are not ECN capable were dropped where others are marked")                     \
    X(METER, "meter", "beyond the rate of a meter (`meters`)", NULL)                               \
    X(NO_ROUTE, "no_route", "no route to the destination", NULL)                                   \
    X(WATCHDOG, "watchdog", "by the PFC watchdog", NULL)                                           \
    X(NIC_BUFFER, "nic_buffer", "the receive buffer of a NIC was full (`nic.buffer`)",             \
      "packets were dropped by receiving NICs: their buffer (`nic.buffer`) was full")              \
    X(LINK_LOSS, "link_loss", "lost on links (`faults`)", NULL)                                    \
    X(LINK_CORRUPTION, "link_corruption", "corrupted on links (`faults`)", NULL)                   \
    X(LINK_DOWN, "link_down", "on links that were down (`faults`)", NULL)

#define DROP_CONSTANT(constant, key, help, sentence) DROP_##constant,
enum drop_reason { DROP_LIST(DROP_CONSTANT) DROP_REASONS };
#undef DROP_CONSTANT

// Packets and their frame bytes.
struct drops {
    uint64_t packets, bytes;
};
COUNTERS(struct drops);

// SPDX-License-Identifier: MIT
// The PFC frames of a switch.
#pragma once

#include "switch/switch.h"

// Pause the class of `trigger`, which has just arrived, for the sender at the other end of a port.
void switch_send_xoff(struct switches *sw, struct switch_node *s, uint32_t port,
                      const struct packet *trigger, ps_t now);
void switch_send_xon(struct switches *sw, struct switch_node *s, uint32_t port, unsigned cls,
                     ps_t now);
void switch_vote_for_cause(struct switches *sw, const struct switch_node *s, uint32_t in,
                           uint32_t out, ps_t now);

// The timer callback of switch_port.pfc, which renews the pauses.
void switch_refresh_pauses(struct engine *engine, struct sim_timer *timer, int revents);

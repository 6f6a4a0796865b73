// SPDX-License-Identifier: MIT
// Packets of classes with credits in a switch (net/credit_balance.h).
#pragma once

#include "switch/switch.h"

// Give back the credit of a packet that arrived by port `local` and uses no buffer.
void switch_return_credit(const struct switches *sw, const struct switch_node *s, uint32_t local,
                          const struct packet *p, ps_t now);

// Queue a packet at its output port; the credit has reserved its buffer.
void switch_hold_credited(struct switches *sw, struct switch_node *s, uint32_t local, uint32_t out,
                          struct packet *p, ps_t now);

// Release the buffer of a packet that has waited, and give back its credit.
void switch_release_credited(const struct switches *sw, struct switch_node *s,
                             const struct packet *p, ps_t now);

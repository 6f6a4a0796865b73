// SPDX-License-Identifier: MIT
// The state of switches: shared buffer, marking, the pauses they have sent (engine/state.h).
#pragma once

#include "engine/state.h"
#include "switch/switch.h"

void switches_visit(struct switches *sw, struct state *st);

// SPDX-License-Identifier: MIT
// The parts of a visit of hosts.
#pragma once

#include "transport/state.h"

void hosts_visit_policy(struct hosts_visit *v, struct state *st, struct sender *s,
                        struct state_base bytes);

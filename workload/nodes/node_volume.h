// SPDX-License-Identifier: MIT
// What a node program will send, from its nodes, before the run. `self` is its struct node_run.
#pragma once

#include "collective/traffic.h"

// Bytes of all messages of all ranks.
uint64_t node_run_bytes(const void *self);

// Add messages of a few ranks to the sample of `t`, weighted by their bytes.
void node_run_sample(const void *self, struct comm_traffic *t);

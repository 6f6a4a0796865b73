// SPDX-License-Identifier: MIT
// Checks a node program before a run. One that passes can only stop if ranks wait for each other.
//
// Per rank: ids that are used twice, dependencies on nodes that do not exist, cycles of
// dependencies (and of the order of streams, in a program that runs in order). Between ranks: peers
// that do not exist, sends without a receive and receives without a send, members of a group that
// issue different collectives. Memory is needed for the nodes of one rank, and for the channels and
// collectives of all.
#pragma once

#include "workload/nodes/node.h"

#define NODE_CHECK_ERRORS 20 // the check ends after so many

// Adds an error for each finding to `err`, below `path`. Returns 0, or -1 if there was one.
int node_program_check(const struct node_program *p, const char *path, struct err *err);

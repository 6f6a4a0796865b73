// SPDX-License-Identifier: MIT
// Programs in the text format GOAL: for each rank calculations, sends and receives, with the
// dependencies of each.
//
//   num_ranks 2
//   rank 0 {
//     l1: calc 100            // ns, on cpu 0
//     l2: send 10b to 1 tag 5 // cpu and nic may follow
//     l3: recv 10b from 1
//     l2 requires l1          // starts when l1 has ended
//     l3 irequires l1         // starts when l1 has started
//   }
//
// Statements may also be separated by semicolons, and labels left out. Calculations of one cpu run
// one at a time; sends and receives take no time of a cpu, and the nic is not used: a rank's ports
// are those of the scenario.
// Sources: Hoefler, Siebert & Lumsdaine, ICPP 2009 (GOAL); Hoefler, Schneider & Lumsdaine, HPDC
// 2010 (LogGOPSim); Shen et al., 2025 (ATLAHS).
#pragma once

#include "engine/base/err.h"
#include "workload/nodes/node.h"

// Read `file` for `n_ranks` ranks into *p, which node_program_free() releases also after errors. A
// node's id is the line of its operation, where no other is on the line. Returns 0, or -1 with
// errors at `path` that name file and line.
int goal_read(struct node_program *p, const char *file, uint32_t n_ranks, const char *path,
              struct err *err);

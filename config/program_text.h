// SPDX-License-Identifier: MIT
// Writes node programs as JSON lines, which jobs of kind `program` read
// (workload/nodes/read_program.c).
#pragma once

#include <stdio.h>

#include "workload/nodes/node.h"

// Write the groups and the nodes of all ranks. *comm_streams becomes the number of communication
// streams that the nodes use. Returns 0, or -1 with an error of the program's source.
int program_write(FILE *out, const struct node_program *p, unsigned *comm_streams, struct err *err);

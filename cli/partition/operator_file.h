// SPDX-License-Identifier: MIT
// A graph of operators as JSON:
// {"operators": [{"name": "a", "time_ns": 1000, "memory_bytes": 4096}, ..],
//  "edges": [{"from": "a", "to": "b", "bytes": 65536}, ..], "capacity_bytes": 80e9}
#pragma once

#include <jansson.h>

#include "cli/partition/operators.h"
#include "engine/base/err.h"

// Read and check the graph; *order gets a topological order, free(). Returns 0, or -1 with errors.
int operator_file_read(json_t *json, struct operator_graph *g, uint32_t **order, struct err *err);

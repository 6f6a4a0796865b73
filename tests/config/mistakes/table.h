// SPDX-License-Identifier: MIT
// Scenarios with one mistake each, and the message that names it.
#pragma once

#include <stddef.h>

#define FLOWS(list) "{\"kind\":\"flows\",\"flows\":[" list "]}"

// Further keys of the root, the list of dimensions, the workload; NULL = a valid default.
#define LLM(more)                                                                                  \
    "{\"kind\":\"llm\",\"layers\":4,\"hidden\":64,\"heads\":4,\"sequence\":64,\"vocabulary\":64,"  \
    "\"global_batch\":4," more "}"
#define LAYERS "\"layers\":[{\"name\":\"a\",\"wg\":{\"op\":\"all_reduce\",\"bytes\":9}}]"
#define TRAIN(more) "{\"kind\":\"training\",\"parallelism\":\"DATA\"," LAYERS more "}"

struct mistake {
    const char *root, *dims, *job, *want;
};

extern const struct mistake mistakes[];
extern const size_t n_mistakes;

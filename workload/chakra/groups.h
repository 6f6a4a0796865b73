// SPDX-License-Identifier: MIT
// Communicator groups of a set of traces: ordered lists of ranks with a name.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

struct trace_group {
    char *name;
    uint32_t *ranks; // [n] in the order of the group, NULL = all in order
    uint32_t n;
    bool *member; // [n_ranks]
};

struct trace_groups {
    struct trace_group *items; // the first one is all ranks, named ""
    size_t n, cap;
    uint32_t n_ranks;
};

void trace_groups_init(struct trace_groups *groups, uint32_t n_ranks);
void trace_groups_free(struct trace_groups *groups);

// Read a file {"NAME": [ranks], ..}. Errors at `path` name the file and the group.
int trace_groups_read(struct trace_groups *groups, const char *file, const char *path,
                      struct err *err);

// Add the process groups that PyTorch writes into metadata nodes, a text like
// ['[{"pg_name": "5", "ranks": [0, 1]}]']; without ranks a group is all. `where` names the node in
// errors. A text of another form is ignored.
int trace_groups_metadata(struct trace_groups *groups, const char *text, const char *where,
                          const char *path, struct err *err);

// The group of this name that has the rank as a member; "" and "0" are all ranks. *exists is set to
// whether there is any group of the name. NULL = there is none.
const struct trace_group *trace_groups_find(const struct trace_groups *groups, const char *name,
                                            uint32_t rank, bool *exists);

// SPDX-License-Identifier: MIT
// One node of a program in JSON.
#pragma once

#include "engine/base/table.h"
#include "workload/nodes/node_list.h"
#include "workload/nodes/program_job.h"
#include "workload/read/job_reader.h"

// The state while a program is read; its groups are read before its nodes.
struct nodes_reader {
    struct reader *r;
    const struct job_spec *job;
    struct program_settings *settings;
    struct node_list *list;
    uint32_t n_ranks;
    struct table group_of; // a kept name
    bool *seen;            // [rank] while the ranks of a group are read
    char **group_use;      // [group] use of its collectives
    // [group][uneven][op] root, plus 1, with which the algorithm has been checked last
    uint32_t (*checked)[2][COLL_OPS];
    uint64_t *after; // dependencies of the present node
    size_t cap_after;
};

// Read the node and add it to the ranks that it names; errors go to the reader.
void program_node_read(struct nodes_reader *n, const struct place *place);

json_t *program_node_schema(void);

// SPDX-License-Identifier: MIT
// A node program in memory: a source whose nodes were added one by one.
#pragma once

#include "engine/base/names.h"
#include "workload/nodes/node.h"

struct node_list {
    struct node_list_rank *ranks; // [n_ranks]
    uint32_t n_ranks;
    struct name_pool names;
    struct kept_vectors **vectors; // each stored once, since equal requests have equal pointers
    size_t n_vectors, cap_vectors;
};

// `self` is a struct node_list.
extern const struct node_source_ops node_list_source;

struct node_list *node_list_new(uint32_t n_ranks);
void node_list_free(void *list);

// Append a copy of a node to the rank's nodes.
void node_list_add(struct node_list *list, uint32_t rank, const struct node *node);
// The stored copy of sizes of vectors, [n] bytes, for nodes of the list.
const struct coll_uneven *node_list_vectors(struct node_list *list, const uint64_t *bytes, size_t n,
                                            bool of_receiver);

size_t node_list_size(const struct node_list *list, uint32_t rank);

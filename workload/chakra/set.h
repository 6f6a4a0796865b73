// SPDX-License-Identifier: MIT
// A set of execution traces, PREFIX.N.et for each rank N, as the nodes of a program.
//
// The set is checked before a run, rank by rank with memory for one rank at a time; a run reads the
// files again as it needs their nodes. Ranks whose files are links to one file share its check.
//
// Two sets of rules define how nodes run:
//   astra  as ASTRA-sim 2: one node at a time of each of three kinds (computation of the GPU,
//          operations of the CPU, communication and memory), a broadcast takes its duration and a
//          computation at least 1 ns; priorities are ignored
//   gpu    as a GPU does it: `streams` streams for communication, broadcasts over the network,
//          priorities of collectives
#pragma once

#include "workload/chakra/groups.h"
#include "workload/nodes/node.h"
#include "workload/trace/trace.h"

struct trace_rules {
    bool astra;
    uint32_t streams; // for communication; of the rules gpu
    uint32_t n_dims;  // dimensions of the network that involved_dim lists
    uint32_t dim_size[COLL_MAX_DIMS];
    uint32_t op_dims[COLL_OPS]; // [op] bit set of the dimensions that its collectives may use
    uint32_t over_all;          // operations that run over all dimensions, whatever a node says
    bool roofline;              // computations by operations and bytes, not by their duration
    double peak_ops;            // per second
    double memory_bytes;        // per second
    bool cut;                   // dependencies on nodes that a file does not have are ignored
    bool remote;                // there is a remote memory
    ps_t remote_latency_ps;
    double remote_bytes;   // per ns
    uint32_t remote_share; // ranks that share a memory, which serves one node at a time
    // Used by the check only: returns false, with an error, if rank `src` cannot send to `dst`.
    bool (*reaches)(void *ctx, uint32_t src, uint32_t dst);
    void *reaches_ctx;
};

struct trace_words { // texts by number
    char **items;
    uint32_t n;
    size_t cap;
};

// Messages match if their tags and their sizes are equal, so each pair has a number.
struct trace_tag {
    uint64_t tag, bytes;
};

struct trace_ids { // ascending
    uint64_t *items;
    size_t n, cap;
};

struct trace_uneven {
    struct coll_uneven *vectors; // where nodes point to
    uint64_t hash;
    size_t n;
};

struct trace_set {
    /* config */
    uint32_t n_ranks;
    char **files;   // [rank]
    uint32_t *same; // [rank] the first rank whose file is the same
    struct trace_rules rules;
    struct trace_groups groups;
    /* found by the check */
    uint32_t *used;                // [group] bit set of operations
    struct trace_program exported; // of the first rank's metadata
    struct trace_uneven *uneven;   // vectors of all-to-alls, each once
    size_t n_uneven, cap_uneven;
    struct trace_ids *missing; // [rank] nodes that its file names but does not have, if ignored
    struct trace_words uses, layers; // [0] of uses is "communication"
    struct trace_tag *tags;
    uint32_t n_tags;
    size_t cap_tags;
    uint32_t *tag_table; // open hashing: index + 1
    size_t tag_slots;
    bool unmeasured; // a computation lacks the values of a roofline, which was reported
    uint64_t n_nodes, messages, message_bytes; // of all ranks
};

// Find the files of all ranks, and read the groups (`groups_file` NULL = none). Release with
// trace_set_free(), also after an error. Returns 0, or -1 with errors at `path`.
int trace_set_open(struct trace_set *set, const char *prefix, uint32_t n_ranks,
                   const char *groups_file, const struct trace_rules *rules, const char *path,
                   const char *groups_path, struct err *err);
void trace_set_free(struct trace_set *set);

// Check every file and how they fit together. Returns 0, or -1 with errors at `path`.
int trace_set_check(struct trace_set *set, const char *path, struct err *err);

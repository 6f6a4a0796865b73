// SPDX-License-Identifier: MIT
// Nodes of a program: the operations of each rank of a job, with their dependencies.
//
// A node program is a directed acyclic graph for each rank. Its nodes come from a source, which the
// run reads one by one, so that a program need not fit into memory: readers of trace files,
// generators (a transformer by its shapes) and lists in memory are sources.
//
// A node is ready when all nodes that it is after have ended. A ready node starts when its stream
// is free: a stream is a queue of a GPU that runs one node at a time (computation, one for each
// kind of communication). Which node is next depends on the program: in order, streams run their
// nodes in the order of the source, as CUDA streams do, and the k-th collective of a group in the
// source is the same for all its members. Otherwise the ready node of the highest priority goes
// first, among equal ones the smallest id, and members match collectives in the order in which they
// issue them (ASTRA-sim). A node without a stream starts as soon as it is ready.
//
// Sources: streams as in CUDA and NCCL; nodes as in Chakra's execution traces (Sridharan et al.,
// 2023) and in GOAL (Hoefler et al., 2009).
#pragma once

#include <stddef.h>

#include "collective/communicator.h"
#include "engine/base/err.h"
#include "workload/tiers/tier.h"

enum node_kind {
    NODE_COMPUTE,    // the rank computes for takes_ps
    NODE_WAIT,       // time passes without computing: memory copies, fixed delays
    NODE_SEND,       // ends as STEP_SEND does
    NODE_RECV,       // ends when the k-th message of (peer, rank, tag) has arrived
    NODE_COLLECTIVE, // ends when the rank's part has ended
    NODE_EMPTY,      // takes no time; joins its dependencies
    NODE_COPY,       // between tiers of memory: ends when its last byte is there
};

#define NODE_NO_STREAM 255
#define NODE_STREAMS_MAX 64
// Streams of a GPU as the generators and readers number them.
enum { NODE_COMPUTE_STREAM, NODE_CPU_STREAM, NODE_COPY_STREAM, NODE_COMM_STREAM };

// The name of a stream below NODE_NAMED_STREAMS ("compute", "comm0"); "none" for NODE_NO_STREAM.
#define NODE_NAMED_STREAMS 35 // the last is comm31
const char *node_stream_name(uint8_t stream);

struct node {
    uint64_t id;           // unique among the rank's nodes, any value
    const uint64_t *after; // [n_after] ids of the rank's nodes, which may come later in the source
    uint32_t n_after;
    uint8_t kind;        // enum node_kind
    uint8_t stream;      // below NODE_STREAMS_MAX, or NODE_NO_STREAM
    uint16_t use;        // use of communication: index into node_program.uses
    int32_t priority;    // larger first; of a collective also among those of its group
    uint32_t layer;      // index into node_program.layers + 1; 0 = none
    uint32_t iteration;  // to which the node belongs, from 1; 0 = none
    uint32_t pass;       // within the iteration, from 1; 0 = none
    ps_t takes_ps;       // compute, wait
    bool own_contention; // compute: `contention` holds in place of the job's (contention.h)
    double contention;
    uint32_t shared; // wait: number of a resource that ranks share, one node at a time; 0 = nothing
    uint32_t peer;   // send, recv: the other rank of the job
    uint32_t tag;    // send, recv
    uint32_t
        // send, recv: 1 + its number in the source among nodes of its pair and tag; equal numbers
        // match;
        order;
    // 0 = they match in the order in which they start
    uint32_t group;  // collective: index into node_program.groups
    uint32_t root;   // collective with a root: member of the group
    uint32_t dims;   // collective: bit set of the dimensions of the group's schedule
    enum coll_op op; // collective
    uint32_t number; // collective: set by the run, see node_program.in_order
    uint64_t
        // send, and recv with an order; copy; collective: the largest per-rank buffer
        // (collective/algorithm/collective.h)
        bytes;
    uint32_t from, to;                // copy: tiers
    const struct coll_uneven *uneven; // all-to-all with vectors of different sizes, or NULL
    ps_t measured_ps; // collective: how long it took on this rank in a real run; 0 = not measured
    // wait: it moves `bytes` for `use`, so the rank's account has it as it has communication.
    bool counts_as_use;
    const char *name; // for records and messages; NULL = none
};

// The pointers in a node are valid until the next call with the same cursor; `uneven` as long as
// the program.
struct node_source_ops {
    // Begin to read the nodes of all ranks. Returns a cursor; `self` stays unchanged.
    void *(*open)(const void *self);
    // Read the next node of a rank. Returns 1; 0 at the end; -1 with an error that names the fault
    // and its place.
    int (*next)(void *cursor, uint32_t rank, struct node *node, struct err *err);
    void (*close)(void *cursor);
    void (*free)(void *self); // NULL = nothing to free
};

// An ordered list of ranks that run collectives together.
struct node_group {
    char *name;      // as in the program's file, or of the generator
    uint32_t *ranks; // [member] rank of the job, NULL = all in order
    struct coll_schedule schedule;
    uint32_t inner; // as in struct coll_shape
};

struct node_program {
    const struct node_source_ops *source;
    void *self;
    uint32_t n_ranks;
    struct node_group *groups;
    uint32_t n_groups;
    char **uses; // uses of communication ("tensor", "pipeline"); [0] is the default
    uint32_t n_uses;
    char **layers;
    uint32_t n_layers;
    bool in_order;
    // Shorter programs of the same source and groups: the bytes of a long program are the sum of
    // weight * bytes, known before the run. NULL = the run counts the program itself.
    struct node_twin {
        const void *self;
        double weight;
    } twins[2];
    const struct tier_set *tiers; // between which nodes copy; NULL = none do
    uint64_t window;              // most nodes of a rank that are read and have not ended; 0 = auto
    // The name of a stream; NULL = node_stream_name().
    const char *(*stream_name)(uint8_t stream);
    uint32_t idle_use; // waiting for messages of this use is a pipeline's bubble; n_uses = none
};

// Frees the source and all lists, not the struct.
void node_program_free(struct node_program *p);

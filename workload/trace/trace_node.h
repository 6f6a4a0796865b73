// SPDX-License-Identifier: MIT
// A node of an execution trace, as both generations of the schema describe it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_type { // numbers of the schema
    TRACE_INVALID,
    TRACE_METADATA,
    TRACE_MEM_LOAD,
    TRACE_MEM_STORE,
    TRACE_COMP,
    TRACE_SEND,
    TRACE_RECV,
    TRACE_COLL,
    TRACE_TYPES
};

enum trace_coll { // numbers of schema 0.0.4
    TRACE_ALL_REDUCE,
    TRACE_REDUCE,
    TRACE_ALL_GATHER,
    TRACE_GATHER,
    TRACE_SCATTER,
    TRACE_BROADCAST,
    TRACE_ALL_TO_ALL,
    TRACE_REDUCE_SCATTER,
    TRACE_REDUCE_SCATTER_BLOCK,
    TRACE_BARRIER,
    TRACE_COLLS
};

// Attributes with a meaning here; all others are ignored. Those whose names begin with "collwire_"
// are our own, for values without a field in the schema.
#define TRACE_ATTRIBUTES(X)                                                                        \
    X(IS_CPU_OP, "is_cpu_op")                                                                      \
    X(NUM_OPS, "num_ops")                                                                          \
    X(TENSOR_SIZE, "tensor_size")                                                                  \
    X(COMM_TYPE, "comm_type")                                                                      \
    X(COMM_PRIORITY, "comm_priority")                                                              \
    X(COMM_SIZE, "comm_size")                                                                      \
    X(COMM_SRC, "comm_src")                                                                        \
    X(COMM_DST, "comm_dst")                                                                        \
    X(COMM_TAG, "comm_tag")                                                                        \
    X(RUNTIME, "runtime")                                                                          \
    X(KIND, "collwire_kind")                                                                       \
    X(OP, "collwire_op")                                                                           \
    X(TAKES_PS, "collwire_takes_ps")                                                               \
    X(STREAM, "collwire_stream")                                                                   \
    X(PRIORITY, "collwire_priority")                                                               \
    X(ROOT, "collwire_root")                                                                       \
    X(BYTES, "collwire_bytes")                                                                     \
    X(TAG, "collwire_tag")                                                                         \
    X(SHARED, "collwire_shared")                                                                   \
    X(MEASURED_PS, "collwire_measured_ps")                                                         \
    X(NODE_DIMS, "collwire_dims")                                                                  \
    X(OF_RECEIVER, "collwire_of_receiver")                                                         \
    X(DIMS, "involved_dim")                                                                        \
    X(UNEVEN, "collwire_uneven")                                                                   \
    X(PG_NAME, "pg_name")                                                                          \
    X(USE, "collwire_use")                                                                         \
    X(LAYER, "collwire_layer")

#define TRACE_CONSTANT(constant, name) TRACE_##constant,
enum trace_attribute { TRACE_ATTRIBUTES(TRACE_CONSTANT) TRACE_ATTRIBUTE_COUNT };
#undef TRACE_CONSTANT
#define TRACE_NUMBERS TRACE_DIMS  // attributes before this one are whole numbers
#define TRACE_TEXTS TRACE_PG_NAME // this one and those after it are texts

struct trace_node {
    uint64_t id;
    const char *name; // "" = none
    enum trace_type type;
    const uint64_t *after; // [n_after] data and control dependencies
    size_t n_after;
    uint64_t duration_us;
    const char *inputs; // values of the inputs; of metadata: the process groups
    uint32_t has;       // bit set of enum trace_attribute
    int64_t number[TRACE_NUMBERS];
    uint32_t dims;          // bit set, of TRACE_DIMS; a missing list is all dimensions
    const uint64_t *uneven; // [n_uneven] bytes of each member's vector
    size_t n_uneven;
    const char *pg_name, *use, *layer;
};

// Description of the program in the metadata of traces that collwire has exported.
struct trace_program {
    bool known;
    char **groups, **uses, **layers; // names; of groups in the order of their ids 1, 2, ..
    uint32_t n_groups, n_uses, n_layers;
    uint64_t *inner; // [n_groups] as in struct coll_shape
    bool in_order;
    uint32_t idle_use;
};

static inline bool trace_has(const struct trace_node *node, enum trace_attribute attribute)
{
    return (node->has >> attribute & 1) != 0;
}

extern const char *const trace_attribute_names[]; // [TRACE_ATTRIBUTE_COUNT]
extern const char *const trace_type_names[];      // [TRACE_TYPES]
extern const char *const trace_coll_names[];      // [TRACE_COLLS]

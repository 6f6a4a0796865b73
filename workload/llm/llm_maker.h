// SPDX-License-Identifier: MIT
// Makes the nodes of a transformer's training, one after the other, in the buffer of a rank.
#pragma once

#include "workload/llm/llm_source.h"

#define LLM_AFTER_MAX 4
#define LLM_NAME_BYTES 40
#define LLM_NO_NODE UINT64_MAX

enum {
    LLM_STREAM_TENSOR = NODE_COMM_STREAM,
    LLM_STREAM_CONTEXT,
    LLM_STREAM_EXPERT,
    LLM_STREAM_DATA
};

struct made_node {
    struct node node;
    uint64_t after[LLM_AFTER_MAX];
    char name[LLM_NAME_BYTES];
};

struct llm_rank {
    uint32_t stage;
    uint64_t iteration;
    uint64_t pass;
    bool ended;
    uint64_t next_id;
    uint64_t last;     // last node of the chain of passes
    uint64_t message;  // a message that the next node of the chain waits for, or LLM_NO_NODE
    uint64_t gathered; // parameters that it waits for, or LLM_NO_NODE
    uint64_t exchange; // last node on the data stream, or LLM_NO_NODE
    uint64_t earlier;  // the computation before the last one: limits the prefetch of parameters
    struct made_node *nodes;
    size_t n, at, cap;
};

struct llm_maker { // where the next node is made
    const struct llm_program *p;
    const struct llm_spec *s;
    const struct llm_spec *gpu; // for the times of computations: that of the rank's GPU
    double factor;              // on these times
    struct llm_rank *r;
    uint32_t rank, layer; // layer: of the model, UINT32_MAX = none
    const char *pass;     // "forward"
    uint32_t number;      // of the pass in its iteration, from 1; 0 = none
    bool backward;
};

// Append a node to the rank's buffer. It is named by the layer, what it does, and the pass.
struct node *llm_make(struct llm_maker *m, enum node_kind kind, uint8_t stream, const char *what);

// The last node that was made is after `id`, which may be LLM_NO_NODE.
void llm_after(struct llm_maker *m, uint64_t id);

// It is the next one of the chain of passes.
void llm_chain(struct llm_maker *m);

// A computation of the chain: a part of the layer, and so long and slow beside collectives.
void llm_compute_part(struct llm_maker *m, const char *what, enum llm_part part);
void llm_compute(struct llm_maker *m, const char *what, ps_t takes_ps, double contention);

// A time of the rank's GPU with its factor.
ps_t llm_takes(const struct llm_maker *m, ps_t takes_ps);

struct node *llm_collective(struct llm_maker *m, enum llm_group group, enum llm_degree use,
                            uint8_t stream, enum coll_op op, uint64_t bytes, const char *what);

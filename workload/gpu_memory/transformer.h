// SPDX-License-Identifier: MIT
// The training of a transformer by its shapes: parameters of a rank, and the memory that it needs.
//
// All functions are pure and allocate nothing, so a planner can call them for many layouts. One
// rank is one of t tensor-parallel and c context-parallel ones; a micro-batch has b sequences of s
// tokens; h is the hidden size, a the number of attention heads.
#pragma once

#include "workload/gpu_memory/footprint.h"
#include "workload/gpu_memory/pipeline.h"

struct transformer {
    uint64_t layers, hidden, heads, kv_heads, ffn, sequence, vocabulary;
    uint64_t experts, top_k, expert_ffn, moe_every; // experts: 0 = none
    bool gated;   // the feed-forward part has three matrices in place of two
    bool dropout; // masks of dropout are stored
};

enum recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL };
extern const char *const recompute_names[]; // NULL-terminated

// How it is divided over ranks and trained.
struct transformer_layout {
    uint64_t tensor, context, expert, data; // degrees; that of the pipeline is pipeline.stages
    struct pipeline pipeline;
    bool tables_as_layers; // the embedding and the logits each count as one of a stage's layers
    uint64_t micro_batch;  // sequences
    unsigned zero;         // what data parallelism shards, 0 to 3
    int recompute;         // enum recompute
    bool sequence_parallel, overlap;
    uint64_t activation_bytes; // of an element
    struct state_bytes bytes;
};

struct transformer_training {
    struct transformer model;
    struct transformer_layout layout;
};

bool transformer_is_moe(const struct transformer *m, uint32_t layer); // layer: of the whole model

// Parameters that one rank holds of a layer: all but experts; experts. Of the embedding or the
// logits, on the ranks that have them.
uint64_t transformer_dense_parameters(const struct transformer_training *t, uint32_t layer);
uint64_t transformer_expert_parameters(const struct transformer_training *t, uint32_t layer);
uint64_t transformer_embedding_parameters(const struct transformer_training *t);

// Hidden size of keys, or values, of all ranks of a tensor group together: each has at least one
// head.
double transformer_kv_hidden(const struct transformer_training *t);

// Successive layers of the model.
struct layer_span {
    uint32_t first, n;
};

// The layers of a chunk of a stage; `place`: chunk * stages + stage. All have as many, but if the
// tables count as layers the first and the last have one less (Grattafiori et al., The Llama 3 Herd
// of Models, 2024, section 3.3.2).
struct layer_span transformer_chunk_layers(const struct transformer_training *t, uint32_t place);

// What one micro-batch leaves in memory between its forward and its backward pass of a layer, and
// what its backward pass needs besides while it computes activations again.
struct kept_activations {
    double kept_bytes, recomputed_bytes;
};

// `rows`: copies of tokens that the rank's experts compute in this layer.
struct kept_activations transformer_layer_activations(const struct transformer_training *t,
                                                      uint32_t layer, double rows);
// Rows of an expert layer whose experts are all equally popular.
double transformer_even_rows(const struct transformer_training *t);

// The same of a chunk: its layers, the masks of the embedding's dropout in the first, the loss in
// the last. `rows`: [layer of the model]; NULL = even. recomputed_bytes is that of one layer.
struct kept_activations transformer_chunk_activations(const struct transformer_training *t,
                                                      uint32_t stage, uint32_t chunk,
                                                      const double *rows);

// The memory of a rank of a pipeline stage without activations: model states, and the buffers
// beside them.
struct footprint transformer_static(const struct transformer_training *t, uint32_t stage,
                                    const double *rows);

// The memory of a rank of a pipeline stage when it is largest, within which pass of the iteration
// that is, and of how many passes it keeps activations then.
struct transformer_peak {
    struct footprint footprint;
    uint64_t pass, kept_passes;
};
struct transformer_peak transformer_peak(const struct transformer_training *t, uint32_t stage,
                                         const double *rows);

// The memory within each pass of an iteration, in order.
struct transformer_walk {
    /* config */
    const struct transformer_training *training;
    uint32_t stage;
    const double *rows;
    struct footprint fixed;
    /* state */
    uint64_t pass, kept_passes;
    double kept_bytes;
};
struct transformer_walk transformer_walk_begin(const struct transformer_training *t, uint32_t stage,
                                               const double *rows);
// Sets *within to the memory within the next pass, *pass to what it is; returns false at the end.
bool transformer_walk_next(struct transformer_walk *w, struct pipeline_pass *pass,
                           struct footprint *within);

// SPDX-License-Identifier: MIT
// A transformer and its training by shapes: parameters, floating-point operations, bytes.
//
// Per micro-batch of b sequences of s tokens, hidden size h, on one rank of t tensor-parallel and c
// context-parallel ones (elements of 2 bytes by default):
//   - matrix products count 2 operations per multiply-add: query, key, value 2bs h (h + 2 h_kv),
//     attention 4bs^2 h, projection 2bs h^2, feed-forward 2bs h f times 2 (gated: 3) matrices,
//       logits
//     2bs h V; backward is twice the forward; all divided by t and c.
//   - tensor: forward and backward of a layer each all-reduce bsh elements twice (or reduce-scatter
//       and
//     all-gather as much, with sequence parallelism).
//   - pipeline: bsh elements a boundary and direction (1/t of it with sequence parallelism).
//   - context: keys and values of the sequence are all-gathered forward, their gradients
//       reduce-scattered.
//   - expert: every token goes to top_k experts and back, forward and backward (GShard), up to the
//     capacity.
//   - data: ZeRO 0 all-reduces gradients; 1 reduce-scatters them and all-gathers parameters, each
//       once
//     an iteration; 2 reduce-scatters for every micro-batch; 3 also all-gathers parameters for
//       every forward
//     and every backward pass.
// Times of computations: llm_time.h. Not modelled: the loss's and norms' small all-reduces, tied
// embeddings. Sources: Narayanan et al., SC 2021 (Megatron-LM: operations, tensor and pipeline
// volumes, schedules); Korthikanti et al., MLSys 2023 (sequence parallelism, recomputation, 34
// sbh); Rajbhandari et al., SC 2020 (ZeRO); Lepikhin et al., ICLR 2021 (GShard); Grattafiori et
// al., 2024 (Llama 3: context parallelism by all-gather).
#pragma once

#include <stdbool.h>

#include "engine/base/param.h"
#include "workload/gpu_memory/transformer.h"
#include "workload/kernels/gpu.h"

enum llm_degree { LLM_TENSOR, LLM_CONTEXT, LLM_EXPERT, LLM_DATA, LLM_PIPELINE, LLM_DEGREES };
extern const char *const llm_degree_names[]; // in this order

// One kernel for attention, or products with the scores in memory between them.
enum llm_attention { LLM_ATTENTION_FUSED, LLM_ATTENTION_UNFUSED };

// Times in ps by kind of kernel.
struct kernel_times {
    double products, attention, memory;
};

// What is computed between two exchanges; LAYER is attention and feed-forward part in one.
enum llm_part { LLM_PART_ATTENTION, LLM_PART_FFN, LLM_PART_LAYER, LLM_PART_LOGITS, LLM_PARTS };

struct llm_params { // as in a scenario; "auto" is PARAM_AUTO until llm_resolve()
    int model, gpu, schedule, recompute, gated, dropout, optimizer;
    uint64_t layers, hidden, heads, kv_heads, ffn, sequence, vocabulary;
    uint64_t global_batch, micro_batch, iterations;
    uint64_t degrees[LLM_DEGREES];
    uint64_t virtual_stages, zero;
    uint64_t experts, top_k, expert_ffn, moe_every;
    uint64_t activation_bytes, gradient_bytes, parameter_bytes, optimizer_bytes, state_bytes;
    double capacity, skew;
    double peak_tflops, memory_gbps;                // 0 = of the GPU's preset
    double efficiency;                              // PARAM_AUTO_RATIO = by shape
    double contention;                              // of products, set by the reader
    double attention_contention, memory_contention; // PARAM_AUTO_RATIO = as products
    int precision, sparsity;                        // of products by weights
    int attention;                                  // enum llm_attention
    bool sequence_parallel, overlap, tables_as_layers;
};

// Resolved parameters, and values that follow from them.
struct llm_spec {
    struct llm_params p;
    struct transformer_training training; // the same as shapes and degrees
    double flops_per_ps, bytes_per_ps;
    bool by_shape; // times are those of kernels, not of one efficiency
    struct kernel_gpu gpu;
    struct kernel_times parts[2][LLM_PARTS]; // by shape: forward and backward
};

// Fill values left "auto" from the model's and the GPU's preset. Keys that then have no value are
// named in `missing` (at most `max`); returns their number.
size_t llm_resolve(struct llm_params *p, const char **missing, size_t max);

// The spec of resolved parameters whose degrees divide them.
struct llm_spec llm_spec_of(const struct llm_params *p);

bool llm_is_moe(const struct llm_spec *s, uint32_t layer); // layer: of the whole model

// Tokens of a micro-batch on one context-parallel rank.
uint64_t llm_tokens(const struct llm_spec *s);

// Parameters of a layer that one rank holds: all but experts; experts.
uint64_t llm_dense_parameters(const struct llm_spec *s, uint32_t layer);
uint64_t llm_expert_parameters(const struct llm_spec *s, uint32_t layer);
// Parameters of the embedding or the logits, on the ranks that have them.
uint64_t llm_embedding_parameters(const struct llm_spec *s);

// Forward operations of one rank for a micro-batch: attention with its products, the part that
// selective recomputation repeats, the dense feed-forward part, logits; of one token in an expert.
double llm_attention_flops(const struct llm_spec *s);
double llm_attention_core_flops(const struct llm_spec *s);
double llm_ffn_flops(const struct llm_spec *s);
double llm_logit_flops(const struct llm_spec *s);
double llm_expert_token_flops(const struct llm_spec *s);

// Floating-point operations of the whole model in an iteration, forward and backward, of all ranks
// together and without recomputation.
double llm_model_flops(const struct llm_spec *s);

ps_t llm_optimizer_ps(const struct llm_spec *s, double parameters);

// Bytes of messages: the activations of a micro-batch for tensor parallelism; what a rank sends to
// the next stage; keys and values of the whole sequence; a rank's tokens for all of its top_k
// experts.
uint64_t llm_tensor_bytes(const struct llm_spec *s);
uint64_t llm_boundary_bytes(const struct llm_spec *s);
uint64_t llm_context_bytes(const struct llm_spec *s);
uint64_t llm_dispatch_bytes(const struct llm_spec *s);

extern const char *const llm_models[]; // names of presets, NULL-terminated

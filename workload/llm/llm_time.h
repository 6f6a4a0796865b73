// SPDX-License-Identifier: MIT
// Times of a transformer's computations on one rank.
//
// By shape (`efficiency` auto): a sum of kernels. Products of activations and weights by their
// tiles (workload/kernels/product.h), each twice in the backward pass: for the gradients of its
// input and of its weights; attention as one kernel (workload/kernels/attention.h); and kernels
// that are bound by memory bandwidth, each of which reads and writes its elements once: two
// normalisations, two additions to the residual stream (with dropout they also read its masks), and
// the activation function.
// Selective recomputation adds no time to attention in one kernel, which computes its scores again
// anyway. Unfused attention is two products for each head with a softmax and a dropout of the
// scores in memory.
//
// With a number: max(operations / (peak * efficiency), bytes / memory bandwidth), where the bytes
// are weights and 34 bytes of activations by token and element of the hidden size (Korthikanti et
// al., MLSys 2023), backward twice as long.
#pragma once

#include "workload/llm/llm_spec.h"

// Fill the times of the spec's parts but experts, which depend on their tokens.
void llm_time_parts(struct llm_spec *s);

// Time of a part, but not of experts, in the forward pass, or in the backward pass with what
// selective recomputation computes again. Layers are numbered over the whole model.
ps_t llm_part_ps(const struct llm_spec *s, enum llm_part part, uint32_t layer, bool backward);

// Time of the experts of one rank, which receive so many tokens together.
ps_t llm_experts_ps(const struct llm_spec *s, uint32_t layer, double tokens, bool backward);

// The share of its speed that a part loses while the rank takes part in a collective, by the shares
// of its kinds of kernels.
double llm_part_contention(const struct llm_spec *s, enum llm_part part, uint32_t layer,
                           bool backward);
double llm_experts_contention(const struct llm_spec *s, double tokens, bool backward);

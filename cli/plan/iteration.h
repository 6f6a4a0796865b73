// SPDX-License-Identifier: MIT
// The time of an iteration of a transformer's training in closed form, for any layout: what its
// computations take, and what its messages take where nothing hides them.
//
// The network is two levels: ranks of a server, which are neighbours, exchange at the rate inside;
// others at the rate of their own port to the fabric, on which nothing else is in their way.
// Collectives are rings, an all-to-all is direct; a message takes a delay and its bytes.
//
//   stage     a micro-batch takes f forward and b backward on a stage: the computations of its
//             layers (workload/llm/llm_spec.h) and the exchanges between them (tensor, context,
//             expert), which nothing hides
//   pipeline  m micro-batches through p stages of v chunks: m (f + b) of the slowest stage, and the
//             time of the other stages once, divided by v (Narayanan et al., SC 2021, 2.2), and
//             2 (p v - 1) boundaries
//   data      gradients and parameters by ZeRO stage: what takes longer than the backward pass that
//             hides it (overlap), and all of it otherwise
// Left out: collisions of paths, congestion, noise, jitter, unevenly loaded experts. A run over
// packets has those.
#pragma once

#include "workload/llm/llm_spec.h"

struct plan_network {
    uint32_t server;                       // ranks of a server, neighbours; 1 = all at the fabric
    double inner_bytes_ps, outer_bytes_ps; // bytes in a ps
    double inner_delay_ps, outer_delay_ps; // of a message
};

struct iteration_time { // ps
    double total;
    double compute;                 // of the slowest stage
    double tensor, context, expert; // its exchanges that nothing hides
    double bubble;                  // waiting of the slowest stage for the others
    double boundary;                // messages between stages
    double data;                    // gradients and parameters that nothing hides
    double optimizer;
};

// `s`: the training by its shapes and degrees; ranks are placed tensor, context, expert, data,
// pipeline, innermost first.
struct iteration_time iteration_time(const struct llm_spec *s, const struct plan_network *network);

// SPDX-License-Identifier: MIT
// One training iteration of a chain of layers that the memory of a GPU does not hold: what the GPU
// computes, what leaves for the host and comes back, and when.
//
// A layer's forward pass needs its input, which is the output of the layer before, and makes its
// output. Its backward pass needs its input, its output and the gradient of its output, and makes
// the gradient of its input: where an output leaves nothing but itself, 2 (x + y) elements, as
// cnn_projection.h counts a layer. The output stays until the layer's own backward pass (keep),
// leaves for the host and returns (swap), or is freed after the next layer's forward pass and
// computed again from the nearest output before it that is kept or swapped (recompute). Layers
// between two such outputs are a block.
//
// With weights out of core, the weights of a layer come from the host before each of its passes and
// are freed after them, the gradient leaves after the backward pass, and the host updates the
// weights.
//
// The GPU, both directions of the link to the host, and the host itself are streams: each runs one
// operation at a time, in the order of the schedule. An operation that takes memory waits until
// enough is free: the schedule names the operations that free it, of all that could the ones that
// end first, and the operation starts when they have ended. Since a schedule counts all memory
// that earlier operations take, whether or not they have begun, the capacity holds however long
// the operations take in a run.
//
// Source: Wahib et al., Scaling Distributed Deep Learning Workloads beyond the Memory Capacity with
// KARMA, SC 2020: swaps that are limited by capacity, interleaved with recomputation, over blocks
// of layers; weights out of core, updated by the host.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/units.h"

enum offload_way { OFFLOAD_KEEP, OFFLOAD_SWAP, OFFLOAD_RECOMPUTE, OFFLOAD_WAYS };
enum offload_stream { OFFLOAD_GPU, OFFLOAD_OUT, OFFLOAD_IN, OFFLOAD_HOST, OFFLOAD_STREAMS };
enum offload_what {
    OFFLOAD_FORWARD,
    OFFLOAD_AGAIN, // forward once more
    OFFLOAD_BACKWARD,
    OFFLOAD_OUTPUT_OUT,
    OFFLOAD_OUTPUT_IN,
    OFFLOAD_WEIGHTS_IN,
    OFFLOAD_GRADIENT_OUT,
    OFFLOAD_UPDATE // of a layer by the host; of all layers (layer = n) by the GPU
};

#define OFFLOAD_NONE UINT32_MAX
#define OFFLOAD_AFTER 8

struct offload_layer {
    uint64_t output_bytes;   // what its passes leave for the backward passes
    uint64_t gradient_bytes; // of its output
    uint64_t weight_bytes;   // and of their gradient
    ps_t forward_ps, backward_ps;
    ps_t update_ps; // by the host, where weights are out of core
};

struct offload_chain {
    const struct offload_layer *layers;
    uint32_t n;
    uint64_t input_bytes;    // of the first layer; stays until its backward pass
    uint64_t capacity_bytes; // of the GPU, without what always stays there
    uint64_t host_bytes;     // the most that may be on the host; UINT64_MAX = any
    uint64_t link_bps;       // to the host and back, in each direction
    bool swaps_weights;
    ps_t update_ps; // of all layers by the GPU, where weights are not out of core
};

// What becomes of each layer's output, and from which layer on weights that are out of core stay
// between the passes.
struct offload_choice {
    uint8_t *ways; // [n] enum offload_way; that of the last layer is OFFLOAD_KEEP
    uint32_t stay_from;
};

struct offload_op {
    uint8_t what, stream; // enum offload_what, offload_stream
    uint8_t n_after;
    uint32_t layer;
    uint32_t after[OFFLOAD_AFTER]; // operations that must have ended before
    ps_t takes_ps, start_ps, end_ps;
    uint64_t bytes;                     // that it moves
    uint64_t output_bytes, state_bytes; // memory that it takes: outputs; weights and gradients
};

struct offload_schedule {
    struct offload_op *ops;
    uint32_t n;
    ps_t iteration_ps;
    /* private */
    size_t cap;
    struct offload_free *frees, *waiting; // all; those not counted yet, a heap by time
    size_t n_frees, cap_frees, n_waiting, cap_waiting;
    uint32_t *forward_op, *out_op, *weights_op; // [layer]
    uint64_t held_bytes;
    uint32_t last[OFFLOAD_STREAMS], counted[OFFLOAD_STREAMS]; // operations of each stream
    ps_t counted_ps;
};

// Fill a zeroed schedule, or one that was filled for a chain of as many layers before. Returns
// false if the chain does not fit.
bool offload_schedule_make(struct offload_schedule *s, const struct offload_chain *chain,
                           const struct offload_choice *choice);
void offload_schedule_free(struct offload_schedule *s);

// The least memory of a GPU with which a schedule fits that may swap, that in which all outputs are
// swapped, and the layer whose backward pass needs it.
uint64_t offload_least_bytes(const struct offload_chain *chain, uint32_t *layer);

// The most memory that a schedule takes at one time: outputs, and weights and gradients.
struct offload_peak {
    uint64_t output_bytes, state_bytes;
    ps_t at_ps;
};
struct offload_peak offload_schedule_peak(const struct offload_schedule *s);

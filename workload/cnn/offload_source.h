// SPDX-License-Identifier: MIT
// Training out of core as a program: the operations of an iteration's schedule, and under data
// parallelism the all-reduce of each layer's gradient.
//
// Gradients are reduced by the GPUs behind each layer's backward pass, or, with weights out of
// core, by the hosts when they have arrived there, layer by layer: the phased exchange of KARMA
// (Wahib et al., SC 2020). The schedule does not know how long that takes. An
// iteration begins when all of the one before has ended: its first layer needs the weights that are
// updated last.
#pragma once

#include "workload/cnn/cnn_source.h"

// `self` is a struct cnn_program with `offload`.
extern const struct node_source_ops offload_source;

// The names of the program's streams.
const char *offload_stream_name(uint8_t stream);

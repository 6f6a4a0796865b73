// SPDX-License-Identifier: MIT
// What a strategy of training a convolutional network costs an iteration, in closed form.
//
// Source: Kahira et al., An Oracle for Guiding Large-Scale Model/Hybrid Parallel Training of
// Convolutional Neural Networks, HPDC 2021, table 3. An iteration has B samples on p processing
// elements; a message of m bytes takes alpha + m * beta; x, y, w are the elements of a layer's
// input, output and parameters, d the bytes of an element:
//   data          gradients of all parameters are all-reduced: 2 (p - 1) (alpha + w d / p * beta)
//   spatial       the same, and borders: of each convolution with a kernel, in both passes, one
//                 message to each of two neighbours along each axis that is cut
//   pipeline      stages of layers, B in S segments: (p + S - 1) / S of the slowest stage, and
//                 2 (p + S - 2) messages of the largest boundary
//   filter        outputs of all layers but the last are gathered, and the gradients of their
//                 inputs all-reduced: 3 (p - 1) (alpha + B y d / p * beta)
//   channel       the same: outputs are all-reduced, gradients gathered
//   data_filter   data parallelism between groups of filter parallelism; data_spatial the same
// Times of all strategies are those of computing and of communicating one after the other.
// A ring of collectives is assumed. The contention factor multiplies beta where several groups
// exchange at once over the same links (data_filter, data_spatial).
//
// Memory of a PE: reuse * d * sum(2 B' (x + y) + 2 w), with B' the samples or their share.
#pragma once

#include "workload/cnn/cnn_shape.h"

enum cnn_strategy {
    CNN_SERIAL,
    CNN_DATA,
    CNN_SPATIAL,
    CNN_PIPELINE,
    CNN_FILTER,
    CNN_CHANNEL,
    CNN_DATA_FILTER,
    CNN_DATA_SPATIAL
};
extern const char *const cnn_strategies[];

// Whether the ranks of a group divide filters or channels, or the domain.
bool cnn_divides_channels(enum cnn_strategy strategy);
bool cnn_divides_domain(enum cnn_strategy strategy);

// Times of a layer on one PE.
struct cnn_time {
    double forward_ps, backward_ps; // of a sample
    double update_ps;               // of an iteration
};

struct cnn_plan {
    const struct cnn_model *model;
    const struct cnn_time *times; // [layers]
    enum cnn_strategy strategy;
    uint32_t groups;         // of data parallelism; 1 in strategies without
    uint32_t parts;          // PEs of a group: filters, channels, pieces of the domain, stages
    uint32_t axes[CNN_AXES]; // parts along each axis of the domain, spatial strategies
    uint32_t cut;            // layers that are cut along the axes, from the first one
    const uint32_t *stage;   // [parts + 1] first layer of each stage, pipeline
    uint64_t batch, segments, item_bytes;
    double alpha_ps, beta_ps; // of a message; of a byte
    double contention, reuse;
};

struct cnn_cost {
    double compute_ps, communication_ps, memory_bytes;
};

struct cnn_cost cnn_project(const struct cnn_plan *plan);

// The largest number of PEs that a strategy can use.
double cnn_most_parts(const struct cnn_model *m, enum cnn_strategy strategy, uint64_t batch);

// Cut `parts` along the axes of the domain: the most even cut whose parts divide the most layers.
void cnn_cut_axes(const struct cnn_model *m, uint32_t parts, uint32_t axes[CNN_AXES]);

// Layers from the first one that can be cut so.
uint32_t cnn_layers_cut(const struct cnn_model *m, const uint32_t axes[CNN_AXES]);

// Stages of successive layers whose longest is as short as possible; fills stage[parts + 1].
void cnn_stages(const struct cnn_model *m, const struct cnn_time *times, uint32_t parts,
                uint32_t *stage);

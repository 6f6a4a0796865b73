// SPDX-License-Identifier: MIT
// A convolutional network by the shapes of its layers: elements, parameters, operations.
//
// A layer takes C channels of a domain of width W, height H and depth D (1 in two dimensions) and
// has F filters of a kernel, which make F channels of a smaller domain. Layers follow each other in
// a chain: residual connections, normalisation and activation functions move no data of their own,
// and the parameters of a normalisation belong to the layer before it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CNN_AXES 3 // width, height, depth
#define CNN_NAME 32

enum cnn_layer_kind { CNN_CONVOLUTION, CNN_POOL, CNN_CONNECTED };
extern const char *const cnn_layer_kinds[]; // "conv", "pool", "fc", NULL

struct cnn_layer {
    char name[CNN_NAME];
    uint8_t kind; // enum cnn_layer_kind
    uint32_t channels, filters;
    uint32_t in[CNN_AXES], out[CNN_AXES], kernel[CNN_AXES];
    uint64_t extra; // biases, and scales of normalisations
};

struct cnn_model {
    struct cnn_layer *layers;
    uint32_t n;
    size_t cap;
};

double cnn_inputs(const struct cnn_layer *l);  // elements of a sample
double cnn_outputs(const struct cnn_layer *l); // elements of a sample
double cnn_weights(const struct cnn_layer *l); // without extra
double cnn_parameters(const struct cnn_layer *l);
double cnn_flops(const struct cnn_layer *l); // forward, of a sample; a multiply-add counts two

// Elements of a sample in the border that one neighbour along an axis needs, of `channels`
// channels: half a kernel wide, over the parts of the other axes.
double cnn_border(const struct cnn_layer *l, uint32_t channels, const uint32_t parts[CNN_AXES],
                  unsigned axis);

// Whether every part of the layer's domain, cut into so many parts, has something to compute and is
// at least as wide as the border that its neighbours need.
bool cnn_cuts(const struct cnn_layer *l, const uint32_t parts[CNN_AXES]);

struct cnn_layer *cnn_model_add(struct cnn_model *m); // zeroed
void cnn_model_free(struct cnn_model *m);

// Presets: names, NULL-terminated; index 0 is "custom" and has no layers.
extern const char *const cnn_models[];
struct cnn_model cnn_model_of(int preset);

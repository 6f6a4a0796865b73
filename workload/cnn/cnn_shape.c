// SPDX-License-Identifier: MIT
#include "workload/cnn/cnn_shape.h"

#include <stdlib.h>

#include "engine/base/memory.h"

const char *const cnn_layer_kinds[] = {"conv", "pool", "fc", NULL};

static double product(const uint32_t axes[CNN_AXES]) { return (double)axes[0] * axes[1] * axes[2]; }

double cnn_inputs(const struct cnn_layer *l) { return l->channels * product(l->in); }
double cnn_outputs(const struct cnn_layer *l) { return l->filters * product(l->out); }

double cnn_weights(const struct cnn_layer *l)
{
    if (l->kind == CNN_POOL)
        return 0;
    double kernel = l->kind == CNN_CONNECTED ? product(l->in) : product(l->kernel);
    return (double)l->channels * l->filters * kernel;
}

double cnn_parameters(const struct cnn_layer *l) { return cnn_weights(l) + (double)l->extra; }

double cnn_flops(const struct cnn_layer *l)
{
    if (l->kind == CNN_POOL) // a comparison or an addition for each element of the kernel
        return cnn_outputs(l) * product(l->kernel);
    return 2 * cnn_weights(l) * product(l->out);
}

double cnn_border(const struct cnn_layer *l, uint32_t channels, const uint32_t parts[CNN_AXES],
                  unsigned axis)
{
    uint32_t width = l->kernel[axis] / 2;
    double elements = (double)channels * width;
    for (unsigned a = 0; a < CNN_AXES; a++)
        if (a != axis)
            elements *= (double)l->in[a] / parts[a];
    return elements;
}

bool cnn_cuts(const struct cnn_layer *l, const uint32_t parts[CNN_AXES])
{
    if (l->kind == CNN_CONNECTED)
        return false;
    for (unsigned a = 0; a < CNN_AXES; a++)
        if (parts[a] > 1 && (l->out[a] < parts[a] || l->in[a] / parts[a] < l->kernel[a] / 2))
            return false;
    return true;
}

struct cnn_layer *cnn_model_add(struct cnn_model *m)
{
    if (m->n == m->cap)
        m->layers = memory_grow(m->layers, &m->cap, sizeof *m->layers);
    m->layers[m->n] = (struct cnn_layer){.kind = CNN_CONVOLUTION};
    return &m->layers[m->n++];
}

void cnn_model_free(struct cnn_model *m)
{
    free(m->layers);
    *m = (struct cnn_model){0};
}

// SPDX-License-Identifier: MIT
#include "workload/cnn/cnn_memory.h"

#include <stdio.h>

// Parameters of a rank, and elements of inputs and outputs of its samples.
struct held {
    double parameters, activations;
};

static struct held held(const struct cnn_plan *p, uint32_t first, uint32_t end)
{
    double samples = (double)p->batch / p->groups;
    bool channels = cnn_divides_channels(p->strategy), spatial = cnn_divides_domain(p->strategy);
    struct held h = {0};
    for (uint32_t i = first; i < end; i++) {
        const struct cnn_layer *l = &p->model->layers[i];
        double cut = spatial && i < p->cut ? p->parts : 1;
        h.parameters += cnn_parameters(l) / (channels ? p->parts : 1);
        h.activations += samples * (cnn_inputs(l) + cnn_outputs(l)) / cut;
    }
    return h;
}

static struct memory_class class_of(const struct cnn_plan *p, uint32_t rank, uint32_t ranks,
                                    uint32_t first, uint32_t end)
{
    struct held h = held(p, first, end);
    double item = (double)p->item_bytes;
    struct memory_class out = {.rank = rank, .ranks = ranks};
    uint64_t *bytes = out.footprint.bytes;
    bytes[FOOTPRINT_WEIGHTS] = bytes[FOOTPRINT_GRADIENTS] =
        footprint_bytes(h.parameters * item * p->reuse);
    bytes[FOOTPRINT_OPTIMIZER] = footprint_bytes(h.parameters * CNN_MOMENTUM_BYTES);
    bytes[FOOTPRINT_ACTIVATIONS] = footprint_bytes(2 * h.activations * item * p->reuse);
    snprintf(out.when, sizeof out.when, "backward pass");
    return out;
}

void cnn_memory(const struct cnn_plan *p, const struct device *device, struct memory_need *need)
{
    *need = (struct memory_need){.device = device};
    bool pipeline = p->strategy == CNN_PIPELINE;
    for (uint32_t s = 0; s < (pipeline ? p->parts : 1); s++) {
        struct memory_class one =
            class_of(p, s, pipeline ? 1 : p->groups * p->parts, pipeline ? p->stage[s] : 0,
                     pipeline ? p->stage[s + 1] : p->model->n);
        memory_need_add(need, &one);
    }
}

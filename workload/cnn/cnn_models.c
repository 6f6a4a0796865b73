// SPDX-License-Identifier: MIT
// Presets: He et al., Deep Residual Learning for Image Recognition, 2016, table 1 (ResNet, with the
// stride at the 3 x 3 convolutions as in its common implementations; parameters of convolutions are
// followed by the scale and shift of a normalisation); Simonyan and Zisserman, Very Deep
// Convolutional Networks, 2015, table 1 D (VGG-16); Mathuriya et al., CosmoFlow, SC 2018, in the
// configuration of MLPerf HPC (five convolutions from 32 to 512 filters of kernel 2, 128^3 voxels
// of 4 redshifts).
#include <stdio.h>

#include "workload/cnn/cnn_shape.h"

const char *const cnn_models[] = {"custom", "resnet50", "resnet152", "vgg16", "cosmoflow", NULL};

struct maker { // where the next layer begins
    struct cnn_model m;
    uint32_t channels, size[CNN_AXES];
};

static struct cnn_layer *add(struct maker *k, enum cnn_layer_kind kind, const char *name,
                             uint32_t filters, uint32_t kernel, uint32_t stride)
{
    struct cnn_layer *l = cnn_model_add(&k->m);
    snprintf(l->name, sizeof l->name, "%s", name);
    l->kind = (uint8_t)kind;
    l->channels = k->channels;
    l->filters = filters;
    for (unsigned a = 0; a < CNN_AXES; a++) {
        bool flat = k->size[a] == 1;
        l->in[a] = k->size[a];
        l->kernel[a] = flat ? 1 : kernel;
        l->out[a] = flat ? 1 : (k->size[a] + stride - 1) / stride;
        k->size[a] = l->out[a];
    }
    k->channels = filters;
    return l;
}

static void pool(struct maker *k, const char *name, uint32_t kernel, uint32_t stride)
{
    add(k, CNN_POOL, name, k->channels, kernel, stride);
}

static void connected(struct maker *k, const char *name, uint32_t outputs)
{
    struct cnn_layer *l = add(k, CNN_CONNECTED, name, outputs, 1, 1);
    for (unsigned a = 0; a < CNN_AXES; a++)
        l->out[a] = k->size[a] = 1;
    l->extra = outputs;
}

// With the scale and the shift of each channel's normalisation.
static void normalised(struct maker *k, const char *name, uint32_t filters, uint32_t kernel,
                       uint32_t stride)
{
    add(k, CNN_CONVOLUTION, name, filters, kernel, stride)->extra = 2 * (uint64_t)filters;
}

static void biased(struct maker *k, const char *name, uint32_t filters, uint32_t kernel)
{
    add(k, CNN_CONVOLUTION, name, filters, kernel, 1)->extra = filters;
}

// A block: 1 x 1, 3 x 3, 1 x 1; the first one of a stage also fits its input to its output.
static void bottleneck(struct maker *k, unsigned stage, uint32_t block, uint32_t stride)
{
    uint32_t width = 64u << stage, channels = k->channels, size[CNN_AXES];
    char name[CNN_NAME];
    for (unsigned a = 0; a < CNN_AXES; a++)
        size[a] = k->size[a];
    snprintf(name, sizeof name, "conv%u_%u_1x1a", stage + 2, block + 1);
    normalised(k, name, width, 1, 1);
    snprintf(name, sizeof name, "conv%u_%u_3x3", stage + 2, block + 1);
    normalised(k, name, width, 3, stride);
    snprintf(name, sizeof name, "conv%u_%u_1x1b", stage + 2, block + 1);
    normalised(k, name, 4 * width, 1, 1);
    if (block > 0)
        return;
    k->channels = channels;
    for (unsigned a = 0; a < CNN_AXES; a++)
        k->size[a] = size[a];
    snprintf(name, sizeof name, "conv%u_shortcut", stage + 2);
    normalised(k, name, 4 * width, 1, stride);
}

static struct cnn_model resnet(const uint32_t blocks[4])
{
    struct maker k = {.channels = 3, .size = {224, 224, 1}};
    normalised(&k, "conv1", 64, 7, 2);
    pool(&k, "pool1", 3, 2);
    for (unsigned stage = 0; stage < 4; stage++)
        for (uint32_t block = 0; block < blocks[stage]; block++)
            bottleneck(&k, stage, block, block == 0 && stage > 0 ? 2 : 1);
    pool(&k, "pool5", 7, 7);
    connected(&k, "fc", 1000);
    return k.m;
}

static struct cnn_model vgg16(void)
{
    static const uint32_t depth[] = {2, 2, 3, 3, 3}, filters[] = {64, 128, 256, 512, 512};
    struct maker k = {.channels = 3, .size = {224, 224, 1}};
    char name[CNN_NAME];
    for (unsigned s = 0; s < 5; s++) {
        for (uint32_t i = 0; i < depth[s]; i++) {
            snprintf(name, sizeof name, "conv%u_%u", s + 1, i + 1);
            biased(&k, name, filters[s], 3);
        }
        snprintf(name, sizeof name, "pool%u", s + 1);
        pool(&k, name, 2, 2);
    }
    connected(&k, "fc6", 4096);
    connected(&k, "fc7", 4096);
    connected(&k, "fc8", 1000);
    return k.m;
}

static struct cnn_model cosmoflow(void)
{
    struct maker k = {.channels = 4, .size = {128, 128, 128}};
    char name[CNN_NAME];
    for (unsigned i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "conv%u", i + 1);
        biased(&k, name, 32u << i, 2);
        snprintf(name, sizeof name, "pool%u", i + 1);
        pool(&k, name, 2, 2);
    }
    connected(&k, "fc1", 128);
    connected(&k, "fc2", 64);
    connected(&k, "fc3", 4);
    return k.m;
}

struct cnn_model cnn_model_of(int preset)
{
    switch (preset) {
    case 1:
        return resnet((const uint32_t[]){3, 4, 6, 3});
    case 2:
        return resnet((const uint32_t[]){3, 8, 36, 3});
    case 3:
        return vgg16();
    case 4:
        return cosmoflow();
    default:
        return (struct cnn_model){0};
    }
}

// SPDX-License-Identifier: MIT
// Structured sparsity: of four weights two are kept, each with 2 bits that say which (Mishra et
// al., Accelerating Sparse Deep Neural Networks, 2021). The units could compute twice as fast; what
// the vendor's library gains on an H100 is 8 % (docs/kernels.md).
//
// Unstructured sparsity: rows of compressed weights with an index of 4 bytes each, multiplied
// without matrix units. On an H100 the vendor's library computes 4.0e12 operations a second of what
// is not 0 whatever the density (docs/kernels.md), bound by gathering rows; other GPUs are taken to
// differ as their memory does. The same kind of kernel is known to reach up to 27 % of the vector
// units' peak (Gale et al., Sparse GPU Kernels for Deep Learning, SC 2020).
#include "workload/kernels/product.h"

#include <math.h>
#include <stddef.h>

#define MEMORY_SHARE 0.7315   // of the bandwidth, by a product that waits for memory
#define STRUCTURED_GAIN 1.08  // of the rate, counting the weights that are 0
#define UNSTRUCTURED_RATE 4.0 // operations a ps on an H100
#define H100_BYTES_PS 3.35    // its memory bandwidth
#define LEAST_SPLIT 512       // of K: shorter parts are not worth their sum
#define INDEX_BYTES 4
#define SUM_BYTES 4

const char *const sparsities[] = {"none", "2:4", "unstructured", NULL};

static const struct tile {
    double m, n;
} tiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}};

double product_weight_bytes(const struct product *p)
{
    double each = p->weight_bytes > 0 ? p->weight_bytes : number_bytes(p->type),
           all = p->count * p->n * p->k;
    switch (p->sparsity) {
    case SPARSITY_STRUCTURED:
        return all * (each / 2 + 2.0 / 16); // two of four, 2 bits each
    case SPARSITY_UNSTRUCTURED:
        return all * p->density * (each + INDEX_BYTES);
    default:
        return all * each;
    }
}

static double memory_ps(const struct kernel_gpu *g, const struct product *p, double split)
{
    double output = number_bytes(p->type) > 2 ? number_bytes(p->type) : 2,
           bytes = p->count * (number_bytes(p->type) * p->m * p->k + output * p->m * p->n) +
                   product_weight_bytes(p);
    if (split > 1)
        bytes += p->count * SUM_BYTES * split * p->m * p->n;
    return bytes / (MEMORY_SHARE * g->bytes_ps);
}

static double tiled_ps(const struct kernel_gpu *g, const struct product *p, const struct tile *tile,
                       double split)
{
    double gain = p->sparsity == SPARSITY_STRUCTURED ? STRUCTURED_GAIN : 1,
           each = gain * g->flops_ps[p->type] / g->units,
           n = p->count * ceil(p->m / tile->m) * ceil(p->n / tile->n) * split;
    return ceil(n / g->units) * 2 * tile->m * tile->n * p->k / split / each;
}

double product_ps(const struct kernel_gpu *g, const struct product *p)
{
    double best = INFINITY;
    if (p->sparsity == SPARSITY_UNSTRUCTURED) {
        double rate = UNSTRUCTURED_RATE * g->bytes_ps / H100_BYTES_PS,
               ps = 2 * p->count * p->m * p->n * p->k * p->density / rate;
        return KERNEL_START_PS + fmax(ps, memory_ps(g, p, 1));
    }
    if (!(g->flops_ps[p->type] > 0))
        return INFINITY;
    for (double split = 1; split <= 8; split *= 2) {
        double memory = memory_ps(g, p, split);
        if (split > 1 && p->k / split < LEAST_SPLIT)
            break;
        for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
            best = fmin(best, fmax(tiled_ps(g, p, &tiles[i], split), memory));
    }
    return KERNEL_START_PS + best;
}

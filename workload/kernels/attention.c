// SPDX-License-Identifier: MIT
// The shares are measured on an H100 with sequences of 1,024 to 8,192 tokens and heads of 128
// (docs/kernels.md).
#include "workload/kernels/attention.h"

#include <math.h>

#include "workload/kernels/product.h"

#define BLOCK_ROWS 128
#define FORWARD_PRODUCTS 2  // scores, and values weighted by them
#define BACKWARD_PRODUCTS 5 // scores again, and the gradients of all four factors
#define FORWARD_SHARE 0.67  // of the peak
#define BACKWARD_SHARE 0.53
#define CAUSAL_TIME 0.62 // of the time of a full matrix of scores, half of which is needed
#define TRAFFIC_SHARE 0.85

double attention_ps(const struct kernel_gpu *g, const struct attention *a, bool backward)
{
    double blocks = a->heads * ceil(a->rows / BLOCK_ROWS), waves = ceil(blocks / g->units),
           products = backward ? BACKWARD_PRODUCTS : FORWARD_PRODUCTS,
           share = backward ? BACKWARD_SHARE : FORWARD_SHARE,
           flops = products * 2 * fmin(a->rows, BLOCK_ROWS) * a->columns * a->head;
    return KERNEL_START_PS +
           waves * flops * g->units / (share * g->attention_ps) * (a->causal ? CAUSAL_TIME : 1);
}

double traffic_ps(const struct kernel_gpu *g, double bytes)
{
    return bytes > 0 ? KERNEL_START_PS + bytes / (TRAFFIC_SHARE * g->bytes_ps) : 0;
}

// SPDX-License-Identifier: MIT
// A schedule is a warm-up of forward passes, pairs of one forward and one backward pass, and the
// remaining backward passes; only the length of the warm-up and the numbering differ.
#include "workload/gpu_memory/pipeline.h"

#include <stddef.h>

const char *const pipeline_schedules[] = {"1f1b", "gpipe", "interleaved", NULL};

static uint64_t all_forward(const struct pipeline *p)
{
    return (uint64_t)p->micro_batches * p->chunks;
}

uint64_t pipeline_passes(const struct pipeline *p) { return 2 * all_forward(p); }

static uint64_t warm_up(const struct pipeline *p, uint32_t stage)
{
    uint64_t all = all_forward(p), n = p->stages - stage - 1;
    if (p->schedule == PIPELINE_GPIPE)
        return all;
    if (p->schedule == PIPELINE_INTERLEAVED && p->chunks > 1)
        n = 2 * n + (p->chunks - 1) * p->stages;
    return n < all ? n : all;
}

uint64_t pipeline_in_flight(const struct pipeline *p, uint32_t stage)
{
    uint64_t all = all_forward(p), first = warm_up(p, stage);
    return first < all ? first + 1 : all;
}

// The k-th forward or backward pass of a stage.
static struct pipeline_pass numbered(const struct pipeline *p, uint64_t k, bool backward)
{
    uint32_t round = p->stages * p->chunks, chunk = (uint32_t)(k % round / p->stages);
    if (p->chunks == 1)
        return (struct pipeline_pass){(uint32_t)k, 0, backward};
    return (struct pipeline_pass){.micro_batch = (uint32_t)(k / round * p->stages + k % p->stages),
                                  .chunk = backward ? p->chunks - 1 - chunk : chunk,
                                  .backward = backward};
}

struct pipeline_pass pipeline_pass_at(const struct pipeline *p, uint32_t stage, uint64_t k)
{
    uint64_t first = warm_up(p, stage), pairs = all_forward(p) - first;
    if (k < first)
        return numbered(p, k, false);
    k -= first;
    if (k < 2 * pairs)
        return numbered(p, k % 2 == 0 ? first + k / 2 : k / 2, k % 2 == 1);
    return numbered(p, pairs + (k - 2 * pairs), true);
}

// SPDX-License-Identifier: MIT
// A schedule is a warm-up of forward passes, pairs of one forward and one backward pass, and the
// remaining backward passes; only the length of the warm-up and the numbering differ.
#include "workload/llm/llm_schedule.h"

static uint32_t stages(const struct llm_spec *s) { return (uint32_t)s->p.degrees[LLM_PIPELINE]; }

static uint32_t chunks(const struct llm_spec *s) { return (uint32_t)s->p.virtual_stages; }

uint64_t llm_passes(const struct llm_spec *s) { return 2 * (uint64_t)s->micro_batches * chunks(s); }

static uint64_t warm_up(const struct llm_spec *s, uint32_t stage)
{
    uint64_t all = (uint64_t)s->micro_batches * chunks(s), n = stages(s) - stage - 1;
    if (s->p.schedule == LLM_GPIPE)
        return all;
    if (s->p.schedule == LLM_INTERLEAVED && chunks(s) > 1)
        n = 2 * n + (chunks(s) - 1) * stages(s);
    return n < all ? n : all;
}

// The k-th forward or backward pass of a stage.
static struct llm_pass numbered(const struct llm_spec *s, uint64_t k, bool backward)
{
    uint32_t p = stages(s), round = p * chunks(s), chunk = (uint32_t)(k % round / p);
    if (chunks(s) == 1)
        return (struct llm_pass){(uint32_t)k, 0, backward};
    return (struct llm_pass){.micro_batch = (uint32_t)(k / round * p + k % p),
                             .chunk = backward ? chunks(s) - 1 - chunk : chunk,
                             .backward = backward};
}

struct llm_pass llm_pass_at(const struct llm_spec *s, uint32_t stage, uint64_t k)
{
    uint64_t all = (uint64_t)s->micro_batches * chunks(s), first = warm_up(s, stage),
             pairs = all - first;
    if (k < first)
        return numbered(s, k, false);
    k -= first;
    if (k < 2 * pairs)
        return numbered(s, k % 2 == 0 ? first + k / 2 : k / 2, k % 2 == 1);
    return numbered(s, pairs + (k - 2 * pairs), true);
}

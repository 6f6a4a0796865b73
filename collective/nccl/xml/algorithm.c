// SPDX-License-Identifier: MIT
// Connects each thread block with the blocks of other ranks that it sends to and receives from.
#include "collective/nccl/xml/algorithm.h"

#include <stdio.h>

#include "collective/nccl/xml/xml_internal.h"
#include "engine/base/memory.h"

struct xml_algorithm *xml_algorithm_new(uint32_t n_gpus, uint32_t n_blocks, uint32_t n_steps)
{
    size_t gpus = sizeof(struct xml_gpu) * n_gpus, blocks = sizeof(struct xml_block) * n_blocks,
           steps = sizeof(struct xml_step) * n_steps;
    struct xml_algorithm *a = memory_zeroed(1, sizeof *a + gpus + blocks + steps);
    a->n_gpus = n_gpus;
    a->n_blocks = n_blocks;
    a->n_steps = n_steps;
    a->gpus = (struct xml_gpu *)(void *)(a + 1);
    a->blocks = (struct xml_block *)(void *)(a->gpus + n_gpus);
    a->steps = (struct xml_step *)(void *)(a->blocks + n_blocks);
    return a;
}

// The block of GPU `gpu` that receives from `peer`, or sends to it, on a channel; XML_NONE without
// one. `*twice`: set if there are several.
static uint32_t block_facing(const struct xml_algorithm *a, uint32_t gpu, bool sends, uint32_t peer,
                             uint32_t channel, bool *twice)
{
    const struct xml_gpu *g = &a->gpus[gpu];
    uint32_t found = XML_NONE;
    for (uint32_t b = g->first_block; b < g->first_block + g->n_blocks; b++) {
        const struct xml_block *block = &a->blocks[b];
        if ((sends ? block->send : block->receive) != peer || block->channel != channel)
            continue;
        *twice = *twice || found != XML_NONE;
        found = b;
    }
    return found;
}

// Returns false if the GPU at the other end has two blocks for it.
static bool find_peers(struct xml_algorithm *a, struct xml_block *b, struct xml_error *error)
{
    bool twice = false;
    b->sends_to = b->receives_from = XML_NONE;
    if (b->send != XML_NONE)
        b->sends_to = block_facing(a, b->send, false, b->gpu, b->channel, &twice);
    if (twice) {
        error->line = a->blocks[b->sends_to].line;
        snprintf(error->text, sizeof error->text,
                 "GPU %u has two thread blocks that receive from GPU %u on channel %u", b->send,
                 b->gpu, b->channel);
        return false;
    }
    if (b->receive != XML_NONE)
        b->receives_from = block_facing(a, b->receive, true, b->gpu, b->channel, &twice);
    if (twice) {
        error->line = a->blocks[b->receives_from].line;
        snprintf(error->text, sizeof error->text,
                 "GPU %u has two thread blocks that send to GPU %u on channel %u", b->receive,
                 b->gpu, b->channel);
    }
    return !twice;
}

// The next step of a block from `at` on that sends, or receives; XML_NONE at the end.
static uint32_t next_step(const struct xml_algorithm *a, const struct xml_block *b, uint32_t at,
                          bool sends)
{
    for (; at < b->n_steps; at++) {
        const struct xml_step *s = &a->steps[b->first_step + at];
        if (sends ? xml_sends(s) : xml_receives(s))
            return at;
    }
    return XML_NONE;
}

static void say_unmatched(const struct xml_block *b, bool sends, uint32_t matched,
                          struct xml_error *error)
{
    snprintf(
        error->text, sizeof error->text,
        "unmatched %s: GPU %u, thread block %u %s GPU %u on channel %u, which %s %u times there",
        sends ? "sends" : "receives", b->gpu, b->id, sends ? "sends to" : "receives from",
        sends ? b->send : b->receive, b->channel, sends ? "receives" : "sends", matched);
}

// Compare the sends of block `from` and the receives of block `to`, which stand in their order. One
// of the two may be NULL.
static bool match(const struct xml_algorithm *a, const struct xml_block *from,
                  const struct xml_block *to, struct xml_error *error)
{
    for (uint32_t i = 0, j = 0, n = 0;; i++, j++, n++) {
        i = from != NULL ? next_step(a, from, i, true) : XML_NONE;
        j = to != NULL ? next_step(a, to, j, false) : XML_NONE;
        if (i == XML_NONE && j == XML_NONE)
            return true;
        bool sends = i != XML_NONE;
        const struct xml_step *s = &a->steps[sends ? from->first_step + i : to->first_step + j],
                              *r = s;
        if (sends && j != XML_NONE)
            r = &a->steps[to->first_step + j];
        if (s != r && s->count == r->count)
            continue;
        error->line = s->line;
        if (s == r)
            say_unmatched(sends ? from : to, sends, n, error);
        else
            snprintf(
                error->text, sizeof error->text,
                "unmatched sends: GPU %u, thread block %u sends %u chunks to GPU %u on channel "
                "%u, where thread block %u receives %u (line %u)",
                from->gpu, from->id, s->count, from->send, from->channel, to->id, r->count,
                r->line);
        return false;
    }
}

static bool match_all(struct xml_algorithm *a, struct xml_error *error)
{
    for (uint32_t b = 0; b < a->n_blocks; b++)
        if (!find_peers(a, &a->blocks[b], error))
            return false;
    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct xml_block *block = &a->blocks[b];
        if (!match(a, block, block->sends_to != XML_NONE ? &a->blocks[block->sends_to] : NULL,
                   error))
            return false;
        if (block->receives_from == XML_NONE && !match(a, NULL, block, error))
            return false;
    }
    return true;
}

static bool dependencies_exist(const struct xml_algorithm *a, struct xml_error *error)
{
    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct xml_block *block = &a->blocks[b];
        const struct xml_gpu *gpu = &a->gpus[block->gpu];
        for (uint32_t i = 0; i < block->n_steps; i++) {
            const struct xml_step *s = &a->steps[block->first_step + i];
            error->line = s->line;
            if (s->after_block == XML_NONE)
                continue;
            if (s->after_block >= gpu->n_blocks)
                snprintf(error->text, sizeof error->text,
                         "the step waits for thread block %u: GPU %u has %u", s->after_block,
                         block->gpu, gpu->n_blocks);
            else if (s->after_step >= a->blocks[gpu->first_block + s->after_block].n_steps)
                snprintf(error->text, sizeof error->text,
                         "the step waits for step %u of thread block %u, which has %u",
                         s->after_step, s->after_block,
                         a->blocks[gpu->first_block + s->after_block].n_steps);
            else
                continue;
            return false;
        }
    }
    return true;
}

bool xml_algorithm_link(struct xml_algorithm *a, struct xml_error *error)
{
    return match_all(a, error) && dependencies_exist(a, error) && xml_steps_end(a, error);
}

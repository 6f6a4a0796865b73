// SPDX-License-Identifier: MIT
// Connects each thread block with the blocks of other ranks that it sends to and receives from.
#include "collective/nccl/xml/algorithm.h"

#include <stdio.h>
#include <stdlib.h>

#include "collective/nccl/xml/operation.h"
#include "collective/nccl/xml/xml_internal.h"
#include "engine/base/memory.h"

/* ---- circle ---- */

// Runs the steps of one loop without times, to see whether all of them end.
//
// Blocks go through their steps one after the other, and whether a step can begin depends on
// nothing but what others have done, so that the order in which blocks take their turns does not
// change what ends. One loop is enough: a block that waits in the first loop that does not end
// waits for blocks of the same loop. A connection's buffer holds NCCL_STEPS steps, so that it
// matters into how many messages a step is cut: the more chunks go at once, the fewer. With large
// operations every chunk goes alone, and a step with many of them may fill the buffers.

#define NAMED 4 // steps of a circle that an error names

struct cursor {
    uint32_t step, message; // the step that runs or waits, and the messages of it that have passed
    uint32_t sent, received;
    uint32_t waiting, next; // lists: blocks that wait for this one; XML_NONE = the end
    uint32_t awaited;       // the block that this one waits for
};

struct walk {
    const struct xml_algorithm *a;
    struct cursor *cursors; // [block]
    uint32_t *queue;        // blocks that may go on
    uint32_t n_queue;
    uint32_t slices;   // messages into which the chunks of a step that are sent together are cut
    uint32_t window;   // messages that fit into the buffer of a connection
    uint32_t together; // chunks of a step that are sent together
};

static const struct xml_step *step_at(const struct walk *w, uint32_t block)
{
    return &w->a->steps[w->a->blocks[block].first_step + w->cursors[block].step];
}

static bool is_over(const struct walk *w, uint32_t block)
{
    return w->cursors[block].step == w->a->blocks[block].n_steps;
}

// Returns the block that must do something first, or XML_NONE.
static uint32_t block_before(const struct walk *w, uint32_t block)
{
    const struct xml_block *b = &w->a->blocks[block];
    const struct cursor *c = &w->cursors[block];
    const struct xml_step *s = step_at(w, block);
    if (s->after_block != XML_NONE && c->message == 0) {
        uint32_t before = w->a->gpus[b->gpu].first_block + s->after_block;
        if (w->cursors[before].step <= s->after_step)
            return before;
    }
    if (xml_receives(s) && w->cursors[b->receives_from].sent == c->received)
        return b->receives_from;
    if (xml_sends(s) && c->sent - w->cursors[b->sends_to].received == w->window)
        return b->sends_to;
    return XML_NONE;
}

// Look again at the thread blocks that have waited for a step of this one.
static void wake(struct walk *w, uint32_t block)
{
    struct cursor *c = &w->cursors[block];
    while (c->waiting != XML_NONE) {
        uint32_t first = c->waiting;
        c->waiting = w->cursors[first].next;
        w->cursors[first].awaited = XML_NONE;
        w->queue[w->n_queue++] = first;
    }
}

static void go_on(struct walk *w, uint32_t block)
{
    struct cursor *c = &w->cursors[block];
    uint32_t before = XML_NONE;
    bool moved = false;
    while (!is_over(w, block) && (before = block_before(w, block)) == XML_NONE) {
        const struct xml_step *s = step_at(w, block);
        c->sent += xml_sends(s);
        c->received += xml_receives(s);
        uint32_t parts = w->a->own_sizes ? 1 : (s->count + w->together - 1) / w->together;
        if (++c->message >= parts * w->slices) {
            c->message = 0;
            c->step++;
        }
        moved = true;
    }
    if (before != XML_NONE) {
        c->awaited = before;
        c->next = w->cursors[before].waiting;
        w->cursors[before].waiting = block;
    }
    if (moved)
        wake(w, block);
}

// Every block that has not ended waits for another such one, so that following them leads into a
// circle.
static void name_circle(const struct walk *w, uint32_t block, struct xml_error *error)
{
    for (uint32_t i = 0; i < w->a->n_blocks; i++)
        block = w->cursors[block].awaited;
    uint32_t first = block;
    // The circle is named from its lowest block on, so the message does not depend on where the
    // search entered it.
    for (uint32_t b = w->cursors[first].awaited; b != first; b = w->cursors[b].awaited)
        block = b < block ? b : block;
    first = block;
    error->line = step_at(w, first)->line;
    int at = snprintf(error->text, sizeof error->text, "the steps never end: ");
    for (uint32_t n = 0; n < NAMED && (n == 0 || block != first); n++) {
        const struct xml_block *b = &w->a->blocks[block];
        at += snprintf(error->text + at, sizeof error->text - (size_t)at,
                       "GPU %u, thread block %u, step %u (%s %u) waits for ", b->gpu, b->id,
                       w->cursors[block].step, w->a->place, step_at(w, block)->line);
        block = w->cursors[block].awaited;
    }
    snprintf(error->text + at, sizeof error->text - (size_t)at, "%s; a buffer holds %u messages",
             block == first ? "the first one" : "others", w->window);
}

// Whether all steps end if so many chunks go at once.
static bool steps_end(const struct xml_algorithm *a, uint32_t together, struct xml_error *error)
{
    struct walk w = {.a = a, .together = together};
    xml_messages_fit(a->protocol, &w.slices, &w.window);
    w.cursors = memory_zeroed(a->n_blocks + 1, sizeof *w.cursors);
    w.queue = memory_zeroed(a->n_blocks + 1, sizeof *w.queue);
    for (uint32_t b = 0; b < a->n_blocks; b++) {
        w.cursors[b].waiting = w.cursors[b].awaited = XML_NONE;
        w.queue[w.n_queue++] = b;
    }
    while (w.n_queue > 0)
        go_on(&w, w.queue[--w.n_queue]);
    uint32_t stuck = 0;
    while (stuck < a->n_blocks && is_over(&w, stuck))
        stuck++;
    if (stuck < a->n_blocks)
        name_circle(&w, stuck, error);
    free(w.cursors);
    free(w.queue);
    return stuck == a->n_blocks;
}

// Whether all steps end; sets `together_least`. Returns false with one sentence.
static bool xml_steps_end(struct xml_algorithm *a, struct xml_error *error)
{
    struct xml_error last = {0};
    uint32_t fails = 0, ends = 1; // chunks at once
    a->together_least = 1;
    if (a->own_sizes)
        return steps_end(a, 1, error);
    for (uint32_t i = 0; i < a->n_steps; i++)
        ends = a->steps[i].count > ends ? a->steps[i].count : ends;
    if (!steps_end(a, ends, error))
        return false;
    // More chunks at once are cut into fewer messages, so where some number ends, every larger one
    // does.
    while (ends - fails > 1) {
        uint32_t middle = fails == 0 ? 1 : (fails + ends) / 2;
        if (steps_end(a, middle, &last))
            ends = middle;
        else
            fails = middle;
    }
    a->together_least = ends;
    return true;
}

/* ---- algorithm ---- */

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
        // A block without a sender has not been compared above.
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

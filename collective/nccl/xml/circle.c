// SPDX-License-Identifier: MIT
// Runs the steps of one loop without times, to see whether all of them end.
//
// Blocks go through their steps one after the other, and whether a step can begin depends on
// nothing but what others have done, so that the order in which blocks take their turns does not
// change what ends. One loop is enough: a block that waits in the first loop that does not end
// waits for blocks of the same loop. A connection's buffer holds NCCL_STEPS steps, so that it
// matters into how many messages a step is cut: the more chunks go at once, the fewer. With large
// operations every chunk goes alone, and a step with many of them may fill the buffers.
#include <stdio.h>
#include <stdlib.h>

#include "collective/nccl/xml/operation.h"
#include "collective/nccl/xml/xml_internal.h"
#include "engine/base/memory.h"

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
    uint32_t slices, window; // messages of what goes at once, and those that a buffer holds
    uint32_t together;       // chunks that go at once
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

bool xml_steps_end(struct xml_algorithm *a, struct xml_error *error)
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

// SPDX-License-Identifier: MIT
#include "tests/workload/offload/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

struct walk { // when operations begin and end, by layer; PS_NEVER = there is none
    const struct offload_chain *c;
    const struct offload_choice *choice;
    struct span {
        ps_t from, to;
    } forward[LAYERS_MAX], again[LAYERS_MAX], backward[LAYERS_MAX], out[LAYERS_MAX], in[LAYERS_MAX],
        weights[2][LAYERS_MAX], gradient[LAYERS_MAX], update[LAYERS_MAX + 1];
};

static struct span *span_of(struct walk *w, const struct offload_op *op)
{
    switch ((enum offload_what)op->what) {
    case OFFLOAD_FORWARD:
        return &w->forward[op->layer];
    case OFFLOAD_AGAIN:
        return &w->again[op->layer];
    case OFFLOAD_BACKWARD:
        return &w->backward[op->layer];
    case OFFLOAD_OUTPUT_OUT:
        return &w->out[op->layer];
    case OFFLOAD_OUTPUT_IN:
        return &w->in[op->layer];
    case OFFLOAD_WEIGHTS_IN:
        return &w->weights[w->weights[0][op->layer].from != PS_NEVER][op->layer];
    case OFFLOAD_GRADIENT_OUT:
        return &w->gradient[op->layer];
    default:
        return &w->update[op->layer];
    }
}

// Take the times of a schedule whose operation i runs from begins[i] to ends[i].
static void walk_fill(struct walk *w, const struct offload_schedule *s, const ps_t *begins,
                      const ps_t *ends)
{
    const struct span none = {PS_NEVER, PS_NEVER};
    for (uint32_t l = 0; l <= LAYERS_MAX; l++) {
        w->update[l] = none;
        if (l < LAYERS_MAX)
            w->forward[l] = w->again[l] = w->backward[l] = w->out[l] = w->in[l] = w->weights[0][l] =
                w->weights[1][l] = w->gradient[l] = none;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        struct span *span = span_of(w, &s->ops[i]);
        assert_true(span->from == PS_NEVER); // each runs once
        *span = (struct span){begins[i], ends[i]};
    }
}

static ps_t later(ps_t a, ps_t b) { return a > b ? a : b; }
static bool is_at(const struct walk *w, uint32_t l, enum offload_way way)
{
    return w->choice->ways[l] == way;
}

#define AFTER(second, first)                                                                       \
    do {                                                                                           \
        assert_true((first).to != PS_NEVER && (second).from != PS_NEVER);                          \
        assert_true((first).to <= (second).from);                                                  \
    } while (0)

// Every pass has its input, its weights, and what else it needs.
static void check_order(const struct walk *w)
{
    for (uint32_t l = 0; l < w->c->n; l++) {
        bool weights = w->c->swaps_weights && w->c->layers[l].weight_bytes > 0,
             twice = weights && l < w->choice->stay_from;
        const struct span *late = twice ? &w->weights[1][l] : &w->weights[0][l];
        if (l > 0)
            AFTER(w->forward[l], w->forward[l - 1]);
        if (l + 1 < w->c->n)
            AFTER(w->backward[l], w->backward[l + 1]);
        AFTER(w->backward[l], w->forward[w->c->n - 1]);
        if (weights) {
            AFTER(w->forward[l], w->weights[0][l]);
            AFTER(w->backward[l], *late);
            AFTER(w->gradient[l], w->backward[l]);
            AFTER(w->update[l], w->gradient[l]);
        }
        if (is_at(w, l, OFFLOAD_SWAP)) {
            AFTER(w->out[l], w->forward[l]);
            AFTER(w->in[l], w->out[l]);
            AFTER(w->backward[l + 1], w->in[l]);
        }
        if (is_at(w, l, OFFLOAD_RECOMPUTE)) {
            AFTER(w->backward[l + 1], w->again[l]);
            if (weights)
                AFTER(w->again[l], *late);
            if (l > 0 && is_at(w, l - 1, OFFLOAD_SWAP))
                AFTER(w->again[l], w->in[l - 1]);
            if (l > 0 && is_at(w, l - 1, OFFLOAD_RECOMPUTE))
                AFTER(w->again[l], w->again[l - 1]);
        } else {
            assert_true(w->again[l].from == PS_NEVER);
        }
    }
}

struct held { // bytes from a time to another
    ps_t from, to;
    uint64_t bytes;
};

static uint32_t hold(struct held *held, uint32_t n, ps_t from, ps_t to, uint64_t bytes)
{
    held[n] = (struct held){from, to, bytes};
    return n + 1;
}

// The most memory at one time, from what each pass needs and leaves.
static uint64_t most_held(const struct walk *w)
{
    struct held held[8 * LAYERS_MAX + 1];
    uint32_t n = hold(held, 0, w->forward[0].from, w->backward[0].to, w->c->input_bytes);
    for (uint32_t l = 0; l < w->c->n; l++) {
        const struct offload_layer *own = &w->c->layers[l];
        bool last = l + 1 == w->c->n;
        ps_t made = w->forward[l].from, done = w->backward[l].to;
        if (is_at(w, l, OFFLOAD_KEEP))
            n = hold(held, n, made, done, own->output_bytes);
        if (is_at(w, l, OFFLOAD_SWAP)) {
            n = hold(held, n, made, later(w->out[l].to, w->forward[l + 1].to), own->output_bytes);
            n = hold(held, n, w->in[l].from, done, own->output_bytes);
        }
        if (is_at(w, l, OFFLOAD_RECOMPUTE)) {
            n = hold(held, n, made, w->forward[l + 1].to, own->output_bytes);
            n = hold(held, n, w->again[l].from, done, own->output_bytes);
        }
        n = hold(held, n, w->backward[last ? l : l + 1].from, done, own->gradient_bytes);
        if (!w->c->swaps_weights || own->weight_bytes == 0)
            continue;
        bool twice = l < w->choice->stay_from;
        n = hold(held, n, w->weights[0][l].from, twice ? w->forward[l].to : done,
                 own->weight_bytes);
        if (twice)
            n = hold(held, n, w->weights[1][l].from, done, own->weight_bytes);
        n = hold(held, n, w->backward[l].from, w->gradient[l].to, own->weight_bytes);
    }
    uint64_t most = 0;
    for (uint32_t i = 0; i < n; i++) { // the most is held when something is taken
        uint64_t sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += held[j].from <= held[i].from && held[j].to > held[i].from ? held[j].bytes : 0;
        most = sum > most ? sum : most;
    }
    return most;
}

// Run the operations again, each as soon as its stream is free and those before it have ended, but
// with other times. Fills begins and ends.
static void run_other(const struct offload_schedule *s, const ps_t *takes, ps_t *begins, ps_t *ends)
{
    ps_t free_at[OFFLOAD_STREAMS] = {0};
    for (uint32_t i = 0; i < s->n; i++) {
        const struct offload_op *op = &s->ops[i];
        begins[i] = free_at[op->stream];
        for (unsigned a = 0; a < op->n_after; a++) {
            assert_true(op->after[a] < i);
            begins[i] = later(begins[i], ends[op->after[a]]);
        }
        ends[i] = free_at[op->stream] = begins[i] + takes[i];
    }
}

void check_schedule(const struct offload_chain *c, const struct offload_choice *choice,
                    const struct offload_schedule *s, struct rng *rng)
{
    struct walk w = {.c = c, .choice = choice};
    ps_t *takes = calloc(s->n, sizeof *takes), *begins = calloc(s->n, sizeof *begins),
         *ends = calloc(s->n, sizeof *ends);
    for (uint32_t i = 0; i < s->n; i++)
        takes[i] = s->ops[i].takes_ps;
    run_other(s, takes, begins, ends);
    for (uint32_t i = 0; i < s->n; i++) { // the planned times are those of its own rules
        assert_int_equal(begins[i], s->ops[i].start_ps);
        assert_int_equal(ends[i], s->ops[i].end_ps);
        assert_true(ends[i] <= s->iteration_ps);
    }
    walk_fill(&w, s, begins, ends);
    check_order(&w);
    assert_true(most_held(&w) <= c->capacity_bytes);
    struct offload_peak peak = offload_schedule_peak(s);
    assert_int_equal(peak.output_bytes + peak.state_bytes, most_held(&w));
    for (unsigned other = 0; other < 3; other++) {
        for (uint32_t i = 0; i < s->n; i++)
            takes[i] = 1 + (ps_t)(rng_unit(rng) * 3 * (double)s->ops[i].takes_ps);
        run_other(s, takes, begins, ends);
        walk_fill(&w, s, begins, ends);
        check_order(&w);
        assert_true(most_held(&w) <= c->capacity_bytes);
    }
    free(takes);
    free(begins);
    free(ends);
}

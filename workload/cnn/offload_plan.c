// SPDX-License-Identifier: MIT
#include "workload/cnn/offload_plan.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

// Operations of schedules that are made for a method: some 0.1 s.
#define OPERATIONS_MOST 1000000

const char *const offload_methods[] = {"auto", "swap", "recompute", NULL};

struct search {
    const struct offload_chain *chain;
    bool allowed[OFFLOAD_WAYS];
    struct offload_schedule schedule;
    struct offload_choice trial, best;
    ps_t best_ps; // PS_NEVER = nothing fits
    uint64_t operations;
};

/* ---- trials ---- */

static void copy(const struct search *s, struct offload_choice *to,
                 const struct offload_choice *from)
{
    memcpy(to->ways, from->ways, s->chain->n);
    to->stay_from = from->stay_from;
}

static bool is_exhausted(const struct search *s) { return s->operations > OPERATIONS_MOST; }

// Try s->trial, and return whether it fits; a shorter one than the best so far becomes the best.
static bool try(struct search *s)
{
    struct offload_schedule *schedule = &s->schedule;
    bool fits = offload_schedule_make(schedule, s->chain, &s->trial);
    s->operations += schedule->n + 1;
    if (fits && schedule->iteration_ps < s->best_ps) {
        copy(s, &s->best, &s->trial);
        s->best_ps = schedule->iteration_ps;
    }
    return fits;
}

/* ---- first choices ---- */

// The layers before `kept` in about `blocks` blocks of equal memory, whose last outputs go `ends`
// and the others `inner`; all later ones are kept.
static void set_blocks(struct search *s, uint32_t kept, uint32_t blocks, enum offload_way ends,
                       enum offload_way inner)
{
    const struct offload_chain *c = s->chain;
    double all = 0, sum = 0;
    uint32_t ended = 0;
    for (uint32_t l = 0; l < kept; l++)
        all += (double)c->layers[l].output_bytes;
    for (uint32_t l = 0; l < c->n; l++) {
        sum += (double)c->layers[l].output_bytes;
        bool is_end = l < kept && sum * blocks >= all * (ended + 1);
        while (is_end && ended < blocks && sum * blocks >= all * (ended + 1))
            ended++;
        s->trial.ways[l] = (uint8_t)(l >= kept ? OFFLOAD_KEEP : is_end ? ends : inner);
    }
    s->trial.ways[c->n - 1] = OFFLOAD_KEEP;
    s->trial.stay_from = c->n;
}

// Keep as many of the last outputs as fit, and a part of them: what is not kept leaves room to
// fetch earlier.
static void try_blocks(struct search *s, uint32_t blocks, enum offload_way ends,
                       enum offload_way inner)
{
    uint32_t low = 0, high = s->chain->n; // layers that are kept: low fit
    if (is_exhausted(s))
        return;
    set_blocks(s, s->chain->n, blocks, ends, inner);
    if (!try(s))
        return;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        set_blocks(s, s->chain->n - middle, blocks, ends, inner);
        if (try(s))
            low = middle;
        else
            high = middle;
    }
    for (unsigned eighths = 2; eighths < 8; eighths += 2) {
        set_blocks(s, s->chain->n - (uint32_t)((uint64_t)low * eighths / 8), blocks, ends, inner);
        try(s);
    }
}

// Blocks of the square root of n layers: Chen et al., Training Deep Nets with Sublinear Memory
// Cost, 2016.
static void try_root(struct search *s, enum offload_way ends)
{
    uint32_t n = s->chain->n, root = 1;
    while ((uint64_t)root * root < n)
        root++;
    for (uint32_t l = 0; l < n; l++)
        s->trial.ways[l] = (uint8_t)(l + 1 == n            ? OFFLOAD_KEEP
                                     : (l + 1) % root == 0 ? ends
                                                           : OFFLOAD_RECOMPUTE);
    s->trial.stay_from = n;
    try(s);
}

static void try_first(struct search *s)
{
    uint32_t n = s->chain->n;
    set_blocks(s, 0, 1, OFFLOAD_KEEP, OFFLOAD_KEEP);
    try(s);
    if (s->allowed[OFFLOAD_SWAP])
        try_blocks(s, n, OFFLOAD_SWAP, OFFLOAD_SWAP);
    for (int way = OFFLOAD_KEEP; way <= OFFLOAD_SWAP && s->allowed[OFFLOAD_RECOMPUTE]; way++) {
        if (!s->allowed[way])
            continue;
        try_root(s, (enum offload_way)way);
        for (uint32_t blocks = 1; blocks <= n; blocks += 1 + blocks / 4)
            try_blocks(s, blocks, (enum offload_way)way, OFFLOAD_RECOMPUTE);
    }
}

/* ---- improvement ---- */

// Try s->trial, which differs from the best choice. Returns whether it is better; else it is again
// the best choice.
static bool improves(struct search *s)
{
    ps_t before = s->best_ps;
    try(s);
    if (s->best_ps < before)
        return true;
    copy(s, &s->trial, &s->best);
    return false;
}

static bool improve_layer(struct search *s, uint32_t l)
{
    bool better = false;
    for (unsigned way = 0; way < OFFLOAD_WAYS; way++) {
        if (!s->allowed[way] || s->best.ways[l] == way)
            continue;
        s->trial.ways[l] = (uint8_t)way;
        better |= improves(s);
    }
    if (l + 2 < s->chain->n && s->best.ways[l] != s->best.ways[l + 1]) {
        s->trial.ways[l] = s->best.ways[l + 1];
        s->trial.ways[l + 1] = s->best.ways[l];
        better |= improves(s);
    }
    return better;
}

// Weights of `step` more or fewer of the last layers stay between the passes.
static uint32_t stay_from(const struct search *s, uint32_t step, bool more)
{
    uint32_t n = s->chain->n, from = s->best.stay_from;
    if (more)
        return from > step ? from - step : 0;
    return n - from > step ? from + step : n;
}

static bool improve_weights(struct search *s)
{
    bool better = false;
    for (uint32_t step = 1; step <= s->chain->n && s->chain->swaps_weights; step += 1 + step / 8)
        for (unsigned more = 0; more < 2; more++) {
            s->trial.stay_from = stay_from(s, step, more);
            better |= improves(s);
        }
    return better;
}

// Try the same with the choice of a layer. Returns whether one is better, then the first that was
// found; so does improve_pairs().
static bool improve_both(struct search *s)
{
    for (uint32_t step = 1; step <= s->chain->n && s->chain->swaps_weights; step += 1 + step / 8)
        for (uint32_t both = 0; both < 2 * OFFLOAD_WAYS * (s->chain->n - 1); both++) {
            uint32_t l = both / (2 * OFFLOAD_WAYS);
            uint8_t way = (uint8_t)(both / 2 % OFFLOAD_WAYS);
            if (!s->allowed[way] || s->best.ways[l] == way)
                continue;
            if (is_exhausted(s))
                return false;
            s->trial.ways[l] = way;
            s->trial.stay_from = stay_from(s, step, both % 2 > 0);
            if (improves(s))
                return true;
        }
    return false;
}

// Try the choices of two layers.
static bool improve_pairs(struct search *s)
{
    uint32_t n = s->chain->n;
    for (uint32_t k = n - 1; k-- > 1;)
        for (uint32_t l = k; l-- > 0;)
            for (unsigned both = 0; both < OFFLOAD_WAYS * OFFLOAD_WAYS; both++) {
                uint8_t first = (uint8_t)(both % OFFLOAD_WAYS),
                        second = (uint8_t)(both / OFFLOAD_WAYS);
                if (first == s->best.ways[l] || second == s->best.ways[k] || !s->allowed[first] ||
                    !s->allowed[second])
                    continue;
                if (is_exhausted(s))
                    return false;
                s->trial.ways[l] = first;
                s->trial.ways[k] = second;
                if (improves(s))
                    return true;
            }
    return false;
}

static void improve(struct search *s)
{
    bool better = s->best_ps != PS_NEVER;
    while (better && !is_exhausted(s)) {
        copy(s, &s->trial, &s->best);
        better = improve_weights(s);
        for (uint32_t l = s->chain->n - 1; l-- > 0 && !is_exhausted(s);)
            better |= improve_layer(s, l);
        better = better || improve_both(s) || improve_pairs(s);
    }
}

/* ---- methods ---- */

static void search(struct search *s, enum offload_method method)
{
    s->operations = 0;
    s->allowed[OFFLOAD_KEEP] = true;
    s->allowed[OFFLOAD_SWAP] = method != OFFLOAD_ONLY_RECOMPUTE;
    s->allowed[OFFLOAD_RECOMPUTE] = method != OFFLOAD_ONLY_SWAP;
    try_first(s);
    improve(s);
}

static void count(struct offload_plan *plan, const struct offload_chain *chain)
{
    for (uint32_t l = 0; l < chain->n; l++) {
        uint8_t way = plan->choice.ways[l];
        plan->kept += way == OFFLOAD_KEEP;
        plan->swapped += way == OFFLOAD_SWAP;
        plan->recomputed += way == OFFLOAD_RECOMPUTE;
        plan->recomputed_ps += way == OFFLOAD_RECOMPUTE ? chain->layers[l].forward_ps : 0;
    }
}

bool offload_plan_make(struct offload_plan *plan, const struct offload_chain *chain,
                       enum offload_method method)
{
    struct search s = {.chain = chain, .best_ps = PS_NEVER};
    s.trial.ways = memory_zeroed(chain->n, 1);
    s.best.ways = memory_zeroed(chain->n, 1);
    if (method == OFFLOAD_AUTO) { // each with its own bound on tries, so that auto is never worse
        search(&s, OFFLOAD_ONLY_SWAP);
        ps_t swapped = s.best_ps;
        struct offload_choice kept = s.best;
        s.best.ways = memory_zeroed(chain->n, 1);
        s.best_ps = PS_NEVER;
        search(&s, OFFLOAD_ONLY_RECOMPUTE);
        if (swapped < s.best_ps) {
            copy(&s, &s.best, &kept);
            s.best_ps = swapped;
        }
        free(kept.ways);
    }
    search(&s, method);
    *plan = (struct offload_plan){.choice = s.best, .iteration_ps = s.best_ps};
    if (s.best_ps != PS_NEVER)
        count(plan, chain);
    offload_schedule_free(&s.schedule);
    free(s.trial.ways);
    return s.best_ps != PS_NEVER;
}

void offload_plan_free(struct offload_plan *plan)
{
    free(plan->choice.ways);
    *plan = (struct offload_plan){0};
}

// SPDX-License-Identifier: MIT
#include "transport/nic/stack_threads.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

struct stack_thread {
    struct core_thread thread; // first: a core_thread of a stack is one of these
    double slower;             // 1 = not
};

struct stack_slot {
    enum stack_direction direction;
    uint32_t peer, turn;
    struct core_thread *thread;
};

#define NO_PEER UINT32_MAX // threads of a rank serve all peers

// Caches, NUMA nodes and interrupts differ between threads: the slower ones are drawn by the seed
// and by what the thread is for, so the order in which connections open does not matter.
static double draw_slower(const struct stack_threads *t, const struct stack_use *use)
{
    if (t->spec->spread <= 0)
        return 1;
    uint64_t end = 2 * (uint64_t)use->rank + use->direction,
             other = (uint64_t)use->peer << 32 | use->number;
    struct rng rng =
        rng_init(t->seed, RNG_HOST_THREAD, (uint32_t)(hash_mix(hash_mix(end) ^ other) >> 32));
    return 1 / (1 - t->spec->spread * rng_unit(&rng));
}

static struct core_thread *thread_new(struct stack_threads *t, const struct stack_use *use)
{
    struct stack_thread *made = memory_zeroed(1, sizeof *made);
    made->slower = draw_slower(t, use);
    core_thread_init(&made->thread, t->cores, use->rank);
    if (t->n_own == t->cap_own)
        t->own = memory_grow(t->own, &t->cap_own, sizeof *t->own);
    t->own[t->n_own++] = made;
    return &made->thread;
}

struct core_thread *stack_thread_for(struct stack_threads *t, struct stack_use use)
{
    if (t->spec->threads == 0)
        return thread_new(t, &use);
    struct stack_shared *shared = &t->shared[use.rank];
    use.number %= (uint32_t)t->spec->threads;
    if (t->spec->threads_of == HOST_THREADS_OF_RANK)
        use.peer = NO_PEER;
    for (size_t i = shared->n; i-- > 0;) {
        const struct stack_slot *slot = &shared->slots[i];
        if (slot->direction == use.direction && slot->peer == use.peer && slot->turn == use.number)
            return slot->thread;
    }
    if (shared->n == shared->cap)
        shared->slots = memory_grow(shared->slots, &shared->cap, sizeof *shared->slots);
    struct core_thread *made = thread_new(t, &use);
    shared->slots[shared->n++] = (struct stack_slot){use.direction, use.peer, use.number, made};
    return made;
}

ps_t stack_thread_ps(const struct core_thread *thread, ps_t takes_ps)
{
    double slower = ((const struct stack_thread *)thread)->slower;
    return slower > 1 ? (ps_t)((double)takes_ps * slower) : takes_ps;
}

void stack_threads_end(struct stack_threads *t)
{
    for (size_t i = 0; i < t->n_own; i++) {
        core_thread_end(&t->own[i]->thread);
        free(t->own[i]);
    }
    free(t->own);
}

// SPDX-License-Identifier: MIT
// The present thread of a simulation, and the engine whose event it is processing.
#include "engine/shards_internal.h"

// Set once by each thread but the first one; a thread belongs to one simulation.
static _Thread_local uint32_t thread_number;

void engine_set_thread(uint32_t number) { thread_number = number; }

uint32_t engine_thread(void) { return thread_number; }

bool engine_shards_run(const struct engine *e)
{
    return e->shards->parallel && !e->shards->in_turn;
}

struct engine *engine_current_shard(const struct engine *e)
{
    const struct shards *p = e->shards;
    return engine_shards_run(e) ? p->engines[thread_number] : p->current;
}

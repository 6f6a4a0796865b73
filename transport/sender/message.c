// SPDX-License-Identifier: MIT
// The pool of messages.
#include "transport/sender/message.h"

#include <stdlib.h>

#include "engine/base/memory.h"

void message_pool_init(struct message_pool *pool)
{
    *pool = (struct message_pool){.free_head = MESSAGE_NIL};
}

void message_pool_free(struct message_pool *pool)
{
    free(pool->slots);
    message_pool_init(pool);
}

uint32_t message_alloc(struct message_pool *pool)
{
    uint32_t index = pool->free_head;
    if (index != MESSAGE_NIL) {
        pool->free_head = pool->slots[index].next;
    } else {
        if (pool->n == pool->cap)
            pool->slots = memory_grow(pool->slots, &pool->cap, sizeof *pool->slots);
        index = pool->n++;
    }
    pool->slots[index] = (struct message){.next = MESSAGE_NIL};
    return index;
}

void message_free(struct message_pool *pool, uint32_t index)
{
    pool->slots[index].next = pool->free_head;
    pool->free_head = index;
}

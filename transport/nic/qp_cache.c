// SPDX-License-Identifier: MIT
// Lookup and replacement of contexts.
#include "transport/nic/qp_cache.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

static uint32_t place_for_new(struct qp_cache *c)
{
    if (c->n == c->limit)
        return (uint32_t)rng_below(&c->rng, c->limit);
    if (c->n == c->room)
        c->held = memory_grow(c->held, &c->room, sizeof *c->held);
    return c->n++;
}

static void places_reach(struct qp_places *places, uint32_t context)
{
    while (context >= places->n) {
        size_t before = places->n;
        places->at = memory_grow(places->at, &places->n, sizeof *places->at);
        memset(places->at + before, 0, (places->n - before) * sizeof *places->at);
    }
}

bool qp_cache_use(struct qp_cache *c, struct qp_places *places, uint32_t context)
{
    places_reach(places, context); // place 0 of a new context holds another one
    uint32_t place = places->at[context];
    if (place < c->n && c->held[place] == context)
        return true;
    place = place_for_new(c);
    c->held[place] = context;
    places->at[context] = place;
    return false;
}

void qp_cache_free(struct qp_cache *c) { free(c->held); }

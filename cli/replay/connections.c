// SPDX-License-Identifier: MIT
// A hash table with open addressing; nothing is removed.
#include "cli/replay/connections.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

#define BUCKETS_MIN 1024

_Static_assert(sizeof(struct connection_key) == 40, "keys are compared as bytes");

static uint64_t key_hash(const struct connection_key *key)
{
    uint64_t words[sizeof *key / 8], hash = 0;
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = hash_mix(hash + words[i]);
    return hash;
}

// The bucket that holds the key, or the empty one where it belongs.
static uint32_t *bucket_of(const struct connections *all, const struct connection_key *key)
{
    size_t mask = all->n_buckets - 1;
    for (size_t i = key_hash(key) & mask;; i = (i + 1) & mask) {
        uint32_t *bucket = &all->buckets[i];
        if (*bucket == 0 || memcmp(&all->list[*bucket - 1].key, key, sizeof *key) == 0)
            return bucket;
    }
}

static void buckets_double(struct connections *all)
{
    free(all->buckets);
    all->n_buckets = all->n_buckets == 0 ? BUCKETS_MIN : 2 * all->n_buckets;
    all->buckets = memory_zeroed(all->n_buckets, sizeof *all->buckets);
    for (size_t i = 0; i < all->n; i++)
        *bucket_of(all, &all->list[i].key) = (uint32_t)i + 1;
}

struct connection *connection_find(const struct connections *all, const struct connection_key *key)
{
    uint32_t number = all->n_buckets > 0 ? *bucket_of(all, key) : 0;
    return number > 0 ? &all->list[number - 1] : NULL;
}

struct connection *connection_get(struct connections *all, const struct connection_key *key,
                                  bool *made)
{
    struct connection *found = connection_find(all, key);
    *made = found == NULL && all->n < CONNECTIONS_MAX;
    if (!*made)
        return found;
    if (2 * (all->n + 1) > all->n_buckets)
        buckets_double(all);
    if (all->n == all->cap)
        all->list = memory_grow(all->list, &all->cap, sizeof *all->list);
    all->list[all->n] = (struct connection){.key = *key};
    *bucket_of(all, key) = (uint32_t)++all->n;
    return &all->list[all->n - 1];
}

void connections_finish(struct connections *all, struct flow_rows *rows)
{
    for (size_t i = 0; i < all->n; i++) {
        if (all->list[i].key.kind == CONNECTION_TCP)
            tcp_transfers_finish(&all->list[i].tcp, rows);
        else
            roce_messages_finish(&all->list[i].roce, rows);
    }
    free(all->list);
    free(all->buckets);
    *all = (struct connections){0};
}

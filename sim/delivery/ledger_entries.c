// SPDX-License-Identifier: MIT
// The memory of the ledger's entries. Where processes or threads share the ledger, each has numbers
// of its own.
#include "sim/delivery/ledger_entries.h"

#include <stdlib.h>

#include "engine/base/memory.h"

#define SHARED_ENTRIES (UINT64_C(1) << 27) // address space of entries that do not move

struct ledger_part *ledger_part(const struct ledger *l, uint32_t src)
{
    const struct shards *p = l->delivery->fabric->shards;
    if (l->n_parts == 1)
        return l->parts;
    // Threads need a part for each shard, since shards run at once; processes have one part each.
    return &l->parts[l->reserved_bytes > 0 ? p->shard_of[src]
                                           : shards_process_of_shard(p, p->shard_of[src])];
}

uint32_t ledger_entry_take(struct ledger *l, uint32_t src)
{
    struct ledger_part *part = ledger_part(l, src);
    // The numbers of the parts are interleaved, so no number belongs to two parts.
    uint32_t slot = slots_next(&part->numbers) * l->n_parts + (uint32_t)(part - l->parts);
    // Reserved entries cannot grow, since they must not move while other threads use them.
    if (slot >= l->cap && l->reserved_bytes > 0)
        memory_exhausted(l->cap, sizeof *l->entries);
    while (slot >= l->cap)
        l->entries = memory_grow(l->entries, &l->cap, sizeof *l->entries);
    if (l->origins && l->cap_origins < l->cap) {
        l->cap_origins = l->cap;
        l->origins = memory_resize(l->origins, l->cap_origins, sizeof *l->origins);
    }
    return slot;
}

void ledger_entry_give(struct ledger *l, uint64_t number)
{
    slots_give(&ledger_part(l, l->entries[number].src)->numbers, (uint32_t)number / l->n_parts);
}

static void divide(struct ledger *l, uint32_t n_parts)
{
    free(l->parts);
    l->n_parts = n_parts;
    l->parts = memory_zeroed_lines(n_parts, sizeof *l->parts);
}

void ledger_share(struct delivery *delivery, uint32_t n_processes)
{
    divide(delivery->ledger, n_processes);
}

void ledger_shard(struct delivery *delivery, uint32_t n_shards)
{
    struct ledger *l = delivery->ledger;
    l->reserved_bytes = SHARED_ENTRIES * sizeof *l->entries;
    free(l->entries); // none is in use yet
    l->entries = memory_reserve(&l->reserved_bytes);
    l->cap = l->reserved_bytes / sizeof *l->entries;
    divide(l, n_shards);
}

void ledger_entries_init(struct ledger *l) { divide(l, 1); }

void ledger_entries_free(struct ledger *l)
{
    if (l->reserved_bytes > 0)
        memory_release(l->entries, l->reserved_bytes);
    else
        free(l->entries);
    for (uint32_t i = 0; i < l->n_parts; i++)
        slots_free(&l->parts[i].numbers);
    free(l->parts);
}

// SPDX-License-Identifier: MIT
// A hash table from keys of bytes to places, which are numbers from 1 that the caller gives: 1 +
// the index of what the key names in a list of the caller's. Keys are copied; nothing is removed.
//
// It is for what files name, however many things they name. Tables on the data path are of their
// own, since they keep their keys in the objects.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct table {
    struct table_entry *entries; // open addressing; a free entry has place 0
    size_t n, cap;               // cap is a power of two, or 0
};

// The place of a key, for the caller to set; 0 = the key is new, and must get a place before the
// next call. Valid until the next call.
size_t *table_at(struct table *t, const void *key, size_t bytes);
// The same for a key of two numbers.
size_t *table_pair(struct table *t, uint64_t a, uint64_t b);
// The place of a key; 0 = the table does not have it.
size_t table_find(const struct table *t, const void *key, size_t bytes);
void table_free(struct table *t);

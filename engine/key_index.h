// SPDX-License-Identifier: MIT
// A hash table from keys of two 64-bit numbers to indices of a list: an object that a file names is
// found in constant time, however many objects the file names.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct key_index {
    struct key_entry *entries; // open addressing; a free entry has place 0
    size_t n, cap;             // cap is a power of two, or 0
};

// Returns the place of a key, for the caller to set: 1 + the index of the object that the key
// names, or 0 if the key is new. Valid until the next call; a new key must get a place before it.
size_t *key_index_at(struct key_index *index, uint64_t a, uint64_t b);

void key_index_free(struct key_index *index);

// SPDX-License-Identifier: MIT
// A set of 64-bit numbers that only grows, compact where they are close to each other: bitmaps of
// 64 numbers in a hash table.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_set {
    struct id_block *blocks; // open addressing; a block without bits is free
    size_t n, cap;
};

void id_set_add(struct id_set *s, uint64_t id);
bool id_set_has(const struct id_set *s, uint64_t id);
void id_set_free(struct id_set *s);

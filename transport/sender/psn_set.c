// SPDX-License-Identifier: MIT
// A set of packet numbers as a ring of bits.
#include "transport/sender/psn_set.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

void psn_set_free(struct psn_set *set)
{
    free(set->words);
    *set = (struct psn_set){0};
}

void psn_set_clear(struct psn_set *set)
{
    if (set->n > 0)
        memset(set->words, 0, set->n_words * sizeof *set->words);
    set->n = 0;
}

void psn_set_hand_over(struct parcel *p, struct psn_set *set)
{
    PARCEL(p, set->n_words);
    PARCEL(p, set->n);
    PARCEL(p, set->end);
    if (p->reads)
        set->words = memory_zeroed(set->n_words, sizeof *set->words);
    parcel_value(p, set->words, set->n_words * sizeof *set->words);
}

static uint64_t *word_of(const struct psn_set *set, uint64_t psn)
{
    return &set->words[psn / 64 & (set->n_words - 1)];
}

// Grow the ring so that all words from that of `base` to that of `psn` have different places.
static void grow_to(struct psn_set *set, uint64_t base, uint64_t psn)
{
    size_t need = (size_t)(psn / 64 - base / 64) + 1;
    if (need <= set->n_words)
        return;
    struct psn_set old = *set;
    set->n_words = old.n_words ? old.n_words : 4;
    while (set->n_words < need)
        set->n_words *= 2;
    set->words = memory_zeroed(set->n_words, sizeof *set->words);
    for (uint64_t w = base / 64; w < base / 64 + old.n_words; w++)
        set->words[w & (set->n_words - 1)] = old.words[w & (old.n_words - 1)];
    free(old.words);
}

bool psn_set_add(struct psn_set *set, uint64_t base, uint64_t psn)
{
    grow_to(set, base, psn);
    uint64_t *word = word_of(set, psn), bit = UINT64_C(1) << psn % 64;
    bool fresh = !(*word & bit);
    *word |= bit;
    set->n += fresh;
    set->end = psn + 1 > set->end ? psn + 1 : set->end;
    return fresh;
}

bool psn_set_remove(struct psn_set *set, uint64_t psn)
{
    if (!psn_set_has(set, psn))
        return false;
    *word_of(set, psn) &= ~(UINT64_C(1) << psn % 64);
    set->n--;
    return true;
}

uint64_t psn_set_first(const struct psn_set *set, uint64_t base)
{
    uint64_t word = *word_of(set, base) >> base % 64 << base % 64, first = base / 64 * 64;
    while (word == 0) {
        first += 64;
        word = *word_of(set, first);
    }
    return first + (uint64_t)__builtin_ctzll(word);
}

uint64_t psn_set_bits(const struct psn_set *set, uint64_t from)
{
    if (set->n == 0 || from >= set->end)
        return 0;
    uint64_t bits = *word_of(set, from) >> from % 64;
    if (from % 64 > 0 && (from / 64 + 1) * 64 < set->end)
        bits |= *word_of(set, from + 64) << (64 - from % 64);
    return bits;
}

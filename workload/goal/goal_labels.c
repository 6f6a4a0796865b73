// SPDX-License-Identifier: MIT
// Open hashing with linear search; the table doubles when it is half full.
#include "workload/goal/goal_labels.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

void goal_labels_free(struct goal_labels *l)
{
    free(l->texts);
    free(l->labels);
    free(l->slots);
    *l = (struct goal_labels){0};
}

void goal_labels_clear(struct goal_labels *l)
{
    if (l->n > 0)
        memset(l->slots, 0, l->n_slots * sizeof *l->slots);
    l->n = l->n_texts = 0;
}

static uint32_t *slot_of(const struct goal_labels *l, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
    for (const char *c = text; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    for (size_t at = hash ^ hash >> 32;; at++) {
        uint32_t *slot = &l->slots[at & (l->n_slots - 1)];
        if (*slot == 0 || strcmp(l->texts + l->labels[*slot - 1].text, text) == 0)
            return slot;
    }
}

uint32_t goal_label_find(const struct goal_labels *l, const char *text)
{
    uint32_t slot = l->n_slots > 0 ? *slot_of(l, text) : 0;
    return slot > 0 ? l->labels[slot - 1].operation : UINT32_MAX;
}

void goal_label_add(struct goal_labels *l, const char *text, uint32_t operation)
{
    size_t length = strlen(text) + 1;
    if (2 * l->n >= l->n_slots) {
        free(l->slots);
        l->n_slots = l->n_slots > 0 ? 2 * l->n_slots : 64;
        l->slots = memory_zeroed(l->n_slots, sizeof *l->slots);
        for (size_t i = 0; i < l->n; i++)
            *slot_of(l, l->texts + l->labels[i].text) = (uint32_t)i + 1;
    }
    while (l->n_texts + length > l->cap_texts)
        l->texts = memory_grow(l->texts, &l->cap_texts, 1);
    if (l->n == l->cap)
        l->labels = memory_grow(l->labels, &l->cap, sizeof *l->labels);
    uint32_t *slot = slot_of(l, text);
    memcpy(l->texts + l->n_texts, text, length);
    l->labels[l->n++] = (struct goal_label){l->n_texts, operation};
    l->n_texts += length;
    *slot = (uint32_t)l->n;
}

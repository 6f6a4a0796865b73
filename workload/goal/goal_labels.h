// SPDX-License-Identifier: MIT
// Labels of one rank's operations: names to numbers.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct goal_labels {
    char *texts; // one after the other, zero-terminated
    size_t n_texts, cap_texts;
    struct goal_label {
        size_t text;
        uint32_t operation;
    } * labels;
    size_t n, cap;
    uint32_t *slots; // open hashing: index + 1
    size_t n_slots;
};

void goal_labels_free(struct goal_labels *l);
void goal_labels_clear(struct goal_labels *l);

// The operation that has the label, or UINT32_MAX.
uint32_t goal_label_find(const struct goal_labels *l, const char *text);
void goal_label_add(struct goal_labels *l, const char *text, uint32_t operation);

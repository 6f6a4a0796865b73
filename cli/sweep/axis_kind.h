// SPDX-License-Identifier: MIT
// Kinds of the values on an axis: quantities of one kind are numbers with a unit.
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum axis_kind { AXIS_NUMBER, AXIS_BYTES, AXIS_TIME, AXIS_RATE, AXIS_TEXT };

// The kinds that all values fit that have been seen; zero-initialise.
struct axis_kinds {
    bool misfits[AXIS_TEXT], any;
};

void axis_kinds_add(struct axis_kinds *k, const char *value); // "" = none
enum axis_kind axis_kind_of(const struct axis_kinds *k);

// "bytes", "ns", "bps"; "" for numbers and texts.
const char *axis_unit(enum axis_kind kind);

// Write a value as a number in that unit, or as a cell of text.
void axis_value_put(FILE *out, enum axis_kind kind, const char *value);

// The value for sentences: sizes in their shortest unit, "64KiB"; others as given. To be freed.
char *axis_value_text(enum axis_kind kind, const char *value);

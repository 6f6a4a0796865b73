// SPDX-License-Identifier: MIT
// Statistics of a set of programs, and two sets side by side.
#pragma once

#include "cli/synth/synth.h"

// One measure of a set, or of two.
struct synth_row {
    char *name;
    double source, made; // NaN = the set has no such measure
    bool exact;          // a count or a size, not a time
};

struct synth_table {
    struct synth_row *rows;
    size_t n, cap;
};

// Fill the table: nodes and bytes of each operation, sizes, times of computations by quantile,
// ranks' whole times, widths of dependencies, groups by size. Returns 0, or -1 with an error of a
// program's source; synth_table_free() in both cases.
int synth_compare(struct synth_table *t, const struct node_program *source,
                  const struct node_program *made, struct err *err);
void synth_table_free(struct synth_table *t);

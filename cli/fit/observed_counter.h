// SPDX-License-Identifier: MIT
// Counters as the tools of NICs and switches name them, and what each counts.
#pragma once

#include <stdbool.h>

struct counter {
    const char *name;     // a pattern of fnmatch, in lower case
    const char *quantity; // as cli/fit/observed_quantity.c has it
    // It stands at the other end of what the results count: pauses at the port that sent them, not
    // at that which they stopped; CNPs at the receiver of the data, not at the sender.
    bool other_end;
};

// NULL = none of this name is known. Letters of either case are the same.
const struct counter *counter_of(const char *name);

// SPDX-License-Identifier: MIT
// A network between the ranks of a small scenario that does to packets what an input says: each
// byte decides what happens to the next packet that arrives at a rank. It is dropped, held back,
// delivered twice, marked, trimmed, or delivered late among others; or the policy of a sender gets
// another rate or window first. Content is always that of a real packet, so what a transport sees
// are orders that some network could make.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Choices of an input's first bytes: setting `key` is one of `values`, NULL-terminated.
struct hostile_choice {
    const char *key;
    const char *values[12];
};

// Run a direct all-to-all of 3 ranks, twice, over `transport` (a value of transport.kind) with the
// settings that the input chooses, to the end or to FUZZ_EVENTS. An assertion of the program that
// does not hold aborts.
void hostile_run(const char *transport, const struct hostile_choice *choices, size_t n_choices,
                 const uint8_t *data, size_t n);

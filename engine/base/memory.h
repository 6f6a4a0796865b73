// SPDX-License-Identifier: MIT
// Memory allocation outside the data path. It never returns NULL.
#pragma once

#include <stddef.h>

void *memory_zeroed(size_t n, size_t size);             // n * size zero bytes, never NULL
void *memory_resize(void *old, size_t n, size_t size);  // realloc, never NULL for n > 0
void *memory_grow(void *old, size_t *cap, size_t size); // doubles *cap, from 16
void *memory_zeroed_lines(size_t n, size_t size);       // like memory_zeroed, aligned to two cache
                                                        // lines (128 bytes)
_Noreturn void memory_exhausted(size_t n, size_t size); // aborts; for failures that a retry cannot
                                                        // mend

// Set the handler of the process for failed allocations of `bytes`: it either frees memory (a
// reserve held for this purpose), after which the allocation is retried, or ends the program in
// order. To be set before the first simulation. Without a handler, as in the tests and the library,
// a failed allocation aborts.
void memory_on_failure(void (*handler)(size_t bytes));

char *memory_text(const char *text); // a copy, owned by the caller
void *memory_bytes(size_t n);        // n bytes, not zeroed, never NULL
// To be called when an allocation inside another library failed (about `bytes`). Returns if a retry
// makes sense.
void memory_short(size_t bytes);

// Reserve address space for up to *bytes zero bytes. Only pages that are written use memory; they
// are huge pages where the system has them, because a large working set is limited by address
// translation. *bytes is halved until the system accepts it and until it is at most a sixteenth of
// what RLIMIT_AS leaves. Release with memory_release().
void *memory_reserve(size_t *bytes);
// Make a reservation of *bytes larger; returns its new place.
void *memory_extend(void *p, size_t *bytes, size_t to);
void memory_release(void *p, size_t bytes);

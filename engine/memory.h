// SPDX-License-Identifier: MIT
// Memory off the data path: allocation that cannot return NULL.
#pragma once

#include <stddef.h>

void *memory_zeroed(size_t n, size_t size);             // n * size zero bytes, never NULL
void *memory_resize(void *old, size_t n, size_t size);  // realloc, never NULL for n > 0
void *memory_grow(void *old, size_t *cap, size_t size); // doubles *cap (from 16)
void *memory_zeroed_lines(size_t n, size_t size);       // the same, aligned to pairs of cache lines
_Noreturn void memory_exhausted(size_t n, size_t size); // where trying again cannot help

// Where the program defines it, an allocation that fails calls it and is tried again: it gives memory
// back (a reserve that it kept), or ends the program in an orderly way. Without it an allocation that
// fails aborts, as in tests.
__attribute__((weak)) void memory_reclaim(size_t bytes);

char *memory_text(const char *text); // a copy
void *memory_bytes(size_t n);        // n bytes, not zeroed, never NULL
// Another library's allocation of about `bytes` has failed: returns when trying again makes sense.
void memory_short(size_t bytes);

// Address space for up to *bytes zero bytes, of which only what is touched costs memory; in huge pages
// where the system has them (a large working set is bound by address translation). *bytes is halved
// until the system agrees, and is no more than a sixteenth of what a limit on address space
// (RLIMIT_AS) leaves. Give back with memory_release.
void *memory_reserve(size_t *bytes);
void memory_release(void *p, size_t bytes);

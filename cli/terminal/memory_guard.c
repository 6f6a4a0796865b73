// SPDX-License-Identifier: MIT
// The reserve for failed allocations.
#include "cli/terminal/memory_guard.h"

#include <stddef.h>
#include <sys/mman.h>

#include "cli/terminal/exit_codes.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"

// for writing the results of a run that ends because memory is exhausted
#define RESERVE_BYTES ((size_t)48 << 20)

static void *reserve;
static bool failed;          // an allocation has failed
static bool running;         // a simulation is running, so results can be written
static uint64_t sharers = 1; // processes that share the memory

void memory_share(uint64_t n) { sharers = n; }

uint64_t memory_sharers(void) { return sharers; }

void memory_guard(void)
{
    running = true;
    if (reserve)
        return;
    reserve = mmap(NULL, RESERVE_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserve == MAP_FAILED)
        reserve = NULL;
}

bool memory_failed(void) { return failed; }

static void use_reserve(size_t bytes)
{
    (void)bytes;
    failed = true;
    if (!reserve)
        signals_abandon(running ? EXIT_NOT_COMPLETED : EXIT_BAD_USE, "out of memory");
    munmap(reserve, RESERVE_BYTES);
    reserve = NULL;
}

void memory_guard_init(void) { memory_on_failure(use_reserve); }

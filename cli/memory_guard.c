// SPDX-License-Identifier: MIT
// Memory limits and the reserve for failed allocations.
#include "cli/memory_guard.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/signals.h"
#include "engine/loop.h"
#include "engine/memory.h"

// for writing the results of a run that ends because memory is exhausted
#define RESERVE_BYTES ((size_t)48 << 20)
#define LOOK_EVERY_S 0.05

static void *reserve;
static bool failed;  // an allocation has failed
static bool running; // a simulation is running, so results can be written
static uint64_t limit;
static double looked_s;
static uint64_t sharers = 1;

// The number in a file of one line, or after a key in the file; UINT64_MAX if there is none.
static uint64_t number_in(const char *path, const char *key)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return UINT64_MAX;
    text[n] = '\0';
    const char *at = strstr(text, key);
    char *end;
    if (!at)
        return UINT64_MAX;
    at += strlen(key);
    uint64_t value = strtoull(at, &end, 10);
    return end == at ? UINT64_MAX : value;
}

uint64_t memory_resident(void)
{
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *second = strchr(text, ' ');
    return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint64_t memory_available(void)
{
    static const char group[] = "/sys/fs/cgroup/memory.";
    char path[64];
    struct rlimit space;
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable:"), left = UINT64_MAX;
    if (kib != UINT64_MAX)
        left = kib * 1024;
    snprintf(path, sizeof path, "%smax", group);
    uint64_t most = number_in(path, "");
    snprintf(path, sizeof path, "%scurrent", group);
    uint64_t now = number_in(path, "");
    if (most != UINT64_MAX && now != UINT64_MAX)
        left = least(left, most > now ? most - now : 0);
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        left = least(left, space.rlim_cur);
    if (left == UINT64_MAX)
        return UINT64_MAX;
    return left / 5 * 4 / sharers + memory_resident();
}

void memory_share(uint64_t n) { sharers = n; }

void memory_guard(uint64_t limit_bytes)
{
    limit = limit_bytes;
    running = true;
    if (reserve)
        return;
    reserve = mmap(NULL, RESERVE_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserve == MAP_FAILED)
        reserve = NULL;
}

bool memory_low(void *unused)
{
    (void)unused;
    if (failed)
        return true;
    double now_s = monotonic_s();
    if (now_s < looked_s + LOOK_EVERY_S)
        return false;
    looked_s = now_s;
    return memory_resident() > limit;
}

// Called by engine/memory.c when an allocation fails.
void memory_reclaim(size_t bytes)
{
    (void)bytes;
    failed = true;
    if (!reserve)
        signals_abandon(running ? EXIT_NOT_COMPLETED : EXIT_BAD_USE, "out of memory");
    munmap(reserve, RESERVE_BYTES);
    reserve = NULL;
}

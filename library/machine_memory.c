// SPDX-License-Identifier: MIT
// Reads the files of the system that show how much memory is left.
#include "library/machine_memory.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/base/regular_file.h"

// The number in a file of one line, or after a key in the file; UINT64_MAX if there is none.
static uint64_t number_in(const char *path, const char *key)
{
    char text[4096];
    const char *why;
    int fd = regular_file_open(path, &why);
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
    const char *why;
    int fd = regular_file_open("/proc/self/statm", &why);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *second = strchr(text, ' ');
    return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

uint64_t memory_peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

#define PROGRAM_BYTES UINT64_C(6000000) // of code, libraries and stacks
#define MEGABYTE UINT64_C(1000000)

uint64_t memory_allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    uint64_t bytes = (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
    return PROGRAM_BYTES + (bytes + MEGABYTE - 1) / MEGABYTE * MEGABYTE;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint64_t memory_available(uint64_t sharers)
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

// SPDX-License-Identifier: MIT
// Preloaded: the SPIN_AFTER-th comparison with "double_binary_tree" never returns. Streams make one
// for each of their events (collective/rank_streams.c), so that an event of the simulation does not
// return.
#include <stdlib.h>

__attribute__((visibility("default"))) int strcmp(const char *a, const char *b)
{
    static const char name[] = "double_binary_tree";
    static long n;
    size_t i = 0, same = 0;
    while (name[same] != '\0' && b[same] == name[same])
        same++;
    const char *after = same == sizeof name - 1 ? getenv("SPIN_AFTER") : NULL;
    if (after && ++n >= atol(after))
        for (;;)
            __asm__ volatile("");
    while (a[i] != '\0' && a[i] == b[i])
        i++;
    return (unsigned char)a[i] - (unsigned char)b[i];
}

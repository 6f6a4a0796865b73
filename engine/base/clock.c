// SPDX-License-Identifier: MIT
// The wall clock.
#define _GNU_SOURCE
#include "engine/base/clock.h"

#include <time.h>

double monotonic_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// SPDX-License-Identifier: MIT
// Units of policies: integer picoseconds, bytes and bit/s.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t ps_t; // picoseconds of simulated time; the range is 106 days

#define PS_NEVER INT64_MAX
#define PS_PER_NS INT64_C(1000)
#define PS_PER_US INT64_C(1000000)
#define PS_PER_MS INT64_C(1000000000)
#define PS_PER_S INT64_C(1000000000000)

// SPDX-License-Identifier: MIT
// Units of the simulator: integer picoseconds, bytes and bit/s, with exact serialization times.
#pragma once

#include "collwire/types.h"

static inline ps_t ps_longer(ps_t a, ps_t b) { return a > b ? a : b; }
static inline ps_t ps_shorter(ps_t a, ps_t b) { return a < b ? a : b; }

// An exact sum of times over ranks or messages, so the result does not depend on the order of
// addition.
__extension__ typedef __int128 ps_sum_t;

// The time of one byte on a link as a reduced fraction of picoseconds: num/den.
struct byte_time {
    uint64_t num, den;
};

// The greatest common divisor; that of 0 and a number is the number.
uint64_t common_divisor(uint64_t a, uint64_t b);

// Returns the byte time at `rate_bps` (> 0).
struct byte_time byte_time_of(uint64_t rate_bps);

// Time of `bytes` (< 1 MB) on a link, rounded down. The sub-picosecond remainder, in units of 1/den
// ps, is passed in and out through `carry`, so that the sum over a busy period does not drift.
static inline ps_t byte_time_with_carry(const struct byte_time *bt, uint32_t bytes, uint64_t *carry)
{
    uint64_t ticks = bytes * bt->num;
    if (bt->den == 1)
        return (ps_t)ticks;
    ticks += *carry;
    *carry = ticks % bt->den;
    return (ps_t)(ticks / bt->den);
}

// Time of any number of bytes on a link, rounded down; PS_NEVER on overflow.
ps_t byte_time_span(const struct byte_time *bt, uint64_t bytes);

// Time of any number of bytes at `rate_bps` (> 0), rounded up to 1 ps; PS_NEVER on overflow.
ps_t serialization_ps(uint64_t bytes, uint64_t rate_bps);

// Bytes that a rate of `rate_bps` carries in `t` (>= 0), rounded down; UINT64_MAX on overflow.
uint64_t bytes_in_ps(ps_t t, uint64_t rate_bps);

// Returns `t` >= 0 in nanoseconds, rounded half up.
int64_t ns_of_ps(ps_t t);

// Parse a quantity in scenario syntax: "100Gbps", "12.5us", "128MB" (decimal), "32MiB" (binary),
// where b is bit and B is byte, and "us" may be written with a mu. The value is exact. Each returns
// 0, or -1 if the text is not such a quantity or does not fit.
int parse_rate(const char *text, uint64_t *bps);
int parse_time(const char *text, ps_t *ps);
int parse_bytes(const char *text, uint64_t *bytes);
int parse_count(const char *text, uint64_t *count);

// Write the shortest text that the parser above reads back to the same value. `buf` holds UNIT_TEXT
// bytes and is returned.
#define UNIT_TEXT 32
const char *format_rate(uint64_t bps, char *buf);
const char *format_time(ps_t ps, char *buf);
const char *format_bytes(uint64_t bytes, char *buf);

// Write a value rounded to three digits: "212 KB", "1.34 ms", "87.2 Gb/s".
const char *human_bytes(uint64_t bytes, char *buf);
const char *human_time(ps_t ps, char *buf);
// A time of a recording, which may be longer than ps_t holds (106 days); from 10 days on in days.
const char *human_ns(int64_t ns, char *buf);
const char *human_rate(double bps, char *buf);

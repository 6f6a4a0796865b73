// SPDX-License-Identifier: MIT
// Exact arithmetic and text forms of time, rate and size.
//
// A quantity is decimal digits, an optional fraction and a unit. Its value must be a whole number
// of picoseconds, bit/s or bytes. All arithmetic uses 128-bit integers, so nothing is rounded. The
// human_*() forms are for reading only and round to three digits.
#include "engine/base/units.h"

#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

#define PS_BITS_PER_BYTE UINT64_C(8000000000000) // picoseconds of one byte at 1 bit/s
#define BYTES_MAX UINT64_C(1000000000000000)     // 1 PB

struct unit {
    const char *name;
    uint64_t scale;
    unsigned decimals; // log10(scale); 0 with a scale above 1 marks a binary unit
};

static const struct unit rate_units[] = {
    {"bps", 1, 0},
    {"Kbps", UINT64_C(1000), 3},
    {"Mbps", UINT64_C(1000000), 6},
    {"Gbps", UINT64_C(1000000000), 9},
    {"Tbps", UINT64_C(1000000000000), 12},
};

static const struct unit time_units[] = {
    {"ps", 1, 0},
    {"ns", UINT64_C(1000), 3},
    {"us", UINT64_C(1000000), 6},
    {"ms", UINT64_C(1000000000), 9},
    {"s", UINT64_C(1000000000000), 12},
    {"\u00b5s", UINT64_C(1000000), 6}, // the sign micro, and the Greek letter; last, so that
    {"\u03bcs", UINT64_C(1000000), 6}, // formatting can skip them
};
enum { TIME_ALIASES = 2 };

static const struct unit byte_units[] = {
    {"B", 1, 0},
    {"KB", UINT64_C(1000), 3},
    {"MB", UINT64_C(1000000), 6},
    {"GB", UINT64_C(1000000000), 9},
    {"TB", UINT64_C(1000000000000), 12},
    {"PB", UINT64_C(1000000000000000), 15},
    {"KiB", UINT64_C(1) << 10, 0},
    {"MiB", UINT64_C(1) << 20, 0},
    {"GiB", UINT64_C(1) << 30, 0},
    {"TiB", UINT64_C(1) << 40, 0},
    {"PiB", UINT64_C(1) << 50, 0},
    {"", 1, 0}, // a bare number; last, so that formatting can skip it
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct byte_time byte_time_of(uint64_t rate_bps)
{
    uint64_t common = common_divisor(PS_BITS_PER_BYTE, rate_bps);
    return (struct byte_time){PS_BITS_PER_BYTE / common, rate_bps / common};
}

ps_t byte_time_span(const struct byte_time *bt, uint64_t bytes)
{
    u128 ps = (u128)bytes * bt->num / bt->den;
    return ps < PS_NEVER ? (ps_t)ps : PS_NEVER;
}

ps_t serialization_ps(uint64_t bytes, uint64_t rate_bps)
{
    u128 ps = ((u128)bytes * PS_BITS_PER_BYTE + rate_bps - 1) / rate_bps;
    return ps < PS_NEVER ? (ps_t)ps : PS_NEVER;
}

uint64_t bytes_in_ps(ps_t t, uint64_t rate_bps)
{
    u128 bytes = (u128)t * rate_bps / PS_BITS_PER_BYTE;
    return bytes < UINT64_MAX ? (uint64_t)bytes : UINT64_MAX;
}

int64_t ns_of_ps(ps_t t) { return t / PS_PER_NS + (t % PS_PER_NS >= PS_PER_NS / 2); }

// ---- reading ----

// A decimal number as written: digits / 10^decimals.
struct decimal {
    u128 digits;
    unsigned decimals;
};

// Limit on the digits: a product with the largest unit (2^50) must fit in 128 bits.
#define DIGITS_MAX ((u128)UINT64_C(10000000000) * UINT64_C(1000000000000))

// Reads "12" or "12.5" at `text`. Returns the text that follows, or NULL.
static const char *decimal_read(const char *text, struct decimal *number)
{
    *number = (struct decimal){0, 0};
    bool point = false;
    const char *at = text;
    for (;; at++) {
        if (*at == '.' && !point && at > text) {
            point = true;
            continue;
        }
        if (*at < '0' || *at > '9')
            break;
        number->digits = number->digits * 10 + (unsigned)(*at - '0');
        number->decimals += point;
        if (number->digits > DIGITS_MAX || number->decimals > 22)
            return NULL;
    }
    return at == text || at[-1] == '.' ? NULL : at;
}

// Computes the exact value of `number` in units of `scale`. Returns -1 if it is not an integer or
// exceeds `max`.
static int decimal_value(struct decimal number, uint64_t scale, uint64_t max, uint64_t *value)
{
    u128 divisor = 1, scaled = number.digits * scale;
    for (unsigned i = 0; i < number.decimals; i++)
        divisor *= 10;
    if (scaled % divisor != 0 || scaled / divisor > max)
        return -1;
    *value = (uint64_t)(scaled / divisor);
    return 0;
}

static int quantity_parse(const char *text, const struct unit *units, size_t n, uint64_t max,
                          uint64_t *value)
{
    struct decimal number;
    const char *unit = decimal_read(text, &number);
    if (unit == NULL)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(unit, units[i].name) == 0)
            return decimal_value(number, units[i].scale, max, value);
    }
    return -1;
}

int parse_rate(const char *text, uint64_t *bps)
{
    return quantity_parse(text, rate_units, LENGTH(rate_units), UINT64_MAX, bps);
}

int parse_time(const char *text, ps_t *ps)
{
    uint64_t value;
    if (quantity_parse(text, time_units, LENGTH(time_units), PS_NEVER - 1, &value) != 0)
        return -1;
    *ps = (ps_t)value;
    return 0;
}

int parse_bytes(const char *text, uint64_t *bytes)
{
    return quantity_parse(text, byte_units, LENGTH(byte_units), BYTES_MAX, bytes);
}

int parse_count(const char *text, uint64_t *count)
{
    struct decimal number;
    const char *end = decimal_read(text, &number);
    if (end == NULL || *end != '\0' || strchr(text, '.') != NULL)
        return -1;
    return decimal_value(number, 1, UINT64_MAX, count);
}

// ---- writing ----

// Writes `value` exactly in one unit: "1.5KB". Returns false if it is not a multiple of a binary
// unit.
static bool unit_write(const struct unit *unit, uint64_t value, char *buf)
{
    uint64_t whole = value / unit->scale, rest = value % unit->scale;
    if (rest == 0) {
        snprintf(buf, UNIT_TEXT, "%llu%s", (unsigned long long)whole, unit->name);
        return true;
    }
    unsigned decimals = unit->decimals;
    if (decimals == 0)
        return false;
    for (; rest % 10 == 0; rest /= 10)
        decimals--;
    snprintf(buf, UNIT_TEXT, "%llu.%0*llu%s", (unsigned long long)whole, (int)decimals,
             (unsigned long long)rest, unit->name);
    return true;
}

// Writes the shortest form over all units. Among equally short forms it prefers an integer, then
// the larger unit.
static const char *quantity_format(const struct unit *units, size_t n, uint64_t value, char *buf)
{
    char best[UNIT_TEXT] = "", text[UNIT_TEXT];
    for (size_t i = n; i-- > 0;) {
        if (!unit_write(&units[i], value, text))
            continue;
        bool whole = strchr(text, '.') == NULL && strchr(best, '.') != NULL;
        size_t length = strlen(text), shortest = strlen(best);
        if (shortest == 0 || length < shortest || (length == shortest && whole))
            memcpy(best, text, UNIT_TEXT);
    }
    return memcpy(buf, best, UNIT_TEXT);
}

const char *format_rate(uint64_t bps, char *buf)
{
    return quantity_format(rate_units, LENGTH(rate_units), bps, buf);
}

const char *format_time(ps_t ps, char *buf)
{
    return quantity_format(time_units, LENGTH(time_units) - TIME_ALIASES, ps > 0 ? (uint64_t)ps : 0,
                           buf);
}

const char *format_bytes(uint64_t bytes, char *buf)
{
    return quantity_format(byte_units, LENGTH(byte_units) - 1, bytes, buf);
}

// Writes three digits in the largest unit in which the integer part is not 0. Each of the `n` units
// is 1000 times the previous one.
static const char *human(double value, const char *const *units, size_t n, char *buf)
{
    size_t unit = 0;
    for (; unit + 1 < n && value >= 999.5; unit++)
        value /= 1000;
    bool bare = unit == 0 && value == (double)(int)value;
    int decimals = bare || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(buf, UNIT_TEXT, "%.*f %s", decimals, value, units[unit]);
    return buf;
}

const char *human_bytes(uint64_t bytes, char *buf)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    return human((double)bytes, units, LENGTH(units), buf);
}

const char *human_time(ps_t ps, char *buf)
{
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    return human((double)ps, units, LENGTH(units), buf);
}

const char *human_ns(int64_t ns, char *buf)
{
    const double day = 86400e9;
    if ((double)ns < 10 * day)
        return human_time(ns * PS_PER_NS, buf);
    snprintf(buf, UNIT_TEXT, "%.0f days", (double)ns / day);
    return buf;
}

const char *human_rate(double bps, char *buf)
{
    static const char *const units[] = {"b/s", "Kb/s", "Mb/s", "Gb/s", "Tb/s"};
    return human(bps, units, LENGTH(units), buf);
}

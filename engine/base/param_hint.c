// SPDX-License-Identifier: MIT
// Recognises units as other programs and data sheets write them.
#include "engine/base/param_hint.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/base/units.h"

#define NUMBER_MAX 24

// A number as written and the unit behind it, without blanks between them.
struct written {
    char number[NUMBER_MAX];
    const char *unit;
};

static bool written_read(const char *text, struct written *w)
{
    text += strspn(text, " ");
    size_t n = strspn(text, "0123456789.");
    if (n == 0 || n >= NUMBER_MAX)
        return false;
    snprintf(w->number, sizeof w->number, "%.*s", (int)n, text);
    w->unit = text + n + strspn(text + n, " ");
    return true;
}

// The position of a unit in a list of spellings, whatever its case; -1 = none.
static int spelling(const char *unit, const char *const *spellings)
{
    for (int i = 0; spellings[i] != NULL; i++)
        if (strcasecmp(unit, spellings[i]) == 0)
            return i;
    return -1;
}

// The prefix K, M, G or T of a unit, and the text behind it; '\0' = none.
static char prefix_take(const char **unit)
{
    static const char prefixes[] = "KMGT", small[] = "kmgt";
    const char *at = **unit != '\0' ? strchr(prefixes, **unit) : NULL;
    if (at == NULL && **unit != '\0' && (at = strchr(small, **unit)) != NULL)
        at = prefixes + (at - small);
    *unit += at != NULL;
    return at != NULL ? *at : '\0';
}

static const char *rate_hint(const struct written *w, char buf[HINT_TEXT])
{
    static const char *const per_second[] = {"", "bps", "b/s", "bit/s", "bits/s", "b", "bit", NULL};
    double number = 0;
    char meant[UNIT_TEXT], *at = meant;
    uint64_t bps;
    const char *rest = w->unit;
    char prefix = prefix_take(&rest);
    bool bytes = strcmp(rest, "Bps") == 0 || strcmp(rest, "B/s") == 0;
    if (bytes && sscanf(w->number, "%lf", &number) == 1 && number < 1e6)
        snprintf(meant, sizeof meant, "%.9g%.*sbps", number * 8, prefix != '\0', &prefix);
    else if (!bytes && *w->unit != '\0' && strchr(rest, 'B') == NULL &&
             spelling(rest, per_second) >= 0)
        snprintf(meant, sizeof meant, "%s%.*sbps", w->number, prefix != '\0', &prefix);
    else
        return buf;
    if (parse_rate(at, &bps) == 0)
        snprintf(buf, HINT_TEXT, "%s: write \"%s\"",
                 bytes ? "is in bytes, and rates are in bits" : "is not a rate", meant);
    return buf;
}

// b is a bit and B a byte: "64Mb" is either a slip or 8MB.
static const char *size_hint(const struct written *w, char buf[HINT_TEXT])
{
    static const char *const ends[] = {"", "B", "byte", "bytes", "iB", NULL};
    char meant[UNIT_TEXT];
    uint64_t bytes;
    const char *rest = w->unit;
    char prefix = prefix_take(&rest);
    int end = spelling(rest, ends);
    if (end < 0 || *w->unit == '\0')
        return buf;
    snprintf(meant, sizeof meant, "%s%.*s%s", w->number, prefix != '\0', &prefix,
             end == 4 && prefix != '\0' ? "iB" : "B");
    if (parse_bytes(meant, &bytes) != 0)
        return buf;
    snprintf(buf, HINT_TEXT, "is not a size%s: write \"%s\"",
             strchr(rest, 'b') != NULL && strlen(rest) < 3 ? ", since b is a bit and B a byte" : "",
             meant);
    return buf;
}

static const char *time_hint(const struct written *w, char buf[HINT_TEXT])
{
    static const char *const spellings[] = {
        "ps", "psec", "picoseconds",  "ns", "nsec", "nanoseconds", "us", "usec", "microseconds",
        "ms", "msec", "milliseconds", "s",  "sec",  "seconds",     NULL};
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    char meant[UNIT_TEXT];
    ps_t ps;
    int i = spelling(w->unit, spellings);
    if (i < 0)
        return buf;
    snprintf(meant, sizeof meant, "%s%s", w->number, units[i / 3]);
    if (parse_time(meant, &ps) == 0)
        snprintf(buf, HINT_TEXT, "is not a time: write \"%s\"", meant);
    return buf;
}

static const char *unquoted_switch(const char *text, char buf[HINT_TEXT])
{
    static const char *const on[] = {"true", "yes", "on", "enabled", "1", NULL};
    static const char *const off[] = {"false", "no", "off", "disabled", "none", "0", NULL};
    const char *value = spelling(text, on) >= 0 ? "true" : spelling(text, off) >= 0 ? "false" : "";
    snprintf(buf, HINT_TEXT, "%s", value);
    return buf;
}

const char *param_unquoted(enum param_type type, const char *text, char buf[HINT_TEXT])
{
    struct written w;
    uint64_t count;
    double number;
    char rest;
    buf[0] = '\0';
    if (type == PARAM_BOOL)
        return unquoted_switch(text, buf);
    if (!written_read(text, &w) || sscanf(w.number, "%lf%c", &number, &rest) != 1)
        return buf;
    if (type == PARAM_RATIO && (strcmp(w.unit, "%") == 0 || strcmp(w.unit, "percent") == 0))
        snprintf(buf, HINT_TEXT, "%.12g", number / 100);
    else if (*w.unit == '\0' && type == PARAM_RATIO)
        snprintf(buf, HINT_TEXT, "%.12g", number);
    else if (*w.unit == '\0' && type == PARAM_COUNT && parse_count(w.number, &count) == 0)
        snprintf(buf, HINT_TEXT, "%s", w.number);
    return buf;
}

const char *param_hint(enum param_type type, const char *text, char buf[HINT_TEXT])
{
    struct written w;
    buf[0] = '\0';
    if (!written_read(text, &w))
        return buf;
    if (type == PARAM_RATE || type == PARAM_LINE_RATE)
        return rate_hint(&w, buf);
    if (type == PARAM_BYTES)
        return size_hint(&w, buf);
    return type == PARAM_TIME ? time_hint(&w, buf) : buf;
}
